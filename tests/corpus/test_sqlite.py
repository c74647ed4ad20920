"""Rows D of the corpus: what has broken SQLite stores of other programs. (D8 and D9 stand in test_search.py.)"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from pathlib import Path

import apsw
import pytest

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.tree import Spot
from forkwood.store import backups, doctor, filesystem, migrate, walk
from forkwood.store.db import Store
from forkwood.store.migrations import APPLICATION_ID, SCHEMA_VERSION, Migration, shipped
from tests.store.breaking import broken, nobody
from tests.store.seeds import ME, NOW, add_conversation, add_message, fill, opened, texts


def count(store: Store) -> int:
    with store.read() as tx:
        found: int = tx.value("SELECT count(*) FROM conversation")
        return found


def test_d1_a_second_writer_waits_until_the_first_is_done(home: Path) -> None:
    opened(home).close()
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        store = opened(home)
        with store.write() as tx:
            add_conversation(tx, 1)
            holding.set()
            assert done.wait(30)
        store.close()

    first = threading.Thread(target=hold)
    first.start()
    assert holding.wait(30)
    second = opened(home)
    threading.Timer(0.2, done.set).start()
    with second.write() as tx:
        add_conversation(tx, 2)
    first.join()
    assert count(second) == 2


def test_d1_and_fails_clearly_where_that_takes_too_long(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "busy_ms", 30)
    first, second = opened(home), opened(home)
    with first.write(), pytest.raises(StoreUnusable) as caught, second.write():
        pytest.fail("both write")
    assert "locked by another process" in caught.value.message
    assert "nothing was written" in caught.value.hint


def test_d2_every_write_begins_as_one_and_a_read_never_becomes_one(home: Path) -> None:
    store, other = opened(home), opened(home)
    with store.read() as tx:
        assert tx.value("SELECT count(*) FROM conversation") == 0
        with other.write() as changed:
            add_conversation(changed, 1)
        with pytest.raises(apsw.ReadOnlyError):
            add_conversation(tx, 2)
    with store.write() as tx:
        assert tx.value("SELECT count(*) FROM conversation") == 1
        add_conversation(tx, 2)
    assert count(other) == 2


def test_d3_a_full_disk_in_mid_transaction_is_surfaced_and_nothing_is_half_stored(home: Path) -> None:
    store = opened(home)
    fill(store, 1)
    with store.read() as tx:
        tx.value(f"PRAGMA max_page_count = {tx.value('PRAGMA page_count') + 1}")
    with pytest.raises(StoreUnusable) as caught:
        fill_up(store)
    assert caught.value.facts["reason"] == "full"
    assert texts(store) == ["word 0"]
    with store.read() as tx:
        tx.value("PRAGMA max_page_count = 1000000")
    fill_up(store)
    assert len(texts(store)) == 31


def fill_up(store: Store) -> None:
    with store.write() as tx:
        for number in range(30):
            add_message(tx, 1, None, f"{number} " + "words " * 300)


@pytest.mark.parametrize(("offset", "content"), [(0, bytes(16)), (16, os.urandom(4_080))], ids=["zeroed", "random"])
def test_d4_a_broken_header_is_salvaged_and_the_original_kept(home: Path, offset: int, content: bytes) -> None:
    store = opened(home)
    fill(store, 40)
    before = texts(store)
    store.close()
    path = home / "forkwood.db"
    with path.open("rb+") as file:
        file.seek(offset)
        file.write(content)
    damaged = path.read_bytes()
    with pytest.raises(StoreUnusable) as caught:
        opened(home)
    assert "doctor --repair" in caught.value.hint or "another program" in caught.value.message
    assert path.read_bytes() == damaged
    assert doctor.repair(home, now_ms=NOW, who=ME, driven=nobody).ok
    assert texts(opened(home)) == before
    (kept,) = home.glob("forkwood.db.corrupt-*")
    assert kept.read_bytes() == damaged


def test_d6_a_newer_version_is_refused_untouched_with_both_versions(home: Path) -> None:
    opened(home).close()
    broken(home, "PRAGMA user_version = 42")
    before = (home / "forkwood.db").read_bytes()
    with pytest.raises(StoreUnusable) as caught:
        opened(home)
    assert (caught.value.facts["version"], caught.value.facts["known"]) == (42, SCHEMA_VERSION)
    assert "42" in caught.value.message
    assert (home / "forkwood.db").read_bytes() == before


def test_d6_an_older_version_is_migrated_after_a_verified_backup(home: Path) -> None:
    store = opened(home)
    fill(store, 3)
    store.close()
    step = Migration(version=SCHEMA_VERSION + 1, name="next", sql="ALTER TABLE conversation ADD COLUMN colour TEXT")
    migrate.bring_up(home / "forkwood.db", (*shipped(), step), now_ms=NOW)
    (backup,) = backups.kept(home)
    restored = home.parent / "restored"
    restored.mkdir()
    shutil.copy(backup, restored / "forkwood.db")
    assert texts(opened(restored)) == ["word 0", "word 1", "word 2"]


def test_d7_a_cycle_of_parents_cannot_be_stored(home: Path) -> None:
    store = opened(home)
    fill(store, 3)
    with pytest.raises(apsw.ConstraintError, match="nodes never change"), store.write() as tx:
        tx.run("UPDATE node SET at_node = 3 WHERE seq = 2")
    with pytest.raises(apsw.ConstraintError), store.write() as tx:
        tx.run(
            "INSERT INTO node (id, conversation, at_node, role, parts, own, length, hops, by, via, created_ms)"
            " SELECT zeroblob(16), 1, 4, 'user', '[]', 1, 2, 1, 'user', 'cli', 0"
        )


def test_d7_a_path_of_twenty_thousand_is_walked_whole() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        conversation, at = add_conversation(tx), None
        for number in range(20_000):
            at = add_message(tx, conversation, at, str(number))
        assert at is not None
        assert walk.reaches_root(tx, Spot(at))
        assert len(walk.messages(tx, Spot(at))) == 20_000


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"])
def test_d10_a_network_file_system_is_refused_with_the_way_that_works(tmp_path: Path, kind: str) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"1 0 0:1 / / rw - ext4 disk rw\n2 1 0:2 / {tmp_path.resolve()}/far rw - {kind} host:/ rw\n")
    with pytest.raises(StoreUnusable) as caught:
        filesystem.refuse_network(tmp_path / "far" / "forkwood", mounts)
    assert caught.value.facts["file_system"] == kind
    assert "a disk of this machine" in caught.value.hint
    filesystem.refuse_network(tmp_path / "near", mounts)


def test_d12_two_programs_that_hold_the_same_tree_only_ever_add_to_it(home: Path) -> None:
    """A loads a tree, B appends a message, A appends to what it has loaded: all three are there."""
    first = opened(home)
    loaded = fill(first, 2)
    second = opened(home)
    with second.write() as tx:
        add_message(tx, 1, loaded[-1], "by B")
    with first.write() as tx:
        add_message(tx, 1, loaded[-1], "by A")
    assert texts(first) == texts(second) == ["word 0", "word 1", "by B", "by A"]
    for statement in ("DELETE FROM node", "UPDATE node SET parts = '[]'", "DELETE FROM event"):
        with pytest.raises(apsw.ConstraintError), first.write() as tx:
            tx.run(statement)


def test_any_sqlite_reads_the_file(home: Path) -> None:
    store = opened(home)
    fill(store, 2)
    store.close()
    plain = sqlite3.connect(home / "forkwood.db")
    rows = plain.execute("SELECT parts ->> '$[0].text' FROM node").fetchall()
    assert rows == [("word 0",), ("word 1",)]
    assert plain.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    plain.close()
