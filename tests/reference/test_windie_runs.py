"""What windie promises of runs, watching and the guard, and how it is held here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.errors import Conflict, Refused
from forkwood.domain.event import KINDS
from forkwood.domain.message import ToolResult
from forkwood.runtime import Runtime
from forkwood.store import log
from forkwood.store.db import Tx
from tests.runtime.askers import Asking, Writer, calls, driven
from tests.runtime.doors import answered, heard, script, texts

STANDS = ("queued", "running", "waiting")
"""How a run that is not over can stand."""


class Scene(Asking):
    """A house whose model answers, or asks for a yes first."""

    def __init__(self, home: Path, folder: Path) -> None:
        super().__init__(home, Writer("edit"))
        self.folder = folder
        self.first = self.door()
        self.first.new(title="t")
        self.plain = script(folder, {"text": "an answer"}, name="plain.json")
        self.asks = script(folder, calls("edit"), {"text": "So."}, name="asks.json")

    def standing(self, how: str, words: str = "Do it") -> str:
        """A run at the head that stands so, and that nobody drives."""
        started = self.first.send(words, models=[self.asks])
        (run,) = started.runs
        if how == "waiting":
            assert answered(self.first, started).status == "waiting"
        elif how == "running":  # as a driver leaves it that is gone
            with self.first.house.store.write() as tx:
                held = self.first.house.engine._taken(tx, run)
                assert held is not None
            self.doors.remove(self.first)
            self.first.close()
            self.first = self.door()
        assert {one.id: one.status for one in self.first.runs()}[run] == how
        return run


@pytest.fixture
def scene(home: Path, tmp_path: Path) -> Iterator[Scene]:
    made = Scene(home, tmp_path)
    yield made
    made.close()


def refusing(patch: pytest.MonkeyPatch, kind: str) -> None:
    """From now on the log takes no event of KIND."""
    write = log.write

    def refuses(tx: Tx, payload: Any, **fields: Any) -> int:
        if KINDS[type(payload)] == kind:
            raise RuntimeError("no room")
        return write(tx, payload, **fields)

    patch.setattr(log, "write", refuses)


def test_windie_60_message_head_and_event_are_one_commit(scene: Scene) -> None:
    result = answered(scene.first, scene.first.send("Hi", models=[scene.plain]))
    kept = [event for event in scene.first.log() if event.kind == "reply.kept"]
    assert [event.node for event in kept] == [result.node] and scene.first.conversation().head == result.node


def test_windie_61_where_the_event_cannot_be_written_nothing_is(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (scene.first.conversation(), texts(scene.first), len(list(scene.first.log())))
    refusing(monkeypatch, "message.sent")
    with pytest.raises(RuntimeError):
        scene.first.send("Hi", models=[scene.plain], key="k")
    assert (scene.first.conversation(), texts(scene.first), len(list(scene.first.log()))) == before
    monkeypatch.undo()
    assert scene.first.send("Hi", models=[scene.plain], key="k").runs, "no receipt was left either"


def test_windie_62_so_it_is_with_the_results_of_several_calls(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = script(scene.folder, calls("edit", "edit"), {"text": "So."}, name="twice.json")
    scene.first.set("approvals", "allow-all")
    started = scene.first.send("Do it", models=[twice])
    with monkeypatch.context() as patch:
        refusing(patch, "results.kept")
        with pytest.raises(RuntimeError):
            heard(scene.first, started)
    assert [entry.node.role for entry in scene.first.path()] == ["user", "assistant"]
    assert driven(scene.first, started.runs[0]).status == "done"
    parts = [part for entry in scene.first.path() for part in entry.node.parts if isinstance(part, ToolResult)]
    assert [part.outcome for part in parts] == ["ok", "ok"]


@pytest.mark.parametrize("how", STANDS)
def test_windie_70_71_what_a_run_stands_on_is_neither_hidden_nor_purged(scene: Scene, how: str) -> None:
    asked = scene.first.send("before", role="user", run=False).node.id
    scene.first.send("told", role="assistant", run=False)
    run = scene.standing(how)
    words = texts(scene.first)
    for refused in (scene.first.hide, lambda name: scene.first.purge([name])):
        with pytest.raises(Refused, match=asked[-8:]) as error:
            refused(asked[-8:])
        assert error.value.facts["run"] == run and run[-8:] in error.value.message
    assert texts(scene.first) == words
    scene.first.cancel(run)
    assert scene.first.hide(asked).nodes == (asked,)
    assert scene.first.purge([asked]).nodes == (asked,)


@pytest.mark.parametrize("how", STANDS)
@pytest.mark.parametrize("again", ["undo", "redo"])
def test_windie_71_neither_undo_nor_redo_hides_it(scene: Scene, how: str, again: str) -> None:
    asked = scene.first.send("before", run=False).node.id
    here = scene.first.conversation().id
    scene.first.hide(asked)
    if again == "undo":
        scene.first.unhide(asked)
    else:
        scene.first.undo()
    scene.first.use(scene.first.fork(asked).id)
    run = scene.standing(how)
    scene.first.use(here)
    with pytest.raises(Refused, match=asked[-8:]) as error:
        getattr(scene.first, again)()
    assert error.value.facts["run"] == run
    assert not scene.first.show(asked).node.hidden
    scene.first.cancel(run)
    getattr(scene.first, again)()
    assert scene.first.show(asked).node.hidden


@pytest.mark.parametrize("how", STANDS)
def test_windie_72_what_is_said_beside_it_and_below_it_moves_nothing_of_it(scene: Scene, how: str) -> None:
    asked = scene.first.send("before", role="user", run=False).node.id
    run = scene.standing(how)
    (stood,) = [one.tip for one in scene.first.runs() if one.id == run]
    scene.first.send("below", at=asked, run=False)
    scene.first.edit(asked, "beside", run=False)
    assert [one.tip for one in scene.first.runs() if one.id == run] == [stood]
    assert texts(scene.first) == ["beside"]


@pytest.mark.parametrize("how", STANDS)
def test_windie_67_69_a_conversation_is_purged_with_its_runs_whatever_they_do(scene: Scene, how: str) -> None:
    run = scene.standing(how, "SECRET")
    scene.first.send("SECRET behind it")
    scene.first.send("SECRET besides", steer=True)
    assert len(scene.first.queue()) == 2
    here = scene.first.conversation().id
    report = scene.first.purge([here])
    assert report.conversations == (here,)
    assert {one.id: one.status for one in scene.first.runs()} == {run: "cancelled"}, "nothing of the queue began"
    assert scene.tools["edit"].used == [] and scene.first.pending() == []
    assert "SECRET" not in str(list(scene.first.log()))


@pytest.mark.parametrize("how", STANDS)
def test_windie_68_what_another_conversation_needs_stays(scene: Scene, how: str) -> None:
    shared = scene.first.send("shared", run=False).node.id
    here = scene.first.conversation().id
    there = scene.first.fork(shared)
    scene.first.use(here)
    scene.standing(how)
    report = scene.first.purge([here])
    assert report.kept == (shared,)
    assert texts_of(scene.first, there.id) == ["shared"]


def texts_of(runtime: Runtime, conversation: str) -> list[str]:
    return [entry.node.text for entry in runtime.path(conversation=conversation)]


def test_windie_77_a_cancel_is_state_and_event(scene: Scene) -> None:
    run = scene.standing("waiting")
    assert scene.first.cancel(run).status == "cancelled"
    kinds = [event.kind for event in scene.first.log() if event.run == run]
    assert kinds[-1] == "run.ended" and kinds.count("cancel.asked") == 1
    assert scene.first.cancel(run).status == "cancelled", "once more is nothing more"
    assert [event.kind for event in scene.first.log() if event.run == run] == kinds


def test_windie_78_an_answer_moves_a_run_that_waits_and_no_other(scene: Scene) -> None:
    run = scene.standing("waiting")
    (asked,) = scene.first.pending()
    scene.first.cancel(run)
    events = list(scene.first.log())
    with pytest.raises(Conflict, match="withdrawn"):
        scene.first.answer(asked.id, ["allow"])
    assert list(scene.first.log()) == events and scene.tools["edit"].used == []


def test_a_run_goes_on_on_its_own_path_wherever_the_head_is_by_then(scene: Scene) -> None:
    run = scene.standing("waiting", "the first way")
    first = scene.first.path()[0].node.id
    (asked,) = scene.first.pending()
    scene.first.edit(first, "another way", run=False)
    scene.first.send("further on", role="assistant", run=False)
    elsewhere = scene.first.conversation().head
    scene.first.answer(asked.id, ["allow"])
    result = driven(scene.first, run)
    assert (result.status, result.text, scene.first.conversation().head) == ("done", "So.", elsewhere)
    assert result.node is not None
    said = [entry.node.text for entry in scene.first.path(result.node)]
    assert (said[0], said[-1]) == ("the first way", "So.")
    assert "another way" not in str(scene.first.why(result.node).prompt)
