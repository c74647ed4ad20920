"""Doctor finds every kind of difference, mends what is an index, and names what it may not touch."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from forkwood.domain import limits
from forkwood.store import verify
from tests.store.breaking import broken
from tests.store.richness import rich
from tests.store.seeds import NOW, fill, opened


class Case(Struct, frozen=True):
    name: str
    breaks: tuple[str, ...]
    kinds: frozenset[str]
    mended: bool


def case(name: str, *breaks: str, kinds: str, mended: bool = False) -> Case:
    return Case(name, breaks, frozenset(kinds.split(", ")), mended)


CASES = [
    case("index missing", "DROP INDEX node_run", kinds="schema", mended=True),
    case("trigger of another", "CREATE TRIGGER x AFTER INSERT ON label BEGIN SELECT 1; END", kinds="schema"),
    case("table of another", "CREATE TABLE extra (x)", kinds="schema"),
    case("purge left open", "INSERT INTO purging VALUES (1)", kinds="purge marker", mended=True),
    case("label at nothing", "UPDATE label SET node = 9999", kinds="dangling"),
    case("mark of no event", "UPDATE mark SET since = 9999", kinds="dangling"),
    case("mark until no event", "UPDATE mark SET until = 9999", kinds="dangling"),
    case("manifest gone", "DELETE FROM manifest", kinds="dangling"),
    case("run gone", "DELETE FROM run", kinds="dangling"),
    case("cut too deep", "UPDATE node SET at_cut = 7 WHERE seq = 30", kinds="place"),
    case("place in another conversation", "UPDATE node SET conversation = 1 WHERE seq = 66", kinds="place, head"),
    case("length", "UPDATE node SET length = 99 WHERE seq = 60", kinds="length"),
    case("length of a first node", "UPDATE node SET length = 2, own = 1 WHERE seq = 1", kinds="length"),
    case("graft begins elsewhere", "UPDATE node SET first = 7 WHERE seq = 61", kinds="place"),
    case("graft of too much", "UPDATE node SET source_node = 2 WHERE seq = 61", kinds="place, digest"),
    case("jump", "UPDATE node SET jump_node = 2 WHERE seq = 20", kinds="pointer"),
    case("hops", "UPDATE node SET hops = 3 WHERE seq = 60", kinds="pointer"),
    case("parts of no kind", """UPDATE node SET parts = '[{"kind":"song"}]' WHERE seq = 60""", kinds="parts, search"),
    case("husk never purged", "UPDATE node SET parts = '[]' WHERE seq = 60", kinds="parts, search"),
    case("husk that still speaks", "UPDATE node SET purged = 1 WHERE seq = 60", kinds="parts, search"),
    case("other results", "UPDATE node SET parts = replace(parts, 'c1', 'c2') WHERE role = 'tool'", kinds="tool group"),
    case("head elsewhere", "UPDATE conversation SET head_node = 5 WHERE seq = 2", kinds="head", mended=True),
    case("head nowhere", "UPDATE conversation SET head_node = 9999 WHERE seq = 2", kinds="dangling, head", mended=True),
    case("head cut too deep", "UPDATE conversation SET head_cut = 3 WHERE seq = 1", kinds="head", mended=True),
    case("digest", "UPDATE digest SET path = zeroblob(32)", kinds="digest", mended=True),
    case("digest of no place", "UPDATE digest SET node = 9999 WHERE cut = 2", kinds="digest", mended=True),
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
    case("manifest", "UPDATE manifest SET body = '{}'", kinds="manifest"),
    case("blob", "UPDATE blob SET bytes = zeroblob(size)", kinds="blob"),
    case("blob size", "UPDATE blob SET size = 1", kinds="blob"),
    case("attachment not kept", "DELETE FROM attachment", kinds="attachment"),
    case("search misses all", "INSERT INTO search (search) VALUES ('delete-all')", kinds="search", mended=True),
    case("search has a stray", "INSERT INTO search (rowid, words) VALUES (9999, 'x')", kinds="search", mended=True),
]  # fmt: skip


def nobody(driver: str) -> bool:
    return False


def test_a_whole_store_has_no_problem(home: Path) -> None:
    rich(home)
    report = verify.examine(opened(home), nobody)
    assert report == verify.Report(ok=True, problems=(), notices=())
    assert verify.mend(opened(home)) == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_difference_is_found_and_mended_where_it_is_an_index(home: Path, case: Case) -> None:
    rich(home)
    broken(home, *case.breaks)
    store = opened(home)
    report = verify.examine(store, nobody)
    assert {problem.kind for problem in report.problems} == case.kinds, report.problems
    assert not report.ok
    mended = verify.mend(store)
    assert set(mended) <= case.kinds
    assert verify.examine(store, nobody).ok == case.mended


def test_mending_leaves_the_books_as_they_are(home: Path) -> None:
    rich(home)
    broken(home, "UPDATE node SET length = 99 WHERE seq = 60", "UPDATE conversation SET turns = 9")
    store = opened(home)
    assert verify.mend(store) == ("counts",)
    with store.read() as tx:
        assert tx.value("SELECT length FROM node WHERE seq = 60") == 99


def test_runs_nobody_drives_are_notices(home: Path) -> None:
    rich(home)
    broken(
        home,
        "DELETE FROM event WHERE kind = 'run.ended'",
        "UPDATE run SET status = 'running', driver = 'me'",
    )
    store = opened(home)
    assert [one.kind for one in verify.examine(store, lambda driver: driver == "me").problems] == []
    assert verify.examine(store, lambda driver: driver == "me").notices == ()
    (notice,) = verify.examine(store, nobody).notices
    assert "nobody drives it" in notice
    assert "forkwood resume" in notice


def test_a_broken_page_is_damage_and_nothing_else_is_asked(home: Path) -> None:
    store = opened(home)
    fill(store, 300, words="many words to fill pages " * 6)
    store.close()
    path = home / "forkwood.db"
    content = bytearray(path.read_bytes())
    content[-10 * 4096 :] = b"\xa5" * 40_960
    path.write_bytes(content)
    report = verify.examine(opened(home), nobody)
    assert {problem.kind for problem in report.problems} == {"damaged"}
    assert verify.is_damaged(report)


def test_of_one_kind_so_many_are_named_and_the_others_counted(home: Path) -> None:
    fill(opened(home), limits.problems_of_a_kind_max + 5)
    broken(home, "UPDATE event SET kind = 'song' WHERE seq > 2")
    problems = verify.examine(opened(home), nobody).problems
    assert len(problems) == limits.problems_of_a_kind_max + 1
    assert problems[-1].message == "… and 4 more like these"
    broken(home, "UPDATE event SET kind = 'message.sent' WHERE seq BETWEEN 3 AND 6")
    assert len(verify.examine(opened(home), nobody).problems) == limits.problems_of_a_kind_max
