"""How a store is opened: looked at first, made where there is none, migrated if older, else refused untouched."""

from __future__ import annotations

import stat
from pathlib import Path

import apsw

from forkwood.domain.errors import StoreUnusable
from forkwood.store import first_start, header, migrate
from forkwood.store.db import Store, settle
from forkwood.store.failures import REPAIR, failure, os_failure, phrased, read_only
from forkwood.store.filesystem import refuse_network
from forkwood.store.migrations import APPLICATION_ID, OLDEST_VERSION, SCHEMA_VERSION, shipped
from forkwood.whole_file import sync_directory

STORE_NAME = "forkwood.db"
_BESIDE = ("-wal", "-shm", "-journal")
_STATEMENTS_KEPT = 256
_ELSEWHERE = "move that file away, or set FORKWOOD_HOME to another directory: it was not touched"


def open_store(home: str | Path, *, now_ms: int) -> Store:
    """The store of HOME, an absolute directory that is made (mode 700) where it is missing.

    NOW_MS names the backup if the store has to be migrated. Raises StoreUnusable, and has changed nothing then, where
    there is something that is no store of ours, or one this program cannot read or write.
    """
    home = Path(home)
    path = home / STORE_NAME
    refuse_network(home)
    try:
        _make_home(home)
        first_start.clear_left_overs(path)
        if not _exists(path):
            first_start.put_in_place(path, first_start.image())
        path = _followed(path)
        _refuse_special(path)
        found = look(path)
        version = header.version_of(path, found)
    except OSError as error:
        raise os_failure(error, str(path)) from error
    if version < SCHEMA_VERSION:
        migrate.bring_up(path, shipped(), now_ms=now_ms)
    return Store(_connect(path, found), str(path))


def look(path: Path) -> header.Header:
    """The header of the store at PATH if this program can use it. Raises StoreUnusable or OSError; changes nothing."""
    with phrased(str(path)):
        start = header.read_start(path)
    if not start:
        raise refused(path, "empty", f"{path} is empty: no store of Forkwood ever is", _ELSEWHERE)
    found = header.parse(start)
    if found is None:
        raise refused(
            path,
            "foreign",
            f"{path} is not a store of Forkwood, or its beginning is damaged",
            f"{_ELSEWHERE}; or {REPAIR}",
        )
    refuse_foreign(path, found)
    refuse_version(path, header.version_of(path, found))
    if max(found.formats) > header.FORMAT_MAX:
        said = (
            f"its beginning says that it has formats {found.formats}, and SQLite writes none above {header.FORMAT_MAX}"
        )
        raise refused(path, "corrupt", f"the store {path} is damaged: {said}", REPAIR)
    return found


def refuse_foreign(path: Path, found: header.Header) -> None:
    """Raise StoreUnusable where the file says it is another program's, or says nothing about itself."""
    if found.application_id == APPLICATION_ID:
        return
    if found.application_id == 0 and found.user_version == 0:
        raise refused(
            path, "unversioned", f"{path} is a database that says neither whose nor of what version", _ELSEWHERE
        )
    whose = f"application_id {found.application_id:#010x} instead of {APPLICATION_ID:#010x}"
    hint = f"{_ELSEWHERE}; if it was a store of Forkwood and is damaged, {REPAIR}"
    raise refused(path, "foreign", f"{path} is the database of another program ({whose})", hint)


def refuse_version(path: Path, version: int) -> None:
    """Raise StoreUnusable where the store is newer than this program, or older than it can migrate."""
    if OLDEST_VERSION <= version <= SCHEMA_VERSION:
        return
    newer = version > SCHEMA_VERSION
    raise refused(
        path,
        "newer" if newer else "too old",
        f"the store {path} is of version {version}; this program knows versions {OLDEST_VERSION} to {SCHEMA_VERSION}",
        "install the Forkwood that wrote it, or a newer one: the file was not touched",
        version=version,
        known=SCHEMA_VERSION,
    )


def refused(path: Path, reason: str, message: str, hint: str, **facts: object) -> StoreUnusable:
    """The error for a file that is left as it is."""
    return StoreUnusable(message, hint=hint, reason=reason, path=str(path), **facts)


def _make_home(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        if not home.is_dir():
            raise refused(
                home,
                "home",
                f"{home} is a file; the home of Forkwood is a directory",
                "set FORKWOOD_HOME to a directory",
            ) from None
    else:
        sync_directory(home.parent)


def _followed(path: Path) -> Path:
    """The file itself, where PATH is a link: the log of a store lies beside the file."""
    try:
        file = path.resolve(strict=True)
    except RuntimeError:
        raise refused(path, "foreign", f"{path} is a link that leads back to itself", _ELSEWHERE) from None
    if file.parent != path.parent:
        refuse_network(file.parent)
    return file


def _exists(path: Path) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
        raise refused(path, "foreign", f"{path} is not a regular file", _ELSEWHERE)
    return True


def _refuse_special(path: Path) -> None:
    """A pipe or a directory where the log of a store is to be: nothing could be read or written there."""
    for suffix in _BESIDE:
        beside = Path(f"{path}{suffix}")
        try:
            mode = beside.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            said = f"{beside}, which belongs to a store, cannot be looked at: {error.strerror}"
            raise refused(beside, "beside", said, _ELSEWHERE) from error
        if not stat.S_ISREG(mode):
            raise refused(beside, "beside", f"{beside} is not a regular file", _ELSEWHERE)


def _connect(path: Path, found: header.Header) -> apsw.Connection:
    """A settled connection whose schema has been read: damage there is said now, not in the middle of a verb."""
    connection = None
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=_STATEMENTS_KEPT)
        if connection.readonly("main"):
            raise read_only(str(path), "the file may only be read")
        settle(connection)
        connection.execute("SELECT 1 FROM node, event, conversation LIMIT 0").fetchall()
        if not found.wal:
            connection.pragma("journal_mode", "wal")
    except (apsw.Error, StoreUnusable) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, apsw.Error):
            raise _unusable(error, path) from error
        raise
    return connection


def _unusable(error: apsw.Error, path: Path) -> StoreUnusable:
    damaged = refused(path, "corrupt", f"the store {path} is damaged: {error}", REPAIR)
    return failure(error, str(path)) or damaged
