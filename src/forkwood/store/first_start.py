"""The very first start: a whole store appears under its name at once, or nothing does.

It is made in memory, written and synced under another name, and linked into place. A link never replaces anything, so
of two programs that start at once one wins and both find the same store; and a kill at any instant leaves nothing that
could be taken for a store.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

import apsw

from forkwood.store import migrations
from forkwood.whole_file import sync_directory

_PREFIX = ".forkwood.new-"
_PLACES_OF_THE_JOURNAL_MODE = (18, 19)
_WRITE_AHEAD_LOG = 2


def image() -> bytes:
    """The bytes of a new, empty store of the newest version, in write-ahead-log mode."""
    connection = apsw.Connection(":memory:")
    try:
        migrations.build(connection)
        whole = bytearray(connection.serialize("main"))
    finally:
        connection.close()
    for place in _PLACES_OF_THE_JOURNAL_MODE:
        whole[place] = _WRITE_AHEAD_LOG
    return bytes(whole)


def put_in_place(path: Path, content: bytes) -> bool:
    """Make CONTENT the file at PATH, whole and synced; False where there is one already. Raises OSError."""
    while (begun := _begin(path)) is None:
        pass
    new, handle = begun
    try:
        _write_whole(handle, content)
        os.link(new, path)
        won = True
    except FileExistsError:
        won = False
    finally:
        new.unlink(missing_ok=True)
        os.close(handle)
    sync_directory(path.parent)
    return won


def clear_left_overs(path: Path) -> None:
    """Remove what killed first starts have left beside PATH: files never linked, and second names of the store.

    No living one loses its file: it holds a lock on it.
    """
    for name in os.listdir(path.parent):  # noqa: PTH208 - looked at on every start: no objects for what is passed over
        if not name.startswith(_PREFIX):
            continue
        left = path.with_name(name)
        with suppress(OSError):
            if path.exists() and left.samefile(path):
                left.unlink(missing_ok=True)
            else:
                _remove_unless_locked(left)


def _begin(path: Path) -> tuple[Path, int] | None:
    """A new file beside PATH, locked; None where another program took it for a left-over before it was."""
    new = path.with_name(f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}")
    handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    if os.fstat(handle).st_nlink:
        return new, handle
    os.close(handle)
    return None


def _write_whole(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]
    os.fsync(handle)


def _remove_unless_locked(left: Path) -> None:
    handle = os.open(left, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        left.unlink(missing_ok=True)
    finally:
        os.close(handle)
