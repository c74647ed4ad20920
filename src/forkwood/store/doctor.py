"""What `doctor` does with a home: look, and on demand mend, also where the store can no longer be opened.

What no index can mend is salvaged too: a wrong book goes into the side file, and what is left is a whole store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from forkwood.domain.act import Who
from forkwood.domain.errors import StoreUnusable
from forkwood.store import verify
from forkwood.store.db import File, identity
from forkwood.store.opening import STORE_NAME, open_store
from forkwood.store.problem import Problem
from forkwood.store.salvage import in_nobodys_use, salvage
from forkwood.store.verify import Report

_DAMAGED = frozenset({"corrupt", "shape"})
_SALVAGEABLE = _DAMAGED | {"foreign"}
"""A damaged beginning looks like another program's file; salvage itself tells the two apart."""


def examine(home: Path, *, now_ms: int, driven: Callable[[str], bool]) -> Report:
    """The report on the store of HOME. Raises StoreUnusable where it is no damaged store: newer, empty, read-only …"""
    try:
        store = open_store(home, now_ms=now_ms)
    except StoreUnusable as error:
        if error.facts.get("reason") not in _DAMAGED:
            raise
        damage = Problem(kind="damaged", message=error.message, mendable=True)
        return Report(ok=False, problems=(damage,), notices=(error.hint,))
    try:
        return verify.examine(store, driven)
    finally:
        store.close()


def repair(home: Path, *, now_ms: int, who: Who, driven: Callable[[str], bool]) -> Report:
    """Mend the indexes; salvage a damaged file first, and one whose books are wrong where mending leaves them so.

    The report on what there is afterwards, and what was done. Raises StoreUnusable where there is no store of ours to
    mend, or another program is writing to it.
    """
    path = (home / STORE_NAME).resolve()
    while True:  # again, where another has put a new file in its place meanwhile
        looked_at = identity(str(path))
        try:
            return _repaired(home, looked_at, now_ms=now_ms, who=who, driven=driven)
        except StoreUnusable:
            if identity(str(path)) == looked_at:
                raise
        except _Replaced:
            continue


class _Replaced(Exception):
    """The file that was to be salvaged has lost its place to another."""


def _repaired(home: Path, looked_at: File | None, *, now_ms: int, who: Who, driven: Callable[[str], bool]) -> Report:
    if _is_damaged(home, now_ms, driven):
        done = tuple(_salvaged(home, looked_at, now_ms, who))
    else:
        report = _mended(home, now_ms, driven)
        if report.ok:
            return report
        done = (*report.mended, *_salvaged(home, looked_at, now_ms, who))
    report = _mended(home, now_ms, driven)
    return replace(report, mended=(*done, *report.mended))


def _salvaged(home: Path, looked_at: File | None, now_ms: int, who: Who) -> Iterator[str]:
    """Salvage the file that was LOOKED_AT; in words what came of it. Raises _Replaced where another is there now."""
    path = (home / STORE_NAME).resolve()
    with in_nobodys_use(path):
        if identity(str(path)) != looked_at:
            raise _Replaced
        came = salvage(path, now_ms=now_ms, who=who)
    yield f"{came.rows:,} rows were saved into a new store; the old file is {came.old}"
    if came.side:
        yield f"{came.lost:,} rows are lost or could not stay in their place: they stand in {came.side}"


def _mended(home: Path, now_ms: int, driven: Callable[[str], bool]) -> Report:
    store = open_store(home, now_ms=now_ms)
    try:
        mended = tuple(f"{kind}: made anew" for kind in verify.mend(store))
        return replace(verify.examine(store, driven), mended=mended)
    finally:
        store.close()


def _is_damaged(home: Path, now_ms: int, driven: Callable[[str], bool]) -> bool:
    """Whether the file itself is broken, as opening it or reading all of it shows."""
    try:
        return verify.is_damaged(examine(home, now_ms=now_ms, driven=driven))
    except StoreUnusable as error:
        if error.facts.get("reason") not in _SALVAGEABLE:
            raise
        return True
