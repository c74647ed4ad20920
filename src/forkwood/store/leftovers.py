"""What lies beside the store and can hold words of it: backups, and what was set aside when a store was salvaged.

A purge takes what is purged out of them. A file that cannot be written anew goes where it may hold any of that; what
cannot hold it stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from forkwood import whole_file
from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.ids import time_of
from forkwood.domain.response import FileTouched
from forkwood.store import aside, backups, purge, side_rows
from forkwood.store.db import Tx
from forkwood.store.failures import os_failure
from forkwood.store.purge import Condemned

_BEGUN = ("backups/*.part-*", ".salvage-*", ".forkwood.salvage*")
"""How files are named while they are made: a program that was killed leaves its own."""

_SIDE_FILES = "salvage-*.jsonl"
_CORRUPT = ".corrupt-"
_LOGS = ("-wal", "-shm")


def touched(tx: Tx, home: Path, what: Condemned) -> tuple[FileTouched, ...]:
    """What a purge of WHAT makes of each file in HOME that holds any of it, or may. All others stay as they are."""
    with _readable(home):
        kinds = (_begun(home), _backups(home, what), _side_files(tx, home, what), _corrupt(tx, home, what))
        return tuple(file for kind in kinds for file in kind)


def wipe(tx: Tx, home: Path, what: Condemned) -> None:
    """Make it so. TX reads the store WHAT was purged from. Raises StoreUnusable where a file cannot be written."""
    for file in touched(tx, home, what):
        path = home / file.path
        with _readable(path):
            if file.fate == "removed":
                path.unlink(missing_ok=True)
            elif path.match(_SIDE_FILES):
                whole_file.put(path, side_rows.remaining(tx, path, what), mode=0o600)
            else:
                backups.rewrite(path, lambda copy: purge.forget_in_copy(copy, what))


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise os_failure(error, error.filename or str(path)) from error


def _begun(home: Path) -> Iterator[FileTouched]:
    for pattern in _BEGUN:
        for path in sorted(home.glob(pattern)):
            yield _removed(home, path, "a copy that was never finished")


def _backups(home: Path, what: Condemned) -> Iterator[FileTouched]:
    for path in backups.kept(home):
        try:
            holds = backups.looked_into(path, lambda tx: purge.is_in_copy(tx, what))
        except (apsw.Error, StoreUnusable) as error:
            yield _removed(home, path, f"it may hold what is purged, and cannot be written anew: {error}")
        else:
            if holds:
                yield _rewritten(home, path, "a backup that holds what is purged; all else in it stays")


def _side_files(tx: Tx, home: Path, what: Condemned) -> Iterator[FileTouched]:
    for path in sorted(home.glob(_SIDE_FILES)):
        found = side_rows.split(tx, path, what)
        if not found.changed:
            continue
        why = f"{found.changed:,} of {found.lines:,} lines in it belong to what is purged"
        if found.unowned:
            why += f", or may: of {found.unowned:,} nobody can tell whose they are"
        yield _rewritten(home, path, why) if found.left else _removed(home, path, why)


def _corrupt(tx: Tx, home: Path, what: Condemned) -> Iterator[FileTouched]:
    for path in sorted(home.glob(f"*{_CORRUPT}*")):
        name = path.name
        for log in _LOGS:
            name = name.removesuffix(log)
        when = name.rpartition(_CORRUPT)[2]
        if not _is_younger(tx, what, when):
            yield _removed(home, path, _WHY_CORRUPT + _only_there(home, when) if name == path.name else _WHY_LOG)


_WHY_CORRUPT = "a damaged store, which may hold what is purged and cannot be written anew"
_WHY_LOG = "the log of a damaged store that may hold what is purged"


def _only_there(home: Path, when: str) -> str:
    """What a person must know of a damaged file before it goes: whether more could be got out of it one day."""
    side = home / f"salvage-{when}.jsonl"
    if not side.exists():
        return "; every row in it was saved"
    aside_rows, unread = aside.counts(side)
    told = f"; {unread:,} rows that could not be read may be in it and nowhere else" if unread else ""
    return f"{told}; {aside_rows:,} rows that were taken out stand in {side.name} too" if aside_rows else told


def _is_younger(tx: Tx, what: Condemned, when: str) -> bool:
    """Whether all of WHAT came after the salvage of that moment, by its number and by its time."""
    timed = "SELECT seq, at_ms FROM event WHERE kind = 'store.salvaged' AND at_ms BETWEEN 0 AND ?"
    salvages = tx.rows(timed, (limits.time_ms_max,))
    for event, at_ms in salvages:
        if backups.moment(at_ms) == when:
            node, conversation = tx.rows("SELECT max(node), max(conversation) FROM event WHERE seq < ?", (event,))[0]
            return (
                all(seq > (node or 0) for seq in what.nodes)
                and all(seq > (conversation or 0) for seq in what.conversations)
                and all(time_of(name) > at_ms for name in what.ids)
            )
    return False


def _removed(home: Path, path: Path, why: str) -> FileTouched:
    return FileTouched(path=str(path.relative_to(home)), fate="removed", why=why)


def _rewritten(home: Path, path: Path, why: str) -> FileTouched:
    return FileTouched(path=str(path.relative_to(home)), fate="rewritten", why=why)
