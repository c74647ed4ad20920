"""What lies beside the store: named before it is touched, and touched only where it may hold what is purged."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import StoreUnusable
from forkwood.store import backups, leftovers, purge
from forkwood.store.db import Store
from forkwood.store.migrations import SCHEMA_VERSION
from forkwood.store.purge import Condemned
from tests.store.seeds import NOW, add_message, fill, opened

BEGUN = ("backups/forkwood-2027-01-15T08-00-00-000Z-v1.part-4242", ".salvage-1.jsonl.0011", ".forkwood.salvage")


@pytest.fixture
def store(home: Path) -> Store:
    store = opened(home)
    fill(store, 2)
    return store


def condemned(store: Store, *nodes: int) -> Condemned:
    with store.read() as tx:
        return purge.condemned(tx, nodes, [])


def touched(store: Store, home: Path, what: Condemned) -> dict[str, str]:
    with store.read() as tx:
        return {file.path: file.fate for file in leftovers.touched(tx, home, what)}


def test_what_was_never_finished_goes_and_what_is_not_ours_stays(store: Store, home: Path) -> None:
    backups.folder(home).mkdir()
    stays = [home / name for name in ("config.toml", "notes.jsonl", "backups/mine.db")]
    for path in (*stays, *(home / name for name in BEGUN)):
        path.write_text("words")
    what = condemned(store, 1)
    assert touched(store, home, what) == dict.fromkeys(BEGUN, "removed")
    with store.read() as tx:
        leftovers.wipe(tx, home, what)
    assert [(home / name).exists() for name in BEGUN] == [False] * 3
    assert all(path.exists() for path in stays)
    assert touched(store, home, what) == {}


def test_a_backup_is_touched_from_the_message_on_that_is_purged(store: Store, home: Path) -> None:
    with store.read() as tx:
        made = backups.make(tx.connection, home, version=SCHEMA_VERSION, now_ms=NOW)
    with store.write() as tx:
        later = add_message(tx, 1, 2, "later")
    assert touched(store, home, condemned(store, later)) == {}
    assert touched(store, home, condemned(store, 1, later)) == {f"backups/{made.name}": "rewritten"}
    what = condemned(store, 1)
    with store.read() as tx:
        leftovers.wipe(tx, home, what)
    assert touched(store, home, what) == {}
    assert backups.looked_into(made, lambda tx: tx.rows("SELECT purged FROM node")) == [(1,), (0,)]


def test_a_file_that_cannot_be_taken_away_is_said(store: Store, home: Path) -> None:
    (home / ".forkwood.salvage").mkdir()
    what = condemned(store, 1)
    with store.read() as tx, pytest.raises(StoreUnusable, match=r"\.forkwood\.salvage cannot be"):
        leftovers.wipe(tx, home, what)
