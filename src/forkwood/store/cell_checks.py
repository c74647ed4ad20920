"""Doctor's questions to single cells: whether their text is text, and whether they hold what verbs read in them."""

from __future__ import annotations

from collections.abc import Iterator

from forkwood.domain.ids import ending
from forkwood.store import sound
from forkwood.store.db import Tx
from forkwood.store.problem import Problem

_TABLES = """SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict ORDER BY name"""


def garbled(tx: Tx) -> Iterator[str]:
    """The cells of our tables whose text is no UTF-8, in words: nothing else can be asked of such a row."""
    for table, rowless in tx.rows(_TABLES):
        columns = [name for _, name, kind, *_ in tx.rows(f'PRAGMA table_info("{table}")') if kind == "TEXT"]
        number = "0" if rowless else "rowid"
        bytes_of = "".join(f', CAST("{name}" AS BLOB)' for name in columns)
        for row, *cells in tx.each(f'SELECT {number}{bytes_of} FROM "{table}"') if columns else ():
            for name, cell in zip(columns, cells, strict=True):
                if not _is_text(cell):
                    where = f"a row of {table}" if rowless else f"row {row} of {table}"
                    yield f"the {name} of {where} is no text: bytes of it have changed"


def values(tx: Tx) -> Iterator[Problem]:
    """Every cell holds what its column is read as: lists, settings, times, doors."""
    for table, columns in sound.ASKED.items():
        for cells in tx.each(f"SELECT {', '.join(columns)} FROM {table}"):
            wrong = [name for name in sound.faults(table, dict(zip(columns, cells, strict=True))) if name in columns]
            if wrong:
                yield Problem(kind="value", message=f"{table} {_named(cells[0])}: unreadable {', '.join(wrong)}")


def _named(name: object) -> str:
    return ending(name.hex()) if isinstance(name, bytes) else f"{name}"


def _is_text(cell: bytes | None) -> bool:
    try:
        (cell or b"").decode()
    except UnicodeDecodeError:
        return False
    return True
