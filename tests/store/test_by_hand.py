"""What any other program is refused by the store itself: rows that replace, that reach beyond what is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec import Struct

from tests.store.richness import rich

GRAFT: dict[str, Any] = {
    "id": bytes(16),
    "role": None,
    "at_node": 2,
    "own": 1,
    "length": 3,
    "conversation": 1,
    "by": "user",
    "via": "cli",
    "created_ms": 1,
    "source_node": 5,
    "source_cut": 0,
    "first": 5,
    "beside": 1,
    "hops": 3,
}
MESSAGE = {**GRAFT, "role": "user", "source_node": None, "source_cut": None, "first": None, "parts": "[]"}
TWICE = "id, role, at_node, at_cut, own, length, conversation, by, via, created_ms, beside, hops, parts"


class Case(Struct, frozen=True):
    name: str
    sql: str
    says: str
    row: dict[str, Any] = {}


CASES = [
    Case(
        "a node by its seq", "INSERT OR REPLACE INTO node SELECT * FROM node WHERE seq = 1", "nodes are never replaced"
    ),
    Case(
        "a node by its id",
        f"INSERT OR REPLACE INTO node ({TWICE}) SELECT {TWICE} FROM node WHERE seq = 2",
        "nodes are never replaced",
    ),
    Case(
        "results of a reply",
        f"INSERT OR REPLACE INTO node ({TWICE}) SELECT zeroblob(16), {TWICE[4:]} FROM node WHERE role = 'tool'",
        "a reply has one node of results",
    ),
    Case("an event", "INSERT OR REPLACE INTO event SELECT * FROM event WHERE seq = 1", "events are never replaced"),
    Case(
        "a conversation",
        "INSERT OR REPLACE INTO conversation SELECT * FROM conversation WHERE seq = 1",
        "conversations are never replaced",
    ),
    Case("no conversation", "DELETE FROM conversation WHERE seq = 2", "conversations are never deleted"),
    Case("a head", "UPDATE conversation SET head_cut = -1", "head_cut >= 0"),
    Case("turns", "UPDATE conversation SET turns = -1", "turns >= 0"),
    Case("a run's tip", "UPDATE run SET tip_cut = -1", "tip_cut >= 0"),
    Case("a run's beginning", "UPDATE run SET from_cut = -1", "from_cut >= 0"),
    Case("more than there is", "", "entries that are at its source", {**GRAFT, "own": 6, "length": 8}),
    Case("from within a message", "", "entries that are at its source", {**GRAFT, "source_cut": 1}),
    Case("a source that is not", "", "entries that are at its source", {**GRAFT, "source_node": 999}),
    Case("behind the end", "", "at_cut >= 0", {**GRAFT, "source_cut": -1}),
    Case("no first message", "", "begins with a message", {**GRAFT, "first": 999}),
    Case("a jump", "", "at_cut >= 0", {**MESSAGE, "jump_node": 1, "jump_cut": -1}),
]


@pytest.fixture
def plain(home: Path) -> Iterator[apsw.Connection]:
    """A rich store as another program opens it: foreign keys off, triggers not recursive."""
    rich(home)
    connection = apsw.Connection(str(home / "forkwood.db"))
    assert connection.pragma("recursive_triggers") == 0
    yield connection
    connection.close()


def run(plain: apsw.Connection, sql: str, row: dict[str, Any]) -> None:
    if sql:
        plain.execute(sql)
    else:
        plain.execute(f"INSERT INTO node ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused(plain: apsw.Connection, case: Case) -> None:
    with pytest.raises(apsw.ConstraintError, match=case.says):
        run(plain, case.sql, case.row)


@pytest.mark.parametrize(
    "row", [GRAFT, MESSAGE, {**GRAFT, "own": 5, "length": 7, "first": 1}], ids=["one", "no", "all"]
)
def test_what_fits_is_taken(plain: apsw.Connection, row: dict[str, Any]) -> None:
    run(plain, "", row)
