"""Breaking a store behind its own back: the triggers, keys and checks that forbid it are put to sleep meanwhile."""

from __future__ import annotations

from pathlib import Path

import apsw


def broken(home: Path, *statements: str) -> None:
    """Run STATEMENTS on the store of HOME, which nobody has open; every trigger is as before afterwards."""
    connection = apsw.Connection(str(home / "forkwood.db"))
    connection.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement).fetchall()
        assert connection.changes() or not statement.startswith(("UPDATE", "DELETE")), statement
    for _, sql in triggers:
        connection.execute(str(sql))
    connection.execute("COMMIT")
    connection.close()
