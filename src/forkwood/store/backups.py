"""Copies of the store in `backups/`: made while others work, verified before they count, bounded in number."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import apsw

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.store.db import Store, Tx, settle
from forkwood.store.failures import os_failure, phrased
from forkwood.store.migrations import OLDEST_VERSION, SCHEMA_VERSION, run_script, shipped
from forkwood.whole_file import sync_directory

T = TypeVar("T")
PAGES_AT_ONCE = 1_024


def folder(home: Path) -> Path:
    """Where the backups of HOME lie."""
    return home / "backups"


def kept(home: Path) -> list[Path]:
    """The backups there are, oldest first."""
    return sorted(folder(home).glob("forkwood-*.db"), key=lambda file: (_moment_in(file.name), file.name))


def name_of(version: int, now_ms: int) -> str:
    """What a backup of a store of VERSION made at NOW_MS is called: `forkwood-2026-02-03T04-05-06-789Z-v1.db`."""
    return f"forkwood-{moment(now_ms)}-v{version}.db"


def moment(now_ms: int) -> str:
    """A time as it stands in the names of files: to the millisecond, in UTC, sorted as it happened."""
    return f"{datetime.fromtimestamp(now_ms // 1000, UTC):%Y-%m-%dT%H-%M-%S}-{now_ms % 1000:03d}Z"


def make(source: apsw.Connection, home: Path, *, version: int, now_ms: int) -> Path:
    """Copy the store SOURCE is connected to; the verified file. The oldest beyond `limits.backups_kept` go.

    Raises StoreUnusable where it cannot be written or does not read back as it should; nothing is left then.
    """
    target = folder(home) / name_of(version, now_ms)
    begun = target.with_suffix(f".part-{os.getpid()}")
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        begun.touch(mode=0o600)
        with phrased(str(begun)):
            _copy(source, begun)
            _verify(begun, version)
        begun.replace(target)
        sync_directory(target.parent)
    except OSError as error:
        raise os_failure(error, str(target)) from error
    finally:
        with suppress(OSError):
            begun.unlink(missing_ok=True)
    for old in kept(home)[: -limits.backups_kept]:
        old.unlink(missing_ok=True)
    return target


def looked_into(path: Path, question: Callable[[Tx], T]) -> T:
    """What a backup, of this version or an older one, answers to QUESTION. Raises apsw.Error or StoreUnusable where it
    cannot be read."""
    with closing(_untouched(path)) as copy:
        _refuse_unknown(path, copy.pragma("user_version"))
        return question(Tx(copy, writes=False))


def rewrite(path: Path, change: Callable[[Tx], None]) -> Path:
    """Do CHANGE to a backup: in a copy that takes its place once it is whole, without a free page of the old one.

    It is of this program's version then, and called so; where it lies now. Raises StoreUnusable, OSError.
    """
    begun = path.with_suffix(f".part-{os.getpid()}")
    target = path.with_name(f"{path.stem.rpartition('-v')[0]}-v{SCHEMA_VERSION}.db")
    try:
        begun.touch(mode=0o600)
        with phrased(str(path)), closing(_untouched(path)) as source:
            _copy(source, begun)
            _change(begun, change)
            _verify(begun, SCHEMA_VERSION)
        begun.replace(target)
        if target != path:
            path.unlink()
        sync_directory(path.parent)
    finally:
        begun.unlink(missing_ok=True)
    return target


def _refuse_unknown(path: Path, version: int) -> None:
    if not OLDEST_VERSION <= version <= SCHEMA_VERSION:
        raise StoreUnusable(
            f"{path} is of version {version}, which this program does not know",
            hint="the Forkwood that made it reads it",
            reason="version",
            path=str(path),
        )


def _change(path: Path, change: Callable[[Tx], None]) -> None:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.pragma("journal_mode", "delete")  # of one file, nothing is left beside it
        version = connection.pragma("user_version")
        for step in shipped()[version:]:
            run_script(connection, f"BEGIN; {step.sql}; PRAGMA user_version = {step.version}; COMMIT")
        settle(connection)
        store = Store(connection, str(path))
        with store.write() as tx:
            change(tx)
        store.vacuum()


def _copy(source: apsw.Connection, path: Path) -> None:
    target = apsw.Connection(str(path))
    try:
        with target.backup("main", source, "main") as copying:
            while not copying.done:
                copying.step(PAGES_AT_ONCE)
    finally:
        target.close()
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _verify(path: Path, version: int) -> None:
    copy = _untouched(path)
    try:
        said = copy.execute("PRAGMA quick_check(1)").fetchall()
        found = copy.pragma("user_version")
    finally:
        copy.close()
    if said != [("ok",)] or found != version:
        raise StoreUnusable(
            f"the backup {path} does not read back: {said[0][0]}, version {found}",
            hint="the store itself was not touched; see whether the disk is failing",
            reason="backup",
            path=str(path),
        )


def _untouched(path: Path) -> apsw.Connection:
    """A connection that reads the file alone, and makes no other beside it."""
    return apsw.Connection(f"file:{_quoted(path)}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _quoted(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _moment_in(name: str) -> str:
    return name.removeprefix("forkwood-").rpartition("-v")[0]
