"""A head that cannot reach a root: each verb that meets the break settles it once, with a notice, and goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from forkwood.domain.errors import NotFound, StoreUnusable
from forkwood.runtime import Runtime
from forkwood.runtime.settling import notice, settled
from forkwood.store.opening import open_store
from tests.runtime.doors import door, said, texts

VERBS: dict[str, Callable[[Runtime, str], object]] = {
    "path": lambda runtime, _: runtime.path(),
    "show": lambda runtime, _: runtime.show("@"),
    "branches": lambda runtime, _: runtime.branches(),
    "history": lambda runtime, _: runtime.history("@~1"),
    "send": lambda runtime, _: runtime.send("on", run=False),
    "edit": lambda runtime, _: runtime.edit("@", "anew", run=False),
    "drop": lambda runtime, _: runtime.drop("@~1"),
    "fork": lambda runtime, _: runtime.fork("@"),
    "hide": lambda runtime, _: runtime.hide("@"),
    "switch": lambda runtime, first: runtime.switch(first, here=True),
}


def damaged(home: Path, *, lost: int) -> tuple[Runtime, list[str]]:
    """q1 a1 q2 a2 with the head behind them, beside them r2 below a1; the LOST-th node of all is deleted by hand."""
    home.mkdir(exist_ok=True)
    runtime = door(open_store(home, now_ms=0))
    runtime.new(title="t")
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.send("r2", at=ids[1], run=False)
    runtime.switch(ids[3])
    runtime.close()
    with sqlite3.connect(home / "forkwood.db") as by_hand:
        by_hand.execute("DROP TRIGGER node_stays")
        by_hand.execute("DELETE FROM node WHERE seq = ?", (lost,))
    by_hand.close()
    again = door(open_store(home, now_ms=0))
    for _ in range(50):
        again.house.new_id()  # a second door would draw the first one's ids again
    return again, ids


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("lost", [4, 3])
def test_a_lost_head_falls_back_to_the_newest_leaf_that_can_be_read(tmp_path: Path, verb: str, lost: int) -> None:
    if lost == 3 and verb in {"send", "edit", "hide", "show", "branches"}:
        return  # these never read above the head: what comes after them does
    runtime, ids = damaged(tmp_path, lost=lost)
    VERBS[verb](runtime, ids[0])
    [repaired] = [event for event in runtime.log() if event.kind == "notice.given"]
    assert (repaired.by, repaired.payload["what"]) == ("system", "repair")
    assert runtime.show("#5").node.id == repaired.node
    assert runtime.notices() == [repaired.payload["text"]]
    assert runtime.notices() == []
    runtime.close()


def test_the_notice_stands_at_the_leaf(tmp_path: Path) -> None:
    runtime, _ = damaged(tmp_path, lost=4)
    [*_, last] = runtime.path()
    assert last.node.text == "r2"
    assert [(told.what, "was broken" in told.text) for told in last.notices] == [("repair", True)]
    assert texts(runtime) == ["q1", "a1", "r2"]
    runtime.close()


def test_a_sound_head_is_left_alone_where_another_path_is_broken(tmp_path: Path) -> None:
    runtime, ids = damaged(tmp_path, lost=3)
    runtime.switch("#5")
    head = runtime.conversation().head
    runtime.notices()
    with pytest.raises(StoreUnusable, match="is broken"):
        runtime.path(ids[3])
    assert runtime.conversation().head == head
    assert runtime.notices() == []
    runtime.close()


def test_with_nothing_left_to_read_the_head_is_on_the_empty_path(tmp_path: Path) -> None:
    runtime, _ = damaged(tmp_path, lost=1)
    assert texts(runtime) == []
    assert runtime.conversation().head is None
    assert runtime.notices() == [notice(None).text]
    runtime.close()


def test_where_no_conversation_is_meant_there_is_no_head_to_settle(tmp_path: Path) -> None:
    runtime, ids = damaged(tmp_path, lost=3)
    with sqlite3.connect(tmp_path / "forkwood.db") as by_hand:
        by_hand.execute("DELETE FROM current")
    by_hand.close()
    with pytest.raises(StoreUnusable, match="is broken"):
        runtime.show(ids[3])
    with pytest.raises(NotFound, match="no current conversation"):
        runtime.path()
    runtime.close()


def test_another_trouble_of_the_store_settles_nothing(tmp_path: Path) -> None:
    runtime, _ = damaged(tmp_path, lost=4)
    tries: list[str] = []

    def full() -> None:
        tries.append("once")
        raise StoreUnusable("the disk is full", reason="full")

    with pytest.raises(StoreUnusable, match="full"):
        settled(runtime.house, None, full)
    assert (tries, runtime.notices()) == (["once"], [])
    assert [event for event in runtime.log() if event.kind == "notice.given"] == []
    runtime.close()
