"""The first hundred bytes of a store, read without opening it: whose file it is and of which version.

Looking changes nothing, neither in the file nor beside it. A version that stands in the write-ahead log counts too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import apsw
from msgspec import Struct

HEADER_BYTES = 100
MAGIC = b"SQLite format 3\x00"
_WAL_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
_WAL_MAGICS = (0x377F0682, 0x377F0683)


class Header(Struct, frozen=True, kw_only=True):
    """What the header of a SQLite file says. `wal` is the journal mode; `page_bytes` is the size of its pages."""

    page_bytes: int
    wal: bool
    user_version: int
    application_id: int


def parse(first: bytes) -> Header | None:
    """The header in the FIRST bytes of a file; None where they are not those of a SQLite file."""
    if len(first) < HEADER_BYTES or not first.startswith(MAGIC):
        return None
    return Header(
        page_bytes=_page_bytes(_number(first, 16, 2)),
        wal=first[18:20] == b"\x02\x02",
        user_version=_number(first, 60),
        application_id=_number(first, 68),
    )


def read_start(path: Path) -> bytes:
    """The first bytes of the regular file at PATH, all of them if it is shorter. Raises OSError, or apsw.Error.

    Through SQLite: to open and close the file behind its back would drop the locks this process holds on it.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise IsADirectoryError(f"{path} is not a regular file")
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        return file.xRead(min(HEADER_BYTES, found.st_size), 0) if found.st_size else b""
    finally:
        file.xClose()


def version_of(path: Path, header: Header) -> int:
    """The version of the store at PATH, as the next reader will see it: from its write-ahead log, else from HEADER."""
    log = Path(f"{path}-wal")
    newest = committed_pages(log).get(1)
    if newest is None:
        return header.user_version
    with log.open("rb") as file:
        file.seek(newest)
        return _number(file.read(HEADER_BYTES), 60)


def committed_pages(log: Path) -> dict[int, int]:
    """Where in a write-ahead log the newest committed copy of each page begins; nothing where there is no log.

    The checksums are not looked at: this is for looking, never for writing back.
    """
    committed: dict[int, int] = {}
    pending: dict[int, int] = {}
    with suppress(FileNotFoundError), log.open("rb") as file:
        for page, size_after_commit, offset in _frames(file):
            pending[page] = offset
            if size_after_commit:
                committed.update(pending)
                pending.clear()
    return committed


def _frames(log: BinaryIO) -> Iterator[tuple[int, int, int]]:
    """Of each frame of the log's newest generation: page number, pages after its commit (or 0), its page's offset."""
    head = log.read(_WAL_HEADER_BYTES)
    if len(head) < _WAL_HEADER_BYTES or _number(head, 0) not in _WAL_MAGICS:
        return
    step, end = _FRAME_HEADER_BYTES + _page_bytes(_number(head, 8)), log.seek(0, os.SEEK_END)
    for start in range(_WAL_HEADER_BYTES, end - step + 1, step):
        log.seek(start)
        frame = log.read(_FRAME_HEADER_BYTES)
        if frame[8:16] != head[16:24]:
            return
        yield _number(frame, 0), _number(frame, 4), start + _FRAME_HEADER_BYTES


def _page_bytes(spelled: int) -> int:
    """A page of 65,536 bytes is spelled 1 in the file's header."""
    return 65_536 if spelled == 1 else spelled


def _number(source: bytes, offset: int, size: int = 4) -> int:
    return int.from_bytes(source[offset : offset + size], "big")
