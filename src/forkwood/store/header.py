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
FORMAT_MAX = 2
_WAL_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
_WAL_MAGICS = (0x377F0682, 0x377F0683)


class Header(Struct, frozen=True, kw_only=True):
    """What the header of a SQLite file says. `wal` is the journal mode; `page_bytes` is the size of its pages.

    FORMATS: which format a program must know to write it, and to read it. Up to 2 there are.
    """

    page_bytes: int
    formats: tuple[int, int]
    wal: bool
    user_version: int
    application_id: int


def parse(first: bytes) -> Header | None:
    """The header in the FIRST bytes of a file; None where they are not those of a SQLite file."""
    if len(first) < HEADER_BYTES or not first.startswith(MAGIC):
        return None
    return Header(
        page_bytes=_page_bytes(_number(first, 16, 2)),
        formats=(first[18], first[19]),
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
    """The version of the store at PATH, as the next reader will see it: from its write-ahead log, else from HEADER.

    Others may be at work: a log that is begun anew meanwhile is read again. Raises OSError.
    """
    with suppress(FileNotFoundError), _opened(Path(f"{path}-wal")) as log:
        while True:
            generation = _generation(log)
            newest = _committed(log).get(1)
            first = b"" if newest is None else _page(log, newest)
            if generation == _generation(log):
                return _number(first, 60) if first else header.user_version
    return header.user_version


def committed_pages(log: Path) -> dict[int, int]:
    """Where in a write-ahead log the newest committed copy of each page begins; nothing where there is no log.

    The checksums are not looked at: this is for looking, never for writing back.
    """
    with suppress(FileNotFoundError), _opened(log) as file:
        return _committed(file)
    return {}


def _opened(log: Path) -> BinaryIO:
    """The log, without waiting for whoever may write into a pipe of its name."""
    return open(log, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


def _generation(log: BinaryIO) -> bytes:
    """What changes whenever the log is begun anew."""
    log.seek(0)
    return log.read(_WAL_HEADER_BYTES)


def _page(log: BinaryIO, offset: int) -> bytes:
    log.seek(offset)
    return log.read(HEADER_BYTES)


def _committed(log: BinaryIO) -> dict[int, int]:
    committed: dict[int, int] = {}
    pending: dict[int, int] = {}
    for page, size_after_commit, offset in _frames(log):
        pending[page] = offset
        if size_after_commit:
            committed.update(pending)
            pending.clear()
    return committed


def _frames(log: BinaryIO) -> Iterator[tuple[int, int, int]]:
    """Of each frame of the log's newest generation: page number, pages after its commit (or 0), its page's offset."""
    head = _generation(log)
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
