"""What a broken file still holds, moved row by row into a new store.

A row is known by its shape: so many columns, of such types. Rows that fit no table, or that the new store's own rules
refuse, go into the side file; nothing is left out in silence.
"""

from __future__ import annotations

from collections.abc import Iterator

import apsw
from msgspec import Struct

from forkwood.store.aside import Aside
from forkwood.store.db import Tx
from forkwood.store.pages import Pages, Row, Value, index_rows, table_rows

NUMBERED = ("conversation", "node", "event", "run")
"""Tables whose rows are numbered without a gap."""

_TABLES = (*NUMBERED, "current", "manifest", "blob", "summary")
_TREES = ("mark", "label", "receipt", "draft", "attachment")
"""Tables without rowids. The digests are an index and are not among them."""

_TYPES: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "TEXT": (str,), "BLOB": (bytes,), "REAL": (float, int)}


class Column(Struct, frozen=True):
    """A column as a page has it. `alias`: it is the rowid, and empty there."""

    name: str
    kind: str
    required: bool
    alias: bool

    def takes(self, value: Value) -> bool:
        """Whether VALUE can stand in it."""
        if self.alias or value is None:
            return value is None and (self.alias or not self.required)
        return isinstance(value, _TYPES[self.kind])


class Shape(Struct, frozen=True):
    """A table with its columns in the order in which they are stored."""

    table: str
    columns: tuple[Column, ...]

    def fits(self, values: list[Value]) -> bool:
        """Whether VALUES can be a row of it."""
        return len(values) == len(self.columns) and all(map(Column.takes, self.columns, values))

    def named(self, row: Row) -> dict[str, Value]:
        """The values of ROW by their columns."""
        pairs = zip(self.columns, row.values or [], strict=True)
        return {column.name: row.rowid if column.alias else value for column, value in pairs}


class Found(Struct):
    """What the pages said about themselves."""

    kept: int = 0
    schema: dict[str, int] = {}
    """Tables, indexes and triggers by name, and the page where each begins."""
    highest: dict[str, int] = {}
    """The highest number each numbered table has ever given."""


def shape_of(tx: Tx, table: str) -> Shape:
    """The shape of TABLE in the new store."""
    rows = tx.rows(f'PRAGMA table_xinfo("{table}")')
    rowless = table in _TREES
    rows.sort(key=lambda row: (row[5] == 0, row[5] or row[0]) if rowless else (False, row[0]))
    return Shape(
        table,
        tuple(
            Column(name, kind, bool(required or (rowless and key)), kind == "INTEGER" and key == 1 and not rowless)
            for _, name, kind, required, _, key, _ in rows
        ),
    )


def move_rows(tx: Tx, pages: Pages, aside: Aside) -> Found:
    """Insert every readable row into the new store, whose triggers and foreign keys sleep meanwhile."""
    found = Found(schema={}, highest={})
    shapes = [shape_of(tx, table) for table in _TABLES]
    broken = set[int]()
    for row in table_rows(pages):
        if row.values is None:
            broken.add(row.page)
        elif not _noted(row.values, found):
            _take(tx, [shape for shape in shapes if shape.fits(row.values)], row, found, aside)
    for table in _TREES:
        shape = shape_of(tx, table)
        for row in index_rows(pages, found.schema.get(table, 0)):
            if row.values is None:
                broken.add(row.page)
            else:
                _take(tx, [shape] if shape.fits(row.values) else [], row, found, aside)
    for page in sorted(broken):
        aside.page(page)
    return found


def missing(tx: Tx, table: str, highest: int) -> Iterator[tuple[int, int]]:
    """The stretches of numbers up to HIGHEST that no row of TABLE has."""
    last = 0
    for (seq,) in tx.each(f"SELECT seq FROM {table} UNION ALL SELECT ? ORDER BY 1", (highest + 1,)):
        if seq > last + 1:
            yield last + 1, seq - 1
        last = max(last, seq)


def _take(tx: Tx, shapes: list[Shape], row: Row, found: Found, aside: Aside) -> None:
    values = row.values or []
    if len(shapes) != 1:
        if not _is_index_row(values):
            aside.row("?", values, "it fits no table")
        return
    named = shapes[0].named(row)
    marks = ", ".join("?" * len(named))
    try:
        tx.run(f"INSERT INTO {shapes[0].table} ({', '.join(named)}) VALUES ({marks})", tuple(named.values()))
        found.kept += 1
    except (apsw.ConstraintError, apsw.MismatchError, apsw.SQLError) as error:
        aside.row(shapes[0].table, named, str(error))


def _noted(values: list[Value], found: Found) -> bool:
    """Whether the row is SQLite's own; what it says about the others is remembered."""
    match values:
        case [str(), str(name), str(), int(root), str() | None]:
            found.schema[name] = root
            return True
        case [str(name), int(highest)]:
            found.highest[name] = max(highest, found.highest.get(name, 0))
            return True
    return False


def _is_index_row(values: list[Value]) -> bool:
    """Whether the row is of the search index, which is made anew: a number and bytes."""
    match values:
        case [None, bytes()] | [None, bytes(), int() | None]:
            return True
    return False
