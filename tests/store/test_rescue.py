"""A row is known by its shape, and goes where it belongs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from forkwood.store import aside
from forkwood.store.db import Store
from forkwood.store.pages import Pages, Row, Value
from forkwood.store.rescue import missing, move_rows, shape_of
from tests.store.richness import rich
from tests.store.seeds import add_conversation, opened


class Case(Struct, frozen=True):
    values: list[Value]
    fits: tuple[str, ...]


CASES = [
    Case(["a" * 64, "{}"], ("manifest",)),
    Case(["a" * 64, 3, b"abc"], ("blob",)),
    Case([None, 7], ("current",)),
    Case([None, b"x"], ()),
    Case(["node", 7], ()),
    Case([None, 5, "message.sent", 1, None, None, "user", "cli", 1, "{}"], ("event",)),
    Case([None, 5, "message.sent", None, b"run", 3, "user", "cli", 1, "{}"], ("event",)),
    Case([9, 5, "message.sent", 1, None, None, "user", "cli", 1, "{}"], ()),
    Case([None, 5, None, 1, None, None, "user", "cli", 1, "{}"], ()),
    Case([], ()),
]
TABLES = ("conversation", "node", "event", "run", "current", "manifest", "blob")


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.values))
def test_the_tables_a_row_fits(case: Case) -> None:
    store = Store.in_memory()
    with store.read() as tx:
        assert tuple(table for table in TABLES if shape_of(tx, table).fits(case.values)) == case.fits


def test_a_row_is_named_by_its_columns_with_its_number_in_place() -> None:
    store = Store.in_memory()
    with store.read() as tx:
        shape = shape_of(tx, "current")
        assert shape.named(Row(1, 1, [None, 7])) == {"one": 1, "conversation": 7}
        assert [column.name for column in shape_of(tx, "mark").columns] == ["node", "since", "until"]


def test_no_shape_is_that_of_another_table() -> None:
    store = Store.in_memory()
    with store.read() as tx:
        shapes = [[(column.kind, column.alias) for column in shape_of(tx, table).columns] for table in TABLES]
    assert all(shapes.count(shape) == 1 for shape in shapes)


def test_stretches_of_numbers_that_are_missing() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        for number in range(10):
            add_conversation(tx, number)
        assert list(missing(tx, "conversation", 10)) == []
        assert list(missing(tx, "conversation", 12)) == [(11, 12)]


def test_every_row_of_a_whole_store_is_moved(home: Path, tmp_path: Path) -> None:
    rich(home)
    old, new = opened(home), Store.in_memory()
    counts = "SELECT (SELECT count(*) FROM node), (SELECT count(*) FROM event), (SELECT count(*) FROM receipt)"
    with old.read() as tx:
        before = tx.one(counts)
    old.close()
    pages = Pages(home / "forkwood.db", home / "forkwood.db-wal")
    with aside.opened(tmp_path / "side.jsonl") as left, new.write() as tx:
        tx.run("PRAGMA defer_foreign_keys = ON")
        for (trigger,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            tx.run(f"DROP TRIGGER {trigger}")
        found = move_rows(tx, pages, left)
        assert tx.one(counts) == before
        assert found.highest["node"] == 66
        assert found.schema["node"] > 1
    assert not left.used
    pages.close()
