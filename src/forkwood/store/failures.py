"""What SQLite's own failures mean to a person: the one place where its codes become errors that name the way out."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import apsw
import msgspec

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.store import lock_holder

REPAIR = "run `forkwood doctor --repair`: it saves what the file still holds into a new one and keeps the old one aside"


_NOT_OURS = ("no such table", "no such column", "has no column named", "invalid fts5 file format")
"""What SQLite says of our statements where tables are not those of any version of ours."""

_OVERFLOW = "integer overflow"
"""What SQLite says of a sum of numbers, one of which damage has made immense."""

UNREADABLE = (UnicodeDecodeError, msgspec.DecodeError)
"""What a row that damage has changed fails with: text that is no UTF-8, or that does not spell what stands there."""


@contextmanager
def phrased(path: str) -> Iterator[None]:
    """What is done inside fails with StoreUnusable where the file at PATH is to blame."""
    try:
        yield
    except (apsw.Error, *UNREADABLE) as error:
        unusable = failure(error, path)
        if unusable is None:
            raise
        raise unusable from error


def failure(error: Exception, path: str) -> StoreUnusable | None:
    """What ERROR says about the store at PATH; None where it says nothing about the file but about the statement."""
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return locked(path)
        case apsw.FullError():
            return disk_full(path)
        case UnicodeDecodeError() | msgspec.DecodeError():
            return damaged(f"a row cannot be read ({error})", path)
        case apsw.CorruptError() | apsw.NotADBError():
            return damaged(str(error), path)
        case apsw.SQLError() if _OVERFLOW in str(error):
            return damaged("what it counts is more than anybody can have used", path)
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            return read_only(path, str(error))
        case apsw.SQLError() if any(words in str(error) for words in _NOT_OURS):
            return StoreUnusable(
                f"the store {path} has not the tables its version should have: {error}",
                hint=f"it was altered by hand or made by an unfinished program: {REPAIR}",
                reason="shape",
                path=path,
            )
        case apsw.IOError():
            return StoreUnusable(
                f"the disk failed under the store {path}: {error}",
                hint="see whether the disk is full or failing; nothing was stored in part, so do this again afterwards",
                reason="disk",
                path=path,
            )
    return None


def locked(path: str) -> StoreUnusable:
    """Another has held the store at PATH for as long as this program waits: who, where the system tells."""
    other = lock_holder.writer(path)
    who, end = (
        ("another process", "it") if other is None else (f"process {other}", f"it (ps -p {other} says what it is)")
    )
    return StoreUnusable(
        f"the store {path} is locked by {who} (waited {limits.busy_ms / 1000:g} s)",
        hint=f"wait until the other program is done, or end {end}, and do this again: nothing was written",
        reason="locked",
        path=path,
        **({} if other is None else {"process": other}),
    )


def damaged(words: str, path: str = "") -> StoreUnusable:
    """What stands in the store (at PATH, where that is known) cannot be what was written."""
    named = f"the store {path}" if path else "the store"
    return StoreUnusable(f"{named} is damaged: {words}", hint=REPAIR, reason="corrupt", path=path)


def os_failure(error: OSError, path: str) -> StoreUnusable:
    """What the operating system's ERROR says about the store at PATH."""
    words = error.strerror or str(error)
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return disk_full(path)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return read_only(path, words)
    return StoreUnusable(
        f"the store {path} cannot be used: {words}",
        hint="set FORKWOOD_HOME to a directory on a disk of this machine",
        reason="disk",
        path=path,
    )


def disk_full(path: str) -> StoreUnusable:
    """No space is left where the store at PATH lies."""
    return StoreUnusable(
        f"the disk is full: nothing could be added to {path}",
        hint="make room and do this again: what was there before is whole, and nothing was stored in part",
        reason="full",
        path=path,
    )


def read_only(path: str, words: str) -> StoreUnusable:
    """The store at PATH may not be written, or its directory may not."""
    return StoreUnusable(
        f"the store {path} cannot be written: {words}",
        hint="file and directory must be yours to write (`ls -ld`, `chmod u+w`); or set FORKWOOD_HOME elsewhere",
        reason="read-only",
        path=path,
    )
