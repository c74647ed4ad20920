"""Rescued rows that lost their neighbours: what is made up for, what is taken out, and that both are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from forkwood.store import aside, runs, verify
from forkwood.store.book_checks import mend_schema
from forkwood.store.db import Store
from forkwood.store.rejoin import rejoin
from forkwood.store.rescue import Found
from tests.store.breaking import broken, nobody
from tests.store.richness import RUN, rich
from tests.store.seeds import ME, NOW, opened


class Case(Struct, frozen=True):
    name: str
    lost: tuple[str, ...]
    nodes: int
    told: frozenset[str]


NAMED = """UPDATE event SET payload = json_object('settings', json('{}'), 'effects', json_array(json_object(
    'effect', 'trash', 'hidden', json('true'),
    'conversation', (SELECT lower(hex(id)) FROM conversation WHERE seq = 7))))
  WHERE seq = 1"""
CASES = [
    Case("nothing", (), 66, frozenset()),
    Case("a leaf", ("DELETE FROM node WHERE seq = 60",), 65, frozenset({"node", "event", "conversation"})),
    Case("an older version", ("UPDATE node SET revises = 60 WHERE seq = 66", "DELETE FROM node WHERE seq = 60"), 65,
         frozenset({"node", "event", "conversation"})),
    Case("both conversations", ("DELETE FROM conversation",), 66, frozenset({"conversation"})),
    Case("one, whose name another has", ("UPDATE conversation SET seq = 7 WHERE seq = 1", NAMED), 66,
         frozenset({"conversation"})),
    Case("the run", ("DELETE FROM run",), 66, frozenset({"run"})),
    Case("the marks", ("DELETE FROM mark",), 66, frozenset()),
    Case("the attachments", ("DELETE FROM attachment",), 66, frozenset()),
    Case("the labels", ("DELETE FROM label",), 66, frozenset()),
]  # fmt: skip


def rejoined(home: Path, lost: tuple[str, ...], side: Path) -> Store:
    rich(home)
    broken(home, *lost)
    store = opened(home)
    with store.write() as tx:
        tx.run("PRAGMA defer_foreign_keys = ON")
        for (trigger,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            tx.run(f"DROP TRIGGER {trigger}")
        with aside.opened(side) as left:
            rejoin(tx, Found(highest=dict(tx.rows("SELECT name, seq FROM sqlite_sequence"))), left, now_ms=NOW, who=ME)
        mend_schema(tx)
    verify.mend(store)
    return store


def value(store: Store, sql: str, *args: object) -> Any:
    with store.read() as tx:
        return tx.value(sql, args)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_left_is_a_whole_store(home: Path, tmp_path: Path, case: Case) -> None:
    side = tmp_path / "side.jsonl"
    store = rejoined(home, case.lost, side)
    assert verify.examine(store, nobody).problems == ()
    assert value(store, "SELECT count(*) FROM node") == case.nodes
    told = side.read_text() if side.exists() else ""
    assert {table for table in ("node", "event", "conversation", "run") if f'"table":"{table}"' in told} == case.told


def test_a_lost_run_is_told_again_by_its_events(home: Path, tmp_path: Path) -> None:
    rich(home.with_name("whole"))
    whole = opened(home.with_name("whole"))
    store = rejoined(home, ("DELETE FROM run",), tmp_path / "side.jsonl")
    with store.read() as tx, whole.read() as other:
        assert runs.row(tx, RUN) == runs.row(other, RUN)


def test_what_was_hidden_stays_hidden_and_what_was_shown_again_stays_shown(home: Path, tmp_path: Path) -> None:
    store = rejoined(home, ("DELETE FROM mark",), tmp_path / "side.jsonl")
    assert value(store, "SELECT node FROM mark WHERE until IS NULL") == 4
