"""The rows that stand on the pages of a SQLite file, read without SQLite: for a file it no longer opens.

A table's rows stand on leaf pages that say so themselves, so that a broken page costs its own rows and no others. The
store overwrites what it deletes (secure_delete): what can be read here was there. See SQLite's "Database File Format".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, TypeAlias

from msgspec import Struct

from forkwood.store.header import HEADER_BYTES, committed_pages

PAGE_BYTES = 4096
"""Every store has pages of this size."""

_LEAF_OF_TABLE, _LEAF_OF_INDEX, _INNER_OF_INDEX = 0x0D, 0x0A, 0x02
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_PAYLOAD_BYTES_MAX = 1 << 30

Value: TypeAlias = int | float | str | bytes | None
UNREADABLE = (IndexError, ValueError, KeyError, struct.error)
"""What reading nonsense ends in."""


class Garbled(str):
    """Text with bytes that are no UTF-8: U+FFFD stands for them."""

    __slots__ = ()


class Row(Struct, frozen=True):
    """A row as it stands on a page; `values` is None where it could not be read. `rowid` is 0 in trees without one."""

    page: int
    rowid: int
    values: list[Value] | None


class Pages:
    """The pages of a file, numbered from 1, as they are with the committed pages of its write-ahead log over them."""

    def __init__(self, file: Path, log: Path) -> None:
        self._file: BinaryIO = file.open("rb")
        self._over = committed_pages(log)
        self._log: BinaryIO | None = log.open("rb") if self._over else None
        self.count = max(file.stat().st_size // PAGE_BYTES, *self._over, 0)

    def read(self, number: int) -> bytes:
        """One page; short or empty where the file ends before it."""
        if self._log is not None and number in self._over:
            self._log.seek(self._over[number])
            return self._log.read(PAGE_BYTES)
        self._file.seek((number - 1) * PAGE_BYTES)
        return self._file.read(PAGE_BYTES)

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        if self._log is not None:
            self._log.close()


def table_rows(pages: Pages) -> Iterator[Row]:
    """Every row of every table that has rowids, page by page; which table it is of, its values must tell.

    Pages that have something unreadable come last: where two rows claim one number, theirs is the doubtful one.
    """
    doubtful: list[int] = []
    for number in range(1, pages.count + 1):
        rows = _table_page(pages, number)
        if _is_sound(rows):
            yield from rows
        else:
            doubtful.append(number)
    for number in doubtful:
        yield from _table_page(pages, number)


def _table_page(pages: Pages, number: int) -> list[Row]:
    page, start = pages.read(number), HEADER_BYTES if number == 1 else 0
    if len(page) != PAGE_BYTES or page[start] != _LEAF_OF_TABLE:
        return []
    return [_table_row(pages, number, page, cell) for cell in _cells(page, start, 8)]


def _is_sound(rows: list[Row]) -> bool:
    """Whether every row of a page could be read, and they stand in the order of their numbers."""
    return all(row.values is not None for row in rows) and all(one.rowid < other.rowid for one, other in pairwise(rows))


def loose_rows(pages: Pages) -> Iterator[Row]:
    """Every row of every index and of every table without rowids, page by page, whether its tree leads there or not."""
    for number in range(2, pages.count + 1):
        page = pages.read(number)
        if len(page) == PAGE_BYTES and page[0] in (_LEAF_OF_INDEX, _INNER_OF_INDEX):
            inner = page[0] == _INNER_OF_INDEX
            for cell in _cells(page, 0, 12 if inner else 8):
                yield _index_row(pages, number, page, cell + 4 * inner)


def index_rows(pages: Pages, root: int) -> Iterator[Row]:
    """Every row of the tree without rowids that begins at page ROOT, in no order. Broken branches are left out."""
    wanted, seen = [root], set[int]()
    while wanted:
        number = wanted.pop()
        page = pages.read(number) if 1 <= number <= pages.count and number not in seen else b""
        seen.add(number)
        if len(page) != PAGE_BYTES or page[0] not in (_LEAF_OF_INDEX, _INNER_OF_INDEX):
            continue
        inner = page[0] == _INNER_OF_INDEX
        cells = list(_cells(page, 0, 12 if inner else 8))
        if inner:
            wanted += [_number(page, 8), *(_number(page, cell) for cell in cells if cell + 4 <= PAGE_BYTES)]
        for cell in cells:
            yield _index_row(pages, number, page, cell + 4 * inner)


def _cells(page: bytes, start: int, header: int) -> Iterator[int]:
    """Where the cells of a page begin, as far as its table of cells says something possible."""
    count = min(_number(page, start + 3, 2), (PAGE_BYTES - start - header) // 2)
    for index in range(count):
        cell = _number(page, start + header + 2 * index, 2)
        if start + header < cell < PAGE_BYTES:
            yield cell


def _table_row(pages: Pages, number: int, page: bytes, cell: int) -> Row:
    try:
        size, at = _varint(page, cell)
        rowid, at = _varint(page, at)
        rowid -= (rowid >> 63) << 64
        return Row(number, rowid, _record(_payload(pages, page, at, size, PAGE_BYTES - 35)))
    except UNREADABLE:
        return Row(number, 0, None)


def _index_row(pages: Pages, number: int, page: bytes, cell: int) -> Row:
    try:
        size, at = _varint(page, cell)
        return Row(number, 0, _record(_payload(pages, page, at, size, (PAGE_BYTES - 12) * 64 // 255 - 23)))
    except UNREADABLE:
        return Row(number, 0, None)


def _payload(pages: Pages, page: bytes, at: int, size: int, local_max: int) -> bytes:
    """A record of SIZE bytes: what stands on its page, and the chain of pages the rest overflows to."""
    if size > min(_PAYLOAD_BYTES_MAX, pages.count * PAGE_BYTES):
        raise ValueError("longer than the file")
    if size <= local_max:
        return _exactly(page[at : at + size], size)
    least = (PAGE_BYTES - 12) * 32 // 255 - 23
    local = least + (size - least) % (PAGE_BYTES - 4)
    local = local if local <= local_max else least
    found, following = [page[at : at + local]], _number(page, at + local)
    missing = size - local
    while missing > 0:
        more = pages.read(following) if following else b""
        if len(more) != PAGE_BYTES:
            raise ValueError("the rest is not there")
        found.append(more[4 : 4 + missing])
        following, missing = _number(more, 0), missing - (PAGE_BYTES - 4)
    return _exactly(b"".join(found), size)


def _record(payload: bytes) -> list[Value]:
    header_size, at = _varint(payload, 0)
    body, values = header_size, list[Value]()
    while at < header_size:
        kind, at = _varint(payload, at)
        value, body = _value(payload, kind, body)
        values.append(value)
    if body != len(payload):
        raise ValueError("a record of another length")
    return values


def _value(payload: bytes, kind: int, at: int) -> tuple[Value, int]:
    match kind:
        case 0:
            return None, at
        case 8 | 9:
            return kind - 8, at
        case 7:
            return struct.unpack_from(">d", payload, at)[0], at + 8
        case 1 | 2 | 3 | 4 | 5 | 6:
            end = at + _INTEGER_BYTES[kind]
            return int.from_bytes(_exactly(payload[at:end], end - at), "big", signed=True), end
    if kind < 12:
        raise ValueError("no such kind of value")
    end = at + (kind - 12) // 2
    found = _exactly(payload[at:end], end - at)
    return (_text(found) if kind % 2 else found), end


def _text(found: bytes) -> str:
    try:
        return found.decode()
    except UnicodeDecodeError:
        return Garbled(found.decode(errors="replace"))


def _varint(source: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(8):
        byte = source[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return value << 8 | source[at + 8], at + 9


def _exactly(found: bytes, size: int) -> bytes:
    if len(found) != size:
        raise ValueError("shorter than it says")
    return found


def _number(source: bytes, at: int, size: int = 4) -> int:
    return int.from_bytes(source[at : at + size], "big")
