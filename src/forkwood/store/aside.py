"""The side file of a salvage: every row that was found and could not stay as it was, and every row known to be lost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from forkwood import wire


class Aside:
    """Writes JSON Lines; the file comes into being with its first line. Bytes are written in hexadecimal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lost = 0
        """Rows that are not in the new store: taken out, or known to be missing."""
        self._handle: int | None = None

    @property
    def used(self) -> bool:
        """Whether there is anything in it."""
        return self._handle is not None

    def row(self, table: str, row: Mapping[str, Any] | list[Any], why: str) -> None:
        """A row that is not in the new store."""
        self.lost += 1
        self._write({"table": table, "why": why, "row": _plain(row)})

    def changed(self, table: str, row: Mapping[str, Any], why: str) -> None:
        """A row as it was, which is in the new store with a change."""
        self._write({"table": table, "kept": True, "why": why, "row": _plain(row)})

    def missing(self, table: str, first: int, last: int) -> None:
        """Rows that were there by their numbers and could not be read anywhere."""
        self.lost += last - first + 1
        self._write({"table": table, "why": "unreadable", "first": first, "last": last})

    def told(self, what: str) -> None:
        """Something that the rows that are left speak of and that is not there."""
        self.lost += 1
        self._write({"why": "lost", "what": what})

    def page(self, number: int) -> None:
        """A page on which something could not be read."""
        self._write({"page": number, "why": "unreadable"})

    def _write(self, line: dict[str, Any]) -> None:
        if self._handle is None:
            self._handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        content = memoryview(wire.encode(line) + b"\n")
        while content:
            content = content[os.write(self._handle, content) :]

    def close(self) -> None:
        """Sync the file, if there is one."""
        if self._handle is not None:
            os.fsync(self._handle)
            os.close(self._handle)


@contextmanager
def opened(path: Path) -> Iterator[Aside]:
    """A side file that is closed in the end; what is written stays, whatever happens."""
    aside = Aside(path)
    try:
        yield aside
    finally:
        aside.close()


def counts(path: Path) -> tuple[int, int]:
    """Of the side file at PATH: how many rows it holds that are not in the store, and how many could not be read."""
    rows = unread = 0
    with path.open("rb") as file:
        for text in file:
            try:
                line = wire.decode(text, _Told)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            rows += line.row is not None and not line.kept
            unread += line.last - line.first + 1 if line.last else 0
    return rows, unread


class _Told(Struct, frozen=True):
    row: Any = None
    kept: bool = False
    first: int = 0
    last: int = 0


def _plain(row: Mapping[str, Any] | list[Any]) -> Any:
    if isinstance(row, list):
        return [_spelled(value) for value in row]
    return {column: _spelled(value) for column, value in row.items()}


def _spelled(value: Any) -> Any:
    match value:
        case bytes():
            return value.hex()
        case str():
            return str(value)  # also where it is marked as garbled
    return value
