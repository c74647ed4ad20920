"""Transactions: a write begins as a write, a read cannot write, and what the file cannot do is said."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.store.db import Store
from forkwood.store.migrations import SCHEMA_VERSION
from tests.store.breaking import broken
from tests.store.seeds import add_conversation, add_message, fill, opened, texts


def count(store: Store) -> int:
    with store.read() as tx:
        found: int = tx.value("SELECT count(*) FROM conversation")
        return found


def test_a_write_is_there_after_it_and_gone_after_an_exception() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        add_conversation(tx, 1)
    with pytest.raises(apsw.ConstraintError), store.write() as tx:
        assert [add_conversation(tx, number) for number in (2, 1)]
    assert count(store) == 1


def test_a_read_cannot_write_and_the_next_write_can() -> None:
    store = Store.in_memory()
    with store.read() as tx:
        assert not tx.writes
        with pytest.raises(apsw.ReadOnlyError):
            add_conversation(tx)
    with store.write() as tx:
        assert tx.writes
        add_conversation(tx)
    assert count(store) == 1


def test_transactions_do_not_nest() -> None:
    store = Store.in_memory()
    with store.write(), pytest.raises(AssertionError, match="one transaction"), store.read():
        pass
    with store.write() as tx:
        add_conversation(tx)
    assert count(store) == 1


def test_a_write_holds_the_right_to_write_from_its_first_moment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "busy_ms", 20)
    first, second = opened(home), opened(home)
    with first.write(), pytest.raises(StoreUnusable) as caught, second.write():
        pytest.fail("two writers at once")
    assert caught.value.facts == {"reason": "locked", "path": str(home / "forkwood.db")}
    assert "locked by another process" in caught.value.message
    with second.write() as tx:
        add_conversation(tx)


def test_a_read_sees_one_state_throughout(home: Path) -> None:
    reader, writer = opened(home), opened(home)
    with reader.read() as tx:
        with writer.write() as other:
            add_conversation(other)
        assert tx.value("SELECT count(*) FROM conversation") == 0
    assert count(reader) == 1


def test_a_store_that_a_newer_program_has_migrated_meanwhile_is_let_go(home: Path) -> None:
    store, newer = opened(home), apsw.Connection(str(home / "forkwood.db"))
    newer.execute("PRAGMA user_version = 7")
    for door in (store.read, store.write):
        with pytest.raises(StoreUnusable) as caught, door():
            pytest.fail("an unknown version was used")
        assert (caught.value.facts["version"], caught.value.facts["known"]) == (7, SCHEMA_VERSION)


def test_what_holds_for_every_connection(home: Path) -> None:
    store = opened(home)
    with store.read() as tx:
        found = {
            name: tx.value(f"PRAGMA {name}") for name in ("foreign_keys", "secure_delete", "synchronous", "temp_store")
        }
        assert found == {"foreign_keys": 1, "secure_delete": 1, "synchronous": 2, "temp_store": 2}
        assert tx.value("PRAGMA journal_mode") == "wal"
        assert tx.value("PRAGMA busy_timeout") == limits.busy_ms
        assert tx.value("PRAGMA recursive_triggers") == 1


@pytest.mark.parametrize("given", [limits.seq_max, limits.seq_max + 1, (1 << 63) - 1])
def test_out_of_numbers_the_store_is_damaged_and_the_disk_not_full(home: Path, given: int) -> None:
    store = opened(home)
    fill(store, 1)
    broken(home, f"UPDATE sqlite_sequence SET seq = {given} WHERE name = 'node'")
    with pytest.raises(StoreUnusable, match="table node claims to have given number") as caught, store.write() as tx:
        add_message(tx, 1, 1, "one too many")
    assert (caught.value.facts["reason"], "doctor --repair" in caught.value.hint) == ("corrupt", True)
    assert texts(store) == ["word 0"]


def test_a_row_that_is_in_the_way_of_every_new_one_is_damage(home: Path) -> None:
    store = opened(home)
    fill(store, 2)
    broken(home, "UPDATE conversation SET seq = -1")
    with pytest.raises(StoreUnusable, match="a row has a number that is never given"), store.write() as tx:
        add_conversation(tx, 2)


def test_the_last_number_is_given(home: Path) -> None:
    store = opened(home)
    fill(store, 1)
    broken(home, f"UPDATE sqlite_sequence SET seq = {limits.seq_max - 1} WHERE name = 'node'")
    with store.write() as tx:
        add_message(tx, 1, 1, "the last")
    assert len(texts(store)) == 2


def moved(home: Path) -> None:
    home.rename(home.with_name("elsewhere"))


def deleted(home: Path) -> None:
    (home / "forkwood.db").unlink()


def replaced(home: Path) -> None:
    fill(opened(home.with_name("other")), 1)
    shutil.copy(home.with_name("other") / "forkwood.db", home / "copy")
    (home / "copy").replace(home / "forkwood.db")


@pytest.mark.parametrize("lost", [moved, deleted, replaced])
def test_a_file_that_is_no_longer_in_its_place_is_not_written_to(home: Path, lost: Callable[[Path], None]) -> None:
    store = opened(home)
    fill(store, 2)
    lost(home)
    with pytest.raises(StoreUnusable, match="no longer the file that was opened") as caught, store.write():
        pytest.fail("nobody would ever read it")
    assert caught.value.facts == {"reason": "moved", "path": str(home / "forkwood.db")}
    assert "what was written before is in that file" in caught.value.hint
    with pytest.raises(StoreUnusable, match="no longer the file that was opened"):
        store.beside()
    assert texts(store) == ["word 0", "word 1"]


def test_a_checkpoint_empties_the_log_unless_a_reader_is_in_the_way(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "busy_ms", 20)
    store, other = opened(home), opened(home)
    fill(store)
    with other.read() as tx:
        tx.value("SELECT count(*) FROM node")
        with store.write() as changed:
            add_conversation(changed, 9)
        assert not store.checkpoint()
    assert store.checkpoint()
    assert (home / "forkwood.db-wal").stat().st_size == 0


def test_vacuum_keeps_everything(home: Path) -> None:
    store = opened(home)
    fill(store, 5)
    before = texts(store)
    store.vacuum()
    assert texts(store) == before
    assert len(before) == 5


def test_rows_come_one_by_one_or_all_at_once() -> None:
    store = Store.in_memory()
    fill(store, 3)
    with store.read() as tx:
        sql = "SELECT seq FROM node ORDER BY seq"
        assert list(tx.each(sql)) == tx.rows(sql) == [(1,), (2,), (3,)]
        assert tx.one(sql) == (1,)
        assert tx.one("SELECT 1 WHERE 0") is None
        assert tx.value("SELECT 1 WHERE 0") is None


def test_changes_counts_the_last_statement() -> None:
    store = Store.in_memory()
    fill(store, 1)
    with store.write() as tx:
        tx.run("UPDATE conversation SET title = 'x'")
        assert tx.changes() == 1
        tx.run("UPDATE conversation SET title = 'x' WHERE 0")
        assert tx.changes() == 0


GARBLED = "UPDATE conversation SET title = CAST(x'61e561' AS TEXT)"
OF_ANOTHER_TYPE = (
    "PRAGMA writable_schema = ON",
    "UPDATE sqlite_schema SET sql = replace(sql, 'id BLOB', 'id INTEGER')",
)


def test_text_that_is_none_is_damage(home: Path) -> None:
    fill(opened(home))
    broken(home, GARBLED)
    with pytest.raises(StoreUnusable, match="a row cannot be read") as caught, opened(home).read() as tx:
        tx.rows("SELECT title FROM conversation")
    assert caught.value.facts["reason"] == "corrupt"


INSERT = """INSERT INTO conversation (id, title, titled_by, created_ms, updated_ms, approvals)
  SELECT zeroblob(16), 't', 'rule', 1, 1, column1 FROM (VALUES"""


@pytest.mark.parametrize(
    ("word", "garbled", "statement"),
    [
        (b"json_valid(params)", b"Json_balid(params)", f"{INSERT} ('ask'))"),
        (b"'ask', 'allow", b"'asp', 'allow", f"{INSERT} ('ask'))"),
    ],
)
def test_a_garbled_schema_is_damage(home: Path, word: bytes, garbled: bytes, statement: str) -> None:
    opened(home).close()
    path = home / "forkwood.db"
    path.write_bytes(path.read_bytes().replace(word, garbled))
    with pytest.raises(StoreUnusable, match="is damaged") as caught, opened(home).write() as tx:
        tx.run(statement)
    assert caught.value.facts["reason"] == "corrupt"


def test_what_a_rule_stumbles_over_in_a_damaged_file_is_damage_and_elsewhere_a_mistake(home: Path) -> None:
    fill(opened(home), 300)
    with pytest.raises(AttributeError), opened(home).read():
        raise AttributeError
    path = home / "forkwood.db"
    path.write_bytes(path.read_bytes()[: -10 * 4096] + bytes(10 * 4096))
    with pytest.raises(StoreUnusable, match="is damaged") as caught, opened(home).read():
        raise AttributeError
    assert caught.value.facts["reason"] == "corrupt"
