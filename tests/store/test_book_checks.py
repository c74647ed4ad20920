"""Each way the log and the rows beside it can be wrong is found; counts, runs and search are mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain import limits
from tests.store.breaking import Case, assert_found, case
from tests.store.seeds import NOW

CASES = [
    case("index missing", "DROP INDEX node_run", kinds="schema", mended=True),
    case("trigger of another", "CREATE TRIGGER x AFTER INSERT ON label BEGIN SELECT 1; END", kinds="schema"),
    case("table of another", "CREATE TABLE extra (x)", kinds="schema"),
    case("numbers spent", "UPDATE sqlite_sequence SET seq = 9223372036854775807", kinds="number", mended=True),
    case("numbers at their end", f"UPDATE sqlite_sequence SET seq = {limits.seq_max}", kinds="number", mended=True),
    case("numbers that are none", "UPDATE sqlite_sequence SET seq = 'x'", kinds="number", mended=True),
    case("numbers given back", "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'node'", kinds="number", mended=True),
    case("numbers unknown", "DELETE FROM sqlite_sequence WHERE name = 'node'", kinds="number", mended=True),
    case("numbers told twice", "INSERT INTO sqlite_sequence VALUES ('run', 99)", kinds="number", mended=True),
    case("a number never given", f"UPDATE run SET seq = {limits.seq_max + 1}", kinds="number"),
    case("a number before the first", "UPDATE run SET seq = -1", kinds="number"),
    case("purge left open", "INSERT INTO purging VALUES (1)", kinds="purge marker", mended=True),
    case("label at nothing", "UPDATE label SET node = 9999", kinds="dangling"),
    case("mark from the future", "UPDATE mark SET since = 9999", kinds="mark"),
    case("mark that ends before it begins", "UPDATE mark SET until = since - 1", kinds="mark"),
    case("manifest gone", "DELETE FROM manifest", kinds="missing"),
    case("run gone", "DELETE FROM run", kinds="missing"),
    case("event of no kind", "UPDATE event SET kind = 'song' WHERE seq = 1", kinds="event"),
    case("event that says nothing", "UPDATE event SET payload = '{}' WHERE kind = 'turn.started'", kinds="event, run"),
    case("event no act", "UPDATE event SET act = 0 WHERE seq = 2", kinds="event"),
    case("turns", "UPDATE conversation SET turns = 9 WHERE seq = 2", kinds="counts", mended=True),
    case("tokens", "UPDATE conversation SET output = 9 WHERE seq = 1", kinds="counts", mended=True),
    case("cost", "UPDATE conversation SET cost = NULL WHERE seq = 2", kinds="counts", mended=True),
    case("age", f"UPDATE conversation SET updated_ms = {NOW + 9} WHERE seq = 2", kinds="counts", mended=True),
    case("age before its nodes", "UPDATE conversation SET updated_ms = 9 WHERE seq = 2", kinds="counts", mended=True),
    case("status", "UPDATE run SET status = 'running', input = 7", kinds="run", mended=True),
    case("tip", "UPDATE run SET tip_node = 63", kinds="run", mended=True),
    case("a run over whose end is lost", "DELETE FROM event WHERE kind = 'run.ended'", kinds="run"),
    case("a run whose beginning is lost", "DELETE FROM event WHERE run IS NOT NULL", kinds="counts, run"),
    case("manifest", "UPDATE manifest SET body = '{}'", kinds="manifest"),
    case("manifest that says nothing", "UPDATE manifest SET body = 'null'", kinds="manifest"),
    case("blob", "UPDATE blob SET bytes = zeroblob(size)", kinds="blob"),
    case("blob size", "UPDATE blob SET size = 1", kinds="blob"),
    case("attachment not kept", "DELETE FROM attachment", kinds="attachment"),
    case("search misses all", "INSERT INTO search (search) VALUES ('delete-all')", kinds="search", mended=True),
    case("search has a stray", "INSERT INTO search (rowid, words) VALUES (9999, 'x')", kinds="search", mended=True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_wrong_book_is_found(home: Path, case: Case) -> None:
    assert_found(home, case)
