"""Who holds a store's lock, where the system tells: Linux lists every lock with the process that holds it."""

from __future__ import annotations

import os
from pathlib import Path

LOCKS = Path("/proc/locks")
_WRITERS_BYTE = 120
"""The byte of the file beside a store that whoever writes has locked (SQLite's wal-index format)."""


def writer(path: str) -> int | None:
    """The other process that writes to the store at PATH just now; None where none does or it cannot be told."""
    try:
        found = Path(f"{path}-shm").stat()
        locks = LOCKS.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        return None
    file = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    return next((pid for line in locks.splitlines() if (pid := _holder(line, file)) not in {None, os.getpid()}), None)


def _holder(line: str, file: str) -> int | None:
    """The process that has locked the writers' byte of FILE, where LINE says so."""
    match line.split():
        case [_, "POSIX", "ADVISORY", "WRITE", pid, place, first, last] if place == file and pid.isdecimal():
            reaches = last == "EOF" or (last.isdecimal() and int(last) >= _WRITERS_BYTE)
            return int(pid) or None if int(first) <= _WRITERS_BYTE and reaches else None
    return None
