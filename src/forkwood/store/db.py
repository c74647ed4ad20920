"""The store's file: how it is opened, and the transactions everything else is done in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import apsw

from forkwood.domain import limits

APPLICATION_ID = 0x466B776D
SCHEMA_VERSION = 1


class Tx:
    """One open transaction. Functions that take one never open, commit or roll back."""

    __slots__ = ("connection",)

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, sql: str, args: Any = ()) -> list[tuple[Any, ...]]:
        """Every row of a query."""
        return self.connection.execute(sql, args).fetchall()

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

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    @classmethod
    def in_memory(cls) -> Store:
        """A new store that lives in memory: for tests."""
        connection = apsw.Connection(":memory:")
        _settle(connection)
        for migration in sorted(files("forkwood.store.migrations").iterdir(), key=lambda file: file.name):
            if migration.name.endswith(".sql"):
                connection.execute(migration.read_text())
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        return cls(connection)

    @contextmanager
    def write(self) -> Iterator[Tx]:
        """A transaction that writes: begun as a write, committed on leaving, rolled back on any exception."""
        yield from self._within("BEGIN IMMEDIATE")

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """A transaction that sees one state of the store throughout."""
        yield from self._within("BEGIN")

    def _within(self, begin: str) -> Iterator[Tx]:
        assert not self._connection.in_transaction, "one transaction per fact"
        self._connection.execute(begin)
        try:
            yield Tx(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the connection; nothing is pending outside transactions."""
        self._connection.close()


def _settle(connection: apsw.Connection) -> None:
    """What holds for every connection."""
    connection.set_busy_timeout(limits.busy_ms)
    connection.execute("PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA recursive_triggers = ON")
