"""Pains of other programs' users that are the store's to spare: 4, 5, 8, 9, 11, 12, 13. (7 and 10: tests/crash.)"""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain.errors import StoreUnusable
from forkwood.domain.tree import Node
from forkwood.store import doctor, migrations, nodes, verify
from forkwood.store.db import Store
from tests.store.breaking import nobody
from tests.store.richness import rich
from tests.store.seeds import ME, NOW, add_conversation, add_message, fill, opened, texts

TEN_YEARS_MS = 10 * 365 * 86_400_000


def tree(store: Store) -> list[Node]:
    with store.read() as tx:
        return nodes.of_conversation(tx, 1)


@given(places=st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_pain_4_a_tree_reads_the_same_after_a_restart(
    tmp_path_factory: pytest.TempPathFactory, places: list[float]
) -> None:
    """One link is stored, from child to parent; nothing else could get lost."""
    home = tmp_path_factory.mktemp("home")
    store = opened(home)
    with store.write() as tx:
        add_conversation(tx)
        for number, place in enumerate(places):
            add_message(tx, 1, round(place * number) or None, str(number))
    before = tree(store)
    store.close()
    again = opened(home)
    assert tree(again) == before
    assert len(before) == len(places)
    assert verify.examine(again, nobody).problems == ()
    again.close()


@pytest.mark.parametrize(
    "row",
    [
        """INSERT INTO node (id, conversation, at_node, role, parts, own, length, hops, by, via, created_ms)
           VALUES (zeroblob(16), 1, 999, 'user', '[]', 1, 1000, 1, 'user', 'cli', 0)""",
        "INSERT INTO event (at_ms, kind, node, by, via, act, payload) VALUES (0, 'x', 999, 'user', 'cli', 0, '{}')",
        "INSERT INTO label (conversation, name, node) VALUES (1, 'x', 999)",
        "UPDATE conversation SET head_node = 999",
    ],
    ids=["parent", "event", "label", "head"],
)
def test_pain_5_nothing_can_point_at_a_row_that_was_never_written(row: str) -> None:
    store = Store.in_memory()
    fill(store, 2)
    with pytest.raises(apsw.ConstraintError), store.write() as tx:
        tx.run(row)
    assert texts(store) == ["word 0", "word 1"]


def test_pain_8_a_read_that_fails_never_becomes_a_write(home: Path) -> None:
    store = opened(home)
    fill(store, 300, words="words to fill some pages " * 8)
    store.close()
    path = home / "forkwood.db"
    content = bytearray(path.read_bytes())
    content[-20 * 4096 :] = b"\xa5" * 20 * 4096
    path.write_bytes(content)
    store = opened(home)
    with pytest.raises(StoreUnusable) as caught:
        texts(store)
    assert caught.value.facts["reason"] == "corrupt"
    store.close()
    assert path.read_bytes() == content


def test_pain_9_what_one_message_writes_does_not_grow_with_the_conversation(home: Path) -> None:
    store = opened(home)
    fill(store, 100)
    early = bytes_of_twenty(store, home)
    with store.write() as tx:
        at = tx.value("SELECT max(seq) FROM node")
        for number in range(20_000):
            at = add_message(tx, 1, at, f"word {number}")
    late = bytes_of_twenty(store, home)
    assert late <= early * 1.5


def bytes_of_twenty(store: Store, home: Path) -> int:
    """What twenty messages, each committed, add to the write-ahead log."""
    with store.read() as tx:
        at = tx.value("SELECT max(seq) FROM node")
    assert store.checkpoint()
    for number in range(20):
        with store.write() as tx:
            at = add_message(tx, 1, at, f"word {number}")
    return (home / "forkwood.db-wal").stat().st_size


def test_pain_11_a_corrupt_file_is_never_overwritten(home: Path) -> None:
    rich(home)
    path = home / "forkwood.db"
    damaged = b"\0" * 4096 + path.read_bytes()[4096:]
    path.write_bytes(damaged)
    for _ in range(2):
        with pytest.raises(StoreUnusable):
            opened(home)
    assert path.read_bytes() == damaged
    assert doctor.repair(home, now_ms=NOW, who=ME, driven=nobody).ok
    assert damaged in [file.read_bytes() for file in home.glob("*.corrupt-*")]


def test_pain_12_a_program_that_has_the_store_open_while_a_newer_one_migrates_it_lets_go(home: Path) -> None:
    store, newer = opened(home), apsw.Connection(str(home / "forkwood.db"))
    fill(store, 1)
    newer.pragma("user_version", migrations.SCHEMA_VERSION + 1)
    with pytest.raises(StoreUnusable) as caught:
        texts(store)
    assert caught.value.facts["reason"] == "version"
    assert "start it anew" in caught.value.hint


def test_pain_13_time_destroys_nothing(home: Path) -> None:
    rich(home)
    store = opened(home)
    before = texts(store), tree(store)
    store.close()
    doctor.repair(home, now_ms=NOW + TEN_YEARS_MS, who=ME, driven=nobody)
    store = opened(home)
    assert (texts(store), tree(store)) == before
