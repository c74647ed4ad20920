"""A broken store becomes a whole one: what its file still holds goes into a new file, and the old one is kept aside.

The old file is only ever read and renamed. Until the new one is whole nothing is changed at all.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.act import Who
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.event import StoreSalvaged
from forkwood.store import aside, book_checks, first_start, log, verify
from forkwood.store.backups import moment
from forkwood.store.db import Store, Tx, settle
from forkwood.store.failures import failure, os_failure, phrased
from forkwood.store.migrations import run_script
from forkwood.store.pages import Pages
from forkwood.store.rejoin import rejoin
from forkwood.store.rescue import Found, move_rows, note_lost
from forkwood.whole_file import sync_directory

_OURS = frozenset({"conversation", "node", "event"})
_BEGUN = ".forkwood.salvage"


class Salvaged(Struct, frozen=True, kw_only=True):
    """What came of it: rows in the new store, rows that are lost or stand in the side file, and where all that lies."""

    rows: int
    lost: int
    old: str
    side: str | None


def salvage(path: Path, *, now_ms: int, who: Who) -> Salvaged:
    """Replace the broken store at PATH. Nobody else may have it open.

    Raises StoreUnusable, with nothing changed, where the file holds nothing of ours or the disk does not take a copy.
    """
    when = moment(now_ms)
    begun, side = path.with_name(_BEGUN), path.with_name(f"salvage-{when}.jsonl")
    try:
        with _alone(begun), phrased(str(path)), aside.opened(side) as left:
            rows = _make(path, begun, left, now_ms, who)
            old = _exchange(path, begun, when)
    except OSError as error:
        raise os_failure(error, str(path)) from error
    return Salvaged(rows=rows, lost=left.lost, old=str(old), side=str(side) if left.used else None)


@contextmanager
def in_nobodys_use(path: Path) -> Iterator[None]:
    """Keep other programs from writing to the store at PATH meanwhile, as far as it can still be locked.

    Raises StoreUnusable where one goes on writing to it, and where PATH is no file at all: nothing of ours can be in
    it. While this waits another may have put a new file in its place.
    """
    if not path.is_file():
        raise StoreUnusable(
            f"{path} is no file: there is nothing to save from it",
            hint="move it away, and start Forkwood: it makes a new store",
            reason="foreign",
            path=str(path),
        )
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        # By the time it is closed the log at PATH may be that of the new store.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.set_busy_timeout(limits.busy_ms)
        _lock(connection, str(path))
        yield
    finally:
        connection.close()


def _lock(connection: apsw.Connection, path: str) -> None:
    try:
        connection.execute("BEGIN IMMEDIATE").fetchall()
    except (apsw.BusyError, apsw.LockedError) as error:
        unusable = failure(error, path)
        assert unusable is not None
        raise unusable from error
    except apsw.Error:
        return  # what cannot be opened is in nobody's use


@contextmanager
def _alone(begun: Path) -> Iterator[None]:
    """One salvage at a time, each from the beginning; what it left on failure goes."""
    handle = os.open(begun.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        _remove(begun)
        yield
    finally:
        _remove(begun)
        begun.with_suffix(".lock").unlink(missing_ok=True)
        os.close(handle)


def _remove(begun: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{begun}{suffix}").unlink(missing_ok=True)


def _make(path: Path, begun: Path, left: aside.Aside, now_ms: int, who: Who) -> int:
    """The new store, whole and synced, as the file BEGUN; how many rows it has."""
    first_start.put_in_place(begun, first_start.image())
    connection = apsw.Connection(str(begun), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        settle(connection)
        connection.execute("PRAGMA synchronous = OFF")  # it counts only once it is whole; it is synced then
        found = _fill(connection, path, left, now_ms, who)
        store = Store(connection, str(begun))
        with store.write() as tx:
            book_checks.mend_schema(tx)
            log.write(tx, StoreSalvaged(rows=found.kept.total(), lost=left.lost), who=who, now_ms=now_ms)
        verify.mend(store)
        store.checkpoint()
    finally:
        connection.close()
    with begun.open("rb+") as file:
        os.fsync(file.fileno())
    return found.kept.total()


def _fill(connection: apsw.Connection, path: Path, left: aside.Aside, now_ms: int, who: Who) -> Found:
    connection.execute("PRAGMA foreign_keys = OFF")
    pages = Pages(path, _log_of(path))
    try:
        connection.execute("BEGIN IMMEDIATE")
        tx = Tx(connection)
        for (trigger,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            tx.run(f"DROP TRIGGER {trigger}")
        found = move_rows(tx, pages, left)
        _refuse_not_ours(path, found)
        note_lost(tx, pages, found)
        rejoin(tx, found, left, now_ms=now_ms, who=who)
        connection.execute("COMMIT")
    finally:
        pages.close()
    run_script(connection, "PRAGMA foreign_keys = ON")
    return found


def _refuse_not_ours(path: Path, found: Found) -> None:
    """A file that never was a store of ours is somebody's: it is not moved aside. Where its table of tables is lost,
    in part or whole, rows that fit the tables of ours speak for it: nobody else has rows of these columns."""
    if _OURS.issubset(found.schema) or any(found.kept[table] for table in _OURS):
        return
    raise StoreUnusable(
        f"{path} holds nothing of a Forkwood store",
        hint="move that file away, or set FORKWOOD_HOME to another directory: it was not touched",
        reason="foreign",
        path=str(path),
    )


def _log_of(path: Path) -> Path:
    """The write-ahead log of the store; where a salvage was killed after moving it aside, from there."""
    for second_name in path.parent.glob(f"{path.name}.corrupt-*"):
        if second_name.samefile(path):
            return Path(f"{second_name}-wal")
    return Path(f"{path}-wal")


def _exchange(path: Path, begun: Path, when: str) -> Path:
    """Put the new file in the place of the old one, which gets another name, its log with it. Whenever this is cut
    short, the old file and its log are both there, and a salvage begins again."""
    old = path.with_name(f"{path.name}.corrupt-{when}")
    os.link(path, old)
    wal = Path(f"{path}-wal")
    if wal.exists():
        wal.rename(f"{old}-wal")
    Path(f"{path}-shm").unlink(missing_ok=True)
    begun.replace(path)
    sync_directory(path.parent)
    return old
