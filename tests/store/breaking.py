"""Breaking a store behind its own back: the triggers, keys and checks that forbid it are put to sleep meanwhile."""

from __future__ import annotations

from pathlib import Path

import apsw
from msgspec import Struct

from forkwood.store import verify
from tests.store.richness import rich
from tests.store.seeds import opened


class Case(Struct, frozen=True):
    """One way to break a rich store, the kinds of problems that makes, and whether mending makes it whole again."""

    name: str
    breaks: tuple[str, ...]
    kinds: frozenset[str]
    mended: bool


def case(name: str, *breaks: str, kinds: str, mended: bool = False) -> Case:
    return Case(name, breaks, frozenset(kinds.split(", ")), mended)


def nobody(driver: str) -> bool:
    return False


def assert_found(home: Path, case: Case) -> None:
    """Break a rich store as CASE says: doctor names it, and mends it where it is an index."""
    rich(home)
    broken(home, *case.breaks)
    store = opened(home)
    report = verify.examine(store, nobody)
    assert {problem.kind for problem in report.problems} == case.kinds, report.problems
    assert not report.ok
    assert set(verify.mend(store)) <= case.kinds
    assert verify.examine(store, nobody).ok == case.mended


def broken(home: Path, *statements: str) -> None:
    """Run STATEMENTS on the store of HOME, which nobody has open; every trigger is as before afterwards."""
    connection = apsw.Connection(str(home / "forkwood.db"))
    connection.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    triggers = connection.execute("SELECT name, sql, tbl_name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, *_ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement).fetchall()
        assert connection.changes() or not statement.startswith(("UPDATE", "DELETE")), statement
    left = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for _, sql, table in triggers:
        if table in left:
            connection.execute(str(sql))
    connection.execute("COMMIT")
    connection.close()
