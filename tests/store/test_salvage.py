"""A broken store becomes a whole one that holds every row still readable; the old file is kept, nothing is silent."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.tree import Spot
from forkwood.store import doctor, entries
from forkwood.store.db import Store
from forkwood.store.pages import PAGE_BYTES, Pages, table_rows
from forkwood.store.salvage import in_nobodys_use, salvage
from forkwood.store.verify import Report
from tests.store.breaking import broken
from tests.store.richness import rich
from tests.store.seeds import ME, NOW, add_message, fill, opened, texts

BROKEN = b"\xa5" * PAGE_BYTES


class Case(Struct, frozen=True):
    name: str
    offset: int
    content: bytes


PLACES = "SELECT seq, id, at_node, at_cut, length, hops, jump_node FROM node ORDER BY seq"
BEGINNINGS = [
    Case("magic", 0, bytes(16)),
    Case("header", 0, bytes(100)),
    Case("after the magic", 16, b"\xff" * 84),
    Case("first page", 0, BROKEN),
    Case("table of tables", 100, b"\x5a" * (PAGE_BYTES - 100)),
]


def held(home: Path) -> dict[str, list[tuple[Any, ...]]]:
    """A rich store of HOME; what is in it."""
    rich(home)
    store = opened(home)
    try:
        return contents(store)
    finally:
        store.close()


TABLES = (
    "conversation",
    "node",
    "event",
    "run",
    "manifest",
    "mark",
    "label",
    "receipt",
    "blob",
    "attachment",
    "current",
)


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    with store.read() as tx:
        return {table: tx.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES}


def write_at(path: Path, offset: int, content: bytes) -> bytes:
    with path.open("rb+") as file:
        file.seek(offset)
        file.write(content)
    return path.read_bytes()


def nobody(driver: str) -> bool:
    return False


def repaired(home: Path) -> Report:
    return doctor.repair(home, now_ms=NOW, who=ME, driven=nobody)


def side_lines(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in home.glob("salvage-*.jsonl") for line in file.read_text().splitlines()]


def pages_of(path: Path, columns: int) -> list[tuple[int, list[int]]]:
    """The leaf pages of the table with so many columns, and the rowids on each."""
    pages = Pages(path, Path(f"{path}-wal"))
    found: dict[int, list[int]] = {}
    for row in table_rows(pages):
        if row.values is not None and len(row.values) == columns:
            found.setdefault(row.page, []).append(row.rowid)
    pages.close()
    return list(found.items())


@pytest.mark.parametrize("case", BEGINNINGS, ids=lambda case: case.name)
def test_d4_a_broken_beginning_costs_nothing(home: Path, case: Case) -> None:
    before, path = held(home), home / "forkwood.db"
    old = write_at(path, case.offset, case.content)
    report = repaired(home)
    assert report.problems == ()
    assert report.ok
    assert (home / "forkwood.db.corrupt-2026-02-02T02-40-00-000Z").read_bytes() == old
    after = contents(opened(home))
    for table in ("conversation", "node", "run", "manifest", "blob", "attachment", "current", "mark"):
        assert after[table] == before[table], table
    assert after["event"][:-1] == before["event"]
    assert after["event"][-1][2] == "store.salvaged"


def test_a_beginning_whose_tables_are_known_keeps_labels_and_receipts_too(home: Path) -> None:
    before = held(home)
    write_at(home / "forkwood.db", 0, bytes(100))
    repaired(home)
    after = contents(opened(home))
    assert (after["label"], after["receipt"]) == (before["label"], before["receipt"])
    assert side_lines(home) == []


def test_a_broken_page_of_messages_costs_these_alone_and_says_so(home: Path) -> None:
    before, path = held(home), home / "forkwood.db"
    store = opened(home)
    with store.read() as tx:
        places = tx.rows(PLACES)
    store.close()
    broken, lost = pages_of(path, columns_of_node())[3]
    write_at(path, (broken - 1) * PAGE_BYTES, BROKEN)
    report = repaired(home)
    assert report.ok, report.problems
    store = opened(home)
    after = {row[0]: row for row in contents(store)["node"]}
    assert [row for row in before["node"] if row[0] not in lost] == [after[seq] for seq in after if seq not in lost]
    with store.read() as tx:
        husks = tx.rows("SELECT seq FROM node WHERE purged = 1 AND parts = '[]' ORDER BY seq")
        assert [seq for (seq,) in husks] == lost
        assert tx.rows(PLACES) == places
        assert tx.value("SELECT payload ->> '$.lost' FROM event WHERE kind = 'store.salvaged'") == len(lost)
        head = tx.value("SELECT head_node FROM conversation WHERE seq = 1")
        path_read = entries.entries(tx, Spot(head))
    assert [entry.node.seq for entry in path_read if entry.node.seq != 4] == [seq for seq in range(1, 61) if seq != 4]
    notices = {entry.node.seq: entry.notices[0].text for entry in path_read if entry.notices}
    assert notices == dict.fromkeys(lost, "what stood here was lost when the store was damaged")
    assert side_lines(home) == [{"table": "node", "why": "unreadable", "first": lost[0], "last": lost[-1]}]


def columns_of_node() -> int:
    store = Store.in_memory()
    with store.read() as tx:
        return len(tx.rows("PRAGMA table_info(node)"))


def test_messages_of_a_conversation_whose_row_is_lost_are_kept(home: Path) -> None:
    before, path = held(home), home / "forkwood.db"
    store = opened(home)
    with store.read() as tx:
        columns = len(tx.rows("PRAGMA table_info(conversation)"))
    store.close()
    ((page, _),) = pages_of(path, columns)
    write_at(path, (page - 1) * PAGE_BYTES, BROKEN)
    report = repaired(home)
    assert report.ok, report.problems
    store = opened(home)
    assert contents(store)["node"] == before["node"]
    with store.read() as tx:
        titles = [row[0] for row in tx.rows("SELECT title FROM conversation ORDER BY seq")]
    assert titles == ["salvaged conversation 1", "salvaged conversation 2"]
    assert [line["why"] for line in side_lines(home) if line.get("kept")] == [
        "only its messages are left: title and settings are lost"
    ] * 2


def test_what_stands_only_in_the_log_is_saved_and_the_log_kept_with_the_old_file(home: Path, tmp_path: Path) -> None:
    store = opened(home)
    fill(store, 5)
    crashed = tmp_path / "crashed"
    shutil.copytree(home, crashed)
    os.truncate(crashed / "forkwood.db", 0)
    write_at(crashed / "forkwood.db", 0, b"\xff" * 50)
    repaired(crashed)
    assert texts(opened(crashed)) == texts(store)
    names = {file.name for file in crashed.iterdir()}
    assert {"forkwood.db.corrupt-2026-02-02T02-40-00-000Z", "forkwood.db.corrupt-2026-02-02T02-40-00-000Z-wal"} <= names


def test_a_salvage_that_was_killed_after_moving_the_log_finds_it(home: Path, tmp_path: Path) -> None:
    store = opened(home)
    fill(store, 5)
    crashed = tmp_path / "crashed"
    shutil.copytree(home, crashed)
    path = crashed / "forkwood.db"
    write_at(path, 0, bytes(100))
    os.link(path, crashed / "forkwood.db.corrupt-before")
    (crashed / "forkwood.db-wal").rename(crashed / "forkwood.db.corrupt-before-wal")
    (crashed / "forkwood.db-shm").unlink()
    repaired(crashed)
    assert texts(opened(crashed)) == texts(store)


def test_a_number_that_was_given_is_not_given_again(home: Path) -> None:
    rich(home)
    path = home / "forkwood.db"
    page, lost = pages_of(path, columns_of_node())[-1]
    write_at(path, (page - 1) * PAGE_BYTES, BROKEN)
    repaired(home)
    store = opened(home)
    with store.write() as tx:
        assert add_message(tx, 1, None, "new") > max(lost)


def pages_of_schema(path: Path) -> list[int]:
    """The pages on which the table of tables stands, but for the first."""
    return sorted({page for page, _ in pages_of(path, 5) if page > 1})


@pytest.mark.parametrize("which", [0, 1, -1])
def test_a_lost_page_of_the_table_of_tables_costs_no_message(home: Path, which: int) -> None:
    before, path = held(home), home / "forkwood.db"
    write_at(path, (pages_of_schema(path)[which] - 1) * PAGE_BYTES, bytes(PAGE_BYTES))
    report = repaired(home)
    assert report.ok, report.problems
    after = contents(opened(home))
    for table in (
        "conversation",
        "node",
        "run",
        "manifest",
        "blob",
        "attachment",
        "current",
        "mark",
        "label",
        "receipt",
    ):
        assert after[table] == before[table], table


@pytest.mark.parametrize("given", [(1 << 63) - 1, (1 << 63) - 8, limits.seq_max + 1, 10**6, 0])
def test_whatever_the_numbers_given_are_said_to_be_there_are_numbers_left(home: Path, given: int) -> None:
    rich(home)
    broken(home, f"UPDATE sqlite_sequence SET seq = {given}", "UPDATE manifest SET body = '{}'")
    assert repaired(home).ok
    store = opened(home)
    with store.write() as tx:
        assert add_message(tx, 1, None, "new") < limits.seq_max
        assert add_message(tx, 1, None, "newer") < limits.seq_max


def test_of_text_that_is_none_the_rest_is_kept_and_what_it_was_told(home: Path) -> None:
    before, path = held(home), home / "forkwood.db"
    content = path.read_bytes()
    write_at(path, content.index(b"a message long enough for a page to hold only few of them") + 3, b"\xe5")
    report = repaired(home)
    assert report.ok, report.problems
    after = contents(opened(home))
    (one,) = [row for row, other in zip(after["node"], before["node"], strict=True) if row != other]
    assert "\ufffd" in one[-1]
    assert [(line["table"], line["why"]) for line in side_lines(home)] == [("node", "not readable as it was: parts")]


def test_of_a_message_that_cannot_be_read_the_place_is_kept(home: Path) -> None:
    before, path = held(home), home / "forkwood.db"
    content = path.read_bytes()
    write_at(path, content.index(b'"kind":"text","text":"a message long enough') + 8, b"dong")
    report = repaired(home)
    assert report.ok, report.problems
    after = contents(opened(home))
    assert [row[0] for row in after["node"]] == [row[0] for row in before["node"]]
    assert sum(row[-1] == "[]" for row in after["node"]) == 1
    assert [(line["table"], line["why"]) for line in side_lines(home)] == [("node", "unreadable: parts")]


def test_what_is_attached_and_lost_says_so(home: Path) -> None:
    rich(home)
    broken(home, "UPDATE blob SET bytes = zeroblob(size)")
    assert repaired(home).ok
    store = opened(home)
    with store.read() as tx:
        assert tx.rows("SELECT parts ->> '$[1].state' FROM node WHERE instr(parts, 'attachment')") == [("removed",)]
        assert tx.rows("SELECT * FROM blob") == []


@pytest.mark.parametrize("content", [b"dear diary " * 900, bytes(9 * PAGE_BYTES)], ids=["words", "zeroes"])
def test_what_never_was_a_store_is_left_where_it_is(home: Path, content: bytes) -> None:
    home.mkdir()
    (home / "forkwood.db").write_bytes(content)
    with pytest.raises(StoreUnusable) as caught:
        repaired(home)
    assert caught.value.facts["reason"] == "foreign"
    assert {file.name: file.read_bytes() for file in home.iterdir()} == {"forkwood.db": content}


def test_a_store_somebody_writes_to_is_not_salvaged(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "busy_ms", 0)
    store, path = opened(home), home / "forkwood.db"
    with store.write(), pytest.raises(StoreUnusable) as caught, in_nobodys_use(path):
        pytest.fail("it is in use")
    assert caught.value.facts["reason"] == "locked"
    with in_nobodys_use(path):
        pass


def test_nobody_writes_to_a_store_that_is_salvaged(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "busy_ms", 0)
    store, path = opened(home), home / "forkwood.db"
    fill(store, 3)
    with in_nobodys_use(path):
        with pytest.raises(StoreUnusable) as caught, store.write():
            pytest.fail("what is written now would be in the old store alone")
        assert caught.value.facts["reason"] == "locked"
        salvage(path, now_ms=NOW, who=ME)
    new = opened(home)
    with new.write() as tx:
        add_message(tx, 1, 3, "in the new one")
    store.close()
    assert texts(opened(home)) == ["word 0", "word 1", "word 2", "in the new one"]


def test_letting_go_of_the_old_file_leaves_the_log_of_the_new_one(home: Path) -> None:
    store, path = opened(home), home / "forkwood.db"
    fill(store, 3)
    store.close()
    with in_nobodys_use(path):
        salvage(path, now_ms=NOW, who=ME)
        new = opened(home)
        with new.write() as tx:
            add_message(tx, 1, 3, "only in the log")
    assert Path(f"{path}-wal").exists()
    assert texts(opened(home))[-1] == "only in the log"
