"""A clock that is set back, again and again: nothing is out of order, nothing grows younger, and the store is sound."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.runtime.house import House
from forkwood.store import verify
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, said, script, texts

HOUR_MS = 3_600_000


@pytest.fixture
def runtime(home: Path) -> Runtime:
    """A door whose clock is set back by an hour whenever it is looked at."""
    ticks, draws = count(NOON, -HOUR_MS), count(1)
    return Runtime(
        House(
            open_store(home, now_ms=NOON),
            Settings(home=str(home), model="scripted:/nowhere.json"),
            {"FORKWOOD_LOCAL_SERVERS": ""},
            "cli",
            clock=lambda: next(ticks),
            chance=lambda size: next(draws).to_bytes(size, "big"),
        )
    )


def is_sound(runtime: Runtime) -> bool:
    return verify.examine(runtime.house.store, lambda _: False).problems == ()


def test_a_conversation_is_as_new_as_it_ever_was(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "a1"}, {"text": "a2"})
    ages = [runtime.new().updated_ms]
    ids = said(runtime, "first words", "b")
    started = runtime.send("q", models=[model])
    assert answered(runtime, started).status == "done"
    for act in (
        lambda: runtime.edit(ids[0], "other first words", keep=True),
        lambda: runtime.set("title", "mine"),
        runtime.undo,
        runtime.redo,
        lambda: runtime.switch(ids[1]),
        lambda: runtime.label(ids[0], "here"),
        lambda: runtime.hide(ids[0]),
        lambda: runtime.unhide(ids[0]),
        lambda: runtime.retry(ids[1], models=[model]),
    ):
        act()
        ages.append(runtime.conversation().updated_ms)
    assert ages == sorted(ages)
    assert runtime.conversation().title == "mine"
    assert [event.seq for event in runtime.log()] == sorted(event.seq for event in runtime.log())
    assert is_sound(runtime)


def test_an_act_that_moves_nothing_makes_its_conversation_newer() -> None:
    runtime = door()
    runtime.new(title="t")
    [node] = said(runtime, "q")
    before = runtime.conversation().updated_ms
    runtime.label(node, "here")
    assert runtime.conversation().updated_ms > before


def test_paths_versions_and_branches_are_in_the_order_in_which_they_came(runtime: Runtime) -> None:
    runtime.new(title="t")
    ids = said(runtime, "q1", "a1", "q2")
    second = runtime.edit(ids[2], "q2 again", run=False).node.id
    third = runtime.edit(second, "q2 once more", run=False).node.id
    assert texts(runtime) == ["q1", "a1", "q2 once more"]
    assert [node.id for node in runtime.history(ids[2])] == [ids[2], second, third]
    assert runtime.path()[-1].siblings.ids == (ids[2], second, third)
    runtime.switch(ids[0])
    assert texts(runtime)[-1] == "q2 once more"
    assert is_sound(runtime)


def test_a_purge_and_a_receipt_hold_by_any_clock(runtime: Runtime) -> None:
    conversation = runtime.new(title="t").id
    ids = said(runtime, "q1", "a1")
    first = runtime.send("once", run=False, key="k")
    assert runtime.send("once", run=False, key="k").node.id == first.node.id
    runtime.fork(ids[0])
    assert runtime.purge([conversation]).conversations == (conversation,)
    assert is_sound(runtime)
