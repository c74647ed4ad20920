"""From an older schema to a newer one: step by step, each step one transaction, after a verified backup.

The steps are a value that is handed in, so that the mechanism can be tested with steps of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.store import backups
from forkwood.store.failures import phrased
from forkwood.store.migrations import Migration, run_script


def bring_up(path: Path, steps: tuple[Migration, ...], *, now_ms: int) -> list[Migration]:
    """Migrate the store at PATH to the version of the last of STEPS; the steps this call took.

    Of several programs that do this at once each step is taken by one; the others find it done. A step that fails is
    rolled back whole and raises StoreUnusable naming the backup.
    """
    with phrased(str(path)):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            return _take_all(connection, path, steps, now_ms)
        finally:
            connection.close()


def _take_all(connection: apsw.Connection, path: Path, steps: tuple[Migration, ...], now_ms: int) -> list[Migration]:
    connection.set_busy_timeout(limits.busy_ms)
    # A step may rebuild a table that others point at; what points nowhere afterwards is looked for before the commit.
    run_script(connection, "PRAGMA foreign_keys = OFF; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON")
    taken: list[Migration] = []
    backup: Path | None = None
    while True:
        connection.execute("BEGIN IMMEDIATE")
        with _rolled_back_on_failure(connection):
            version = connection.pragma("user_version")
            step = next((step for step in steps if step.version == version + 1), None)
            if step is None:
                break
            backup = backup or _back_up(path, version, now_ms)
            _take(connection, path, step, backup)
        taken.append(step)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return taken


@contextmanager
def _rolled_back_on_failure(connection: apsw.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _back_up(path: Path, version: int, now_ms: int) -> Path:
    """A copy of what stands there while the caller holds the only right to write."""
    reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return backups.make(reader, path.parent, version=version, now_ms=now_ms)
    finally:
        reader.close()


def _take(connection: apsw.Connection, path: Path, step: Migration, backup: Path) -> None:
    """One step, committed with its version."""
    try:
        run_script(connection, step.sql)
        dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
        if dangling:
            raise _failed(path, step, f"a row of {dangling[0]} would point at nothing", backup)
        connection.execute(f"PRAGMA user_version = {step.version}")
        connection.execute("COMMIT")
    except (apsw.SQLError, apsw.ConstraintError) as error:
        raise _failed(path, step, str(error), backup) from error


def _failed(path: Path, step: Migration, why: str, backup: Path) -> StoreUnusable:
    return StoreUnusable(
        f"the store {path} could not be brought to version {step.version} ({step.name}): {why}",
        hint=f"it was left as it was, of version {step.version - 1}, and a copy is in {backup}; please report this",
        reason="migration",
        path=str(path),
        version=step.version - 1,
        backup=str(backup),
    )
