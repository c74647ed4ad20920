"""What a broken file still holds, moved row by row into a new store.

A row is known by its shape: so many columns, of such types. Rows that fit no table, or that the new store's own rules
refuse, go into the side file; nothing is left out in silence. Of a message that cannot be read its place is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import apsw
from msgspec import Struct

from forkwood.domain import limits
from forkwood.store import sound
from forkwood.store.aside import Aside
from forkwood.store.db import Tx
from forkwood.store.pages import Garbled, Pages, Row, Value, index_rows, loose_rows, table_rows

NUMBERED = ("conversation", "node", "event", "run")
"""Tables whose rows are numbered without a gap."""

ID_BYTES = 16

_NOT_MOVED = ("digest", "purging")
"""The digests are an index; no purge is under way in a new store."""
_OURS = (
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict AND wr = ? ORDER BY name"
)
_LOOSE = ("label", "receipt", "draft")
"""Those whose rows cannot be taken for anything else, so that they are found where no tree leads to them any more."""

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
        named = {column.name: row.rowid if column.alias else value for column, value in pairs}
        return {name: str(value) if isinstance(value, str) else value for name, value in named.items()}

    def garbled(self, row: Row) -> list[str]:
        """The columns of ROW whose text was no UTF-8."""
        pairs = zip(self.columns, row.values or [], strict=True)
        return [column.name for column, value in pairs if isinstance(value, Garbled)]


class Found(Struct):
    """What the pages said about themselves."""

    kept: Counter[str] = Counter()
    """Rows of each table that are in the new store."""
    schema: dict[str, int] = {}
    """Tables, indexes and triggers by name, and the page where each begins."""
    highest: dict[str, int] = {}
    """The highest number each numbered table has ever given."""
    places: dict[int, tuple[int, int]] = {}
    """Of nodes that are lost: where they hung (0: nowhere), as the index of places has it."""
    names: dict[int, bytes] = {}
    """Of nodes that are lost: their ids, as the index of ids has them."""


def tables(tx: Tx, *, rowless: bool = False) -> list[str]:
    """The tables whose rows are moved: those that have rowids, or those without (ROWLESS)."""
    return [name for (name,) in tx.rows(_OURS, (rowless,)) if name not in _NOT_MOVED]


def shape_of(tx: Tx, table: str) -> Shape:
    """The shape of TABLE in the new store."""
    rows = tx.rows(f'PRAGMA table_xinfo("{table}")')
    rowless = tx.value("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,))
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
    found = Found(kept=Counter(), schema={}, highest={}, places={}, names={})
    shapes = [shape_of(tx, table) for table in tables(tx)]
    broken = set[int]()
    for row in table_rows(pages):
        broken |= _unreadable(row)
        if row.values is not None and not _noted(row.values, found):
            _take(tx, [shape for shape in shapes if shape.fits(row.values)], row, found, aside)
    for table in tables(tx, rowless=True):
        if table not in _LOOSE:
            shape = shape_of(tx, table)
            for row in index_rows(pages, found.schema.get(table, 0)):
                _take_loose(tx, [shape], row, found, aside)
                broken |= _unreadable(row)
    loose = [shape_of(tx, table) for table in _LOOSE]
    for row in loose_rows(pages):
        _take_loose(tx, loose, row, found, aside)
        broken |= _unreadable(row)
    for page in sorted(broken):
        aside.page(page)
    return found


def _unreadable(row: Row) -> set[int]:
    return {row.page} if row.values is None else set()


def _take_loose(tx: Tx, shapes: list[Shape], row: Row, found: Found, aside: Aside) -> None:
    """As `_take`, of pages that hold indexes too: what fits nothing is one's."""
    fitting = [shape for shape in shapes if row.values is not None and shape.fits(row.values)]
    if fitting:
        _take(tx, fitting, row, found, aside)


def note_lost(tx: Tx, pages: Pages, found: Found) -> None:
    """Let FOUND know of each node that is lost what the indexes of nodes still have of it."""
    there = {seq for (seq,) in tx.each("SELECT seq FROM node")}
    for row in index_rows(pages, found.schema.get("node_child", 0)):
        match row.values:
            case [int() | None as at, int(cut), int(seq)] if seq not in there:
                found.places[seq] = (at or 0, cut)
    for row in index_rows(pages, found.schema.get("sqlite_autoindex_node_1", 0)):
        match row.values:
            case [bytes(name), int(seq)] if seq not in there and len(name) == ID_BYTES:
                found.names[seq] = name


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
    table, named = shapes[0].table, shapes[0].named(row)
    wrong = sound.faults(table, named)
    garbled = shapes[0].garbled(row)
    kept = sound.mended(table, named, wrong) if wrong else named
    refused = f"unreadable: {', '.join(wrong)}" if kept is None else _refused(tx, table, kept)
    if refused is None:
        found.kept[table] += 1
        if wrong or garbled:
            aside.changed(table, named, f"not readable as it was: {', '.join(dict.fromkeys(wrong + garbled))}")
        return
    if table == "node" and kept is not None and _refused(tx, table, sound.restored(kept)) is None:
        found.kept[table] += 1
        aside.changed(table, named, f"what follows from the rest was wrong: {refused}")
        return
    aside.row(table, named, refused)
    if table == "node" and 0 < row.rowid <= limits.seq_max and _refused(tx, table, sound.emptied(named)) is None:
        found.kept[table] += 1


def _refused(tx: Tx, table: str, row: sound.Cells) -> str | None:
    """Insert ROW; why the new store's rules refuse it."""
    try:
        tx.run(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    except (apsw.ConstraintError, apsw.MismatchError, apsw.SQLError, apsw.FullError) as error:
        return str(error)
    return None


def _noted(values: list[Value], found: Found) -> bool:
    """Whether the row is SQLite's own; what it says about the others is remembered."""
    match values:
        case [str(), str(name), str(), int(root), str() | None]:
            found.schema[str(name)] = root
            return True
        case [str(name), int(highest)]:
            if 0 <= highest <= limits.seq_max:
                found.highest[name] = max(highest, found.highest.get(name, 0))
            return True
    return False


def _is_index_row(values: list[Value]) -> bool:
    """Whether the row is of the search index, which is made anew: a number and bytes."""
    match values:
        case [None, bytes()] | [None, bytes(), int() | None]:
            return True
    return False
