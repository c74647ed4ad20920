"""Undo and redo of each kind of act, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forkwood.domain.errors import Conflict
from forkwood.domain.message import Origin, Text
from forkwood.domain.run_event import RunDriven
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.runtime.undoing import Undoing
from forkwood.store import append, log, runs
from tests.runtime.doors import door, said, texts


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = door(settings=Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    return runtime


def everything(runtime: Runtime) -> tuple[object, ...]:
    """All that an act can change, as a reader meets it."""
    here = runtime.listed() and runtime.conversation()
    row = here and (here.title, here.head, here.model, here.system, here.params, here.tools_off, here.tags, here.hidden)
    hidden = {node.id for node in runtime.trash().nodes}
    with runtime.house.store.read() as tx:
        labels = tx.rows("SELECT conversation, name, node FROM label ORDER BY 1, 2")
        trash = tx.rows("SELECT seq, hidden FROM conversation")
    return row, hidden, labels, trash


ACTS: dict[str, Callable[[Runtime, list[str]], object]] = {
    "send": lambda runtime, _: runtime.send("more", run=False),
    "send and run": lambda runtime, _: runtime.send("more"),
    "edit": lambda runtime, ids: runtime.edit(ids[1], "a1'"),
    "keep": lambda runtime, ids: runtime.edit(ids[1], "a1'", keep=True),
    "retry": lambda runtime, ids: runtime.retry(ids[1]),
    "drop": lambda runtime, ids: runtime.drop(ids[1]),
    "switch": lambda runtime, ids: runtime.switch(ids[0], here=True),
    "hide": lambda runtime, ids: runtime.hide(ids[1]),
    "label": lambda runtime, ids: runtime.label(ids[1], "x y"),
    "set": lambda runtime, _: runtime.set("temperature", "1"),
    "set tools": lambda runtime, _: runtime.set("tools", "-current_time"),
    "set system": lambda runtime, _: runtime.set("system", "Be brief."),
    "hide conversation": lambda runtime, _: runtime.hide(runtime.conversation().id),
    "new": lambda runtime, _: runtime.new(title="another"),
    "fork": lambda runtime, ids: runtime.fork(ids[1]),
}
"""Acts after which undo gives back exactly what was before (`new` and `fork` leave theirs in the trash)."""


@pytest.mark.parametrize("name", ACTS)
def test_undo_takes_back_and_redo_brings_back(runtime: Runtime, name: str) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    before = everything(runtime)
    ACTS[name](runtime, ids)
    after = everything(runtime)
    assert before != after
    runtime.undo()
    if name in {"new", "fork"}:
        assert len(runtime.trash().conversations) == 1
    else:
        assert everything(runtime) == before
    runtime.redo()
    assert everything(runtime) == after


def test_undo_cancels_the_run_that_the_act_began(runtime: Runtime) -> None:
    [run] = runtime.send("hello").runs
    runtime.undo()
    assert texts(runtime) == []
    assert [(one.id, one.status) for one in runtime.runs()] == [(run, "cancelled")]
    runtime.redo()
    assert texts(runtime) == ["hello"]
    assert [one.status for one in runtime.runs()] == ["cancelled"]


def test_undo_ends_a_run_whose_driver_died(runtime: Runtime) -> None:
    [run] = runtime.send("hello").runs
    with runtime.house.store.write() as tx:
        tx.run("UPDATE run SET driver = 'of the dead', takeover = 1")
        log.write(
            tx, RunDriven(driver="of the dead", number=1), who=runtime.house.who, now_ms=1, conversation=1, run=run
        )
    runtime.undo()
    assert [one.status for one in runtime.runs()] == ["cancelled"]


def test_that_a_run_is_to_end_is_said_in_the_act_that_undoes_it(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies right behind the act leaves no run that goes on."""
    [run] = runtime.send("hello").runs
    monkeypatch.setattr(Undoing, "_end", lambda *_: None)
    runtime.undo()
    asked = [event for event in runtime.log() if event.run == run and event.kind == "cancel.asked"]
    assert len(asked) == 1


def test_a_mark_that_another_conversation_took_away_is_not_brought_back(runtime: Runtime) -> None:
    here = runtime.conversation().id
    [node] = said(runtime, "q1")
    runtime.fork(node, title="a fork")
    runtime.hide(node, conversation=here)
    runtime.unhide(node)
    event = runtime.undo(conversation=here)
    assert event.payload["effects"] == [], "there was no mark any more"
    runtime.redo(conversation=here)
    assert runtime.trash().nodes == ()


def test_undo_of_an_undo_is_redo_and_not_undo(runtime: Runtime) -> None:
    said(runtime, "q1", "a1", "q2")
    runtime.undo()
    runtime.undo()
    assert texts(runtime) == ["q1"]
    event = runtime.undo()
    assert (texts(runtime), event.kind, event.payload["kind"]) == ([], "act.undone", "message.sent")


def test_redo_is_refused_once_another_act_came(runtime: Runtime) -> None:
    said(runtime, "q1", "a1")
    runtime.undo()
    runtime.send("other", role="assistant")
    with pytest.raises(Conflict, match=r"nothing to redo: no undo came after the last act of this conversation$"):
        runtime.redo()
    assert texts(runtime) == ["q1", "other"]


def test_with_nothing_done_there_is_nothing_to_undo(runtime: Runtime) -> None:
    runtime.undo()
    with pytest.raises(Conflict, match="nothing left to undo"):
        runtime.undo()
    runtime.redo()
    with pytest.raises(Conflict, match="nothing to redo"):
        runtime.redo()


def test_acts_of_other_conversations_are_not_taken_back(runtime: Runtime) -> None:
    first = runtime.conversation().id
    said(runtime, "here")
    runtime.new(title="other")
    said(runtime, "there")
    runtime.undo(conversation=first)
    assert [entry.node.text for entry in runtime.path(conversation=first)] == []
    assert texts(runtime) == ["there"]


def test_coming_back_to_a_run_that_went_on_comes_back_to_its_tip(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    [run] = runtime.send("q2").runs
    runtime.switch(ids[0], here=True)
    with runtime.house.store.write() as tx:
        tip = runs.tip(tx, run)
        reply = append.add_message(
            tx, id="a" * 32, conversation=1, at=tip, role="assistant", parts=(Text(text="a2"),),
            origin=Origin(by="model", via="cli"), now_ms=1,
        )  # fmt: skip
        tx.run("UPDATE run SET tip_node = ? WHERE id = ?", (reply, bytes.fromhex(run)))
    runtime.undo()
    assert texts(runtime) == ["q1", "a1", "q2", "a2"]


def test_earlier_values_stay_readable(runtime: Runtime) -> None:
    runtime.set("system", "first")
    runtime.set("system", "second")
    runtime.undo()
    effects = [event.payload["effects"] for event in runtime.log() if event.kind == "setting.changed"]
    assert [[(one["before"], one["after"]) for one in act] for act in effects] == [
        [(None, "first")],
        [("first", "second")],
    ]
    assert runtime.conversation().system == "first"
