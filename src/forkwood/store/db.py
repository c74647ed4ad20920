"""One connection to the store, and the transactions everything else is done in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeAlias

import apsw

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.store import migrations
from forkwood.store.failures import UNREADABLE, damaged, failure, phrased
from forkwood.store.migrations import run_script

_SETTLED: Final = """
PRAGMA foreign_keys = ON;
PRAGMA recursive_triggers = ON;
PRAGMA secure_delete = ON;
PRAGMA synchronous = FULL;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -16384;
"""
"""What holds for every connection. Temporary tables stay in memory: nobody's words go to a file outside the home."""


File: TypeAlias = tuple[int, int]
"""Which file it is, whatever it is called: the numbers of its device and of itself."""

_SPENT: Final = "SELECT name, seq FROM sqlite_sequence WHERE seq > ?"
"""Also what is no number: text is more than any."""

_NEVER_GIVEN: Final = " UNION ALL ".join(
    f"SELECT 1 FROM {table} WHERE seq < 1" for table in ("conversation", "node", "event", "run", "summary")
)
"""SQLite tells triggers of a row that has no number yet that it has the number -1: one that has it is in their way."""

_BEYOND_RULES: Final = (AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What a rule fails with that meets a row no rule lets in: a mistake of this program, or damage."""


class Tx:
    """One open transaction. Functions that take one never open, commit or roll back."""

    __slots__ = ("connection", "writes")

    def __init__(self, connection: apsw.Connection, *, writes: bool = True) -> None:
        self.connection = connection
        self.writes = writes
        """Whether this transaction may change anything. An index that is filled when first asked for looks here."""

    def rows(self, sql: str, args: Any = ()) -> list[tuple[Any, ...]]:
        """Every row of a query."""
        return self.connection.execute(sql, args).fetchall()

    def each(self, sql: str, args: Any = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query one by one: for what may be larger than memory."""
        return iter(self.connection.execute(sql, args))

    def one(self, sql: str, args: Any = ()) -> tuple[Any, ...] | None:
        """The first row of a query, or None."""
        return self.connection.execute(sql, args).fetchone()

    def value(self, sql: str, args: Any = ()) -> Any:
        """The first column of the first row, or None."""
        row = self.connection.execute(sql, args).fetchone()
        return None if row is None else row[0]

    def run(self, sql: str, args: Any = ()) -> None:
        """A statement that gives no rows."""
        self.connection.execute(sql, args)

    def insert(self, sql: str, args: Any = ()) -> int:
        """An INSERT; the rowid it made."""
        self.connection.execute(sql, args)
        return self.connection.last_insert_rowid()

    def changes(self) -> int:
        """How many rows the last statement changed."""
        return self.connection.changes()


class Store:
    """One connection to one store. Not for several threads at once."""

    def __init__(self, connection: apsw.Connection, path: str = ":memory:") -> None:
        self._connection = connection
        self.path = path
        self._file = identity(path)

    @classmethod
    def in_memory(cls) -> Store:
        """A new store that lives in memory: for tests."""
        connection = apsw.Connection(":memory:")
        settle(connection)
        migrations.build(connection)
        return cls(connection)

    @contextmanager
    def write(self) -> Iterator[Tx]:
        """A transaction that writes: begun as a write, committed on leaving, rolled back on any exception.

        Raises StoreUnusable where the file can no longer be used: locked for too long, full, damaged, migrated by
        a newer program, no longer in its place.
        """
        yield from self._within("BEGIN IMMEDIATE", writes=True)

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """A transaction that sees one state of the store throughout, and cannot write: a read that turns into a write
        would fail under another writer however long it waits."""
        self._connection.execute("PRAGMA query_only = ON")
        try:
            yield from self._within("BEGIN", writes=False)
        finally:
            self._connection.execute("PRAGMA query_only = OFF")

    def beside(self) -> Store:
        """Another connection to the same file, to be closed: for reading at length in a thread of its own. A store in
        memory has only one connection, and is its own. Raises StoreUnusable where the file is gone."""
        if self._file is None:
            return self
        self._refuse_other_file()
        with phrased(self.path):
            connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
            settle(connection)
        return Store(connection, self.path)

    def interrupt(self) -> None:
        """Let what another thread asks of this connection end, with apsw.InterruptError there."""
        with suppress(apsw.ConnectionClosedError):
            self._connection.interrupt()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Inside, nobody waits for another's lock: for what is left to do by one who has waited in vain already."""
        self._connection.set_busy_timeout(0)
        try:
            yield
        finally:
            self._connection.set_busy_timeout(limits.busy_ms)

    def _within(self, begin: str, *, writes: bool) -> Iterator[Tx]:
        assert not self._connection.in_transaction, "one transaction per fact"
        try:
            self._connection.execute(begin)
            self._refuse_other_version()
            if writes:
                self._refuse_other_file()
            yield Tx(self._connection, writes=writes)
            if writes:
                self._refuse_spent_numbers()
            self._connection.execute("COMMIT")
        except (apsw.Error, *UNREADABLE) as error:
            self._back_out()
            unusable = self._failure(error, writes=writes)
            if unusable is None and isinstance(error, apsw.ConstraintError | apsw.SQLError):
                unusable = self._damage()
            if unusable is None:
                raise
            raise unusable from error
        except _BEYOND_RULES as error:
            self._back_out()
            unusable = self._damage()
            if unusable is None:
                raise
            raise unusable from error
        except BaseException:
            self._back_out()
            raise

    def _failure(self, error: Exception, *, writes: bool) -> StoreUnusable | None:
        """What ERROR says of the file. Out of numbers SQLite says that the disk is full."""
        if isinstance(error, apsw.FullError):
            self._refuse_spent_numbers()
        return failure(error, self.path) if writes or not isinstance(error, apsw.ReadOnlyError) else None

    def _refuse_spent_numbers(self) -> None:
        """A row of a number beyond all that are given is one that a salvage would take for damage."""
        spent = self._connection.execute(_SPENT, (limits.seq_max,)).fetchone()
        if spent is not None:
            table, number = spent
            raise damaged(f"its table {table} claims to have given number {number}", self.path)

    def _damage(self) -> StoreUnusable | None:
        """What is wrong with the file, where it is not this program that is."""
        try:
            said = self._connection.execute("PRAGMA quick_check(1)").fetchall()[0][0]
            due = apsw.Connection(":memory:")
            migrations.build(due)
            if said == "ok" and _schema(self._connection) != _schema(due):
                said = "its tables are not those of its version"
            elif said == "ok" and self._connection.execute(_NEVER_GIVEN).fetchone():
                said = "a row has a number that is never given"
        except (apsw.Error, *UNREADABLE) as error:
            said = str(error)
        return None if said == "ok" else damaged(f"{said}", self.path)

    def _back_out(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _refuse_other_version(self) -> None:
        """A newer program may have migrated the file while this one had it open."""
        version = self._connection.pragma("user_version")
        if version != migrations.SCHEMA_VERSION:
            raise StoreUnusable(
                f"the store {self.path} is of version {version} now; this program knows version "
                f"{migrations.SCHEMA_VERSION}",
                hint="another Forkwood has changed it: end this one and start it anew",
                reason="version",
                path=self.path,
                version=version,
                known=migrations.SCHEMA_VERSION,
            )

    def _refuse_other_file(self) -> None:
        """What is written to a file that was deleted, or that another has taken the name of, nobody ever reads."""
        if identity(self.path) != self._file:
            raise StoreUnusable(
                f"the store {self.path} is no longer the file that was opened: it was moved, deleted or replaced",
                hint="what was written before is in that file, this is not; put it back if you want it, and start "
                "Forkwood anew",
                reason="moved",
                path=self.path,
            )

    def checkpoint(self) -> bool:
        """Bring the write-ahead log into the file and empty it; False where a reader is in the way."""
        assert not self._connection.in_transaction
        with phrased(self.path):
            row = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return row is not None and row[0] == 0

    def vacuum(self) -> None:
        """Write the file anew without its free pages."""
        assert not self._connection.in_transaction
        with phrased(self.path):
            self._connection.execute("VACUUM")

    def close(self) -> None:
        """Close the connection; nothing is pending outside transactions."""
        self._connection.close()


def identity(path: str) -> File | None:
    """Which file stands at PATH; None where there is none, as for a store in memory."""
    try:
        found = os.stat(path)  # noqa: PTH116 - before each write: no objects for one question
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _schema(connection: apsw.Connection) -> set[tuple[Any, ...]]:
    return set(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))


def settle(connection: apsw.Connection) -> None:
    """What holds for every connection to a store."""
    connection.set_busy_timeout(limits.busy_ms)
    run_script(connection, _SETTLED)
