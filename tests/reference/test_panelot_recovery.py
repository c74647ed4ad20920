"""Promises 48, 49, 52, 54 and 57 of an earlier program: what was asked and begun when a process died, by our rules."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.errors import NotFound
from forkwood.domain.plan import plan
from forkwood.domain.run import fold
from forkwood.domain.step import Ask, UseTool
from forkwood.domain.step import Asking as Wanted
from forkwood.store.opening import open_store
from tests.domain.happened import DRIVEN, OPENED, WRITE, answered, asks
from tests.engine.stage import NOW, FakeModel, FakeTool, Stage, calling, reply, results
from tests.engine.test_judging import Ruled
from tests.engine.test_use import approve
from tests.runtime import seeded
from tests.runtime.askers import Asking, Writer, calls, driven
from tests.runtime.doors import answered as heard_of
from tests.runtime.doors import script


async def test_panelot_48_who_looked_before_the_answer_does_not_run_what_another_has_begun(tmp_path: Path) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()

    async def slowly() -> str:
        begun.set()
        await gate.wait()
        return "done"

    tool = FakeTool("edit", slowly, effect="write", after_crash="journal")
    stage = Stage(tmp_path, tools=[tool], store=open_store(tmp_path / "home", now_ms=NOW))
    stage.models["fake:one"] = FakeModel(calling("edit"), reply("So."))
    late = stage.another(open_store(tmp_path / "home", now_ms=NOW))
    stage.say("Hi")
    run = stage.open()
    assert [one.status for one in results(await stage.drive(run))] == ["waiting"]
    assert [one.status for one in results(await stage.drive(run, engine=late))] == ["waiting"]
    approve(stage, run, "allow")
    first = asyncio.ensure_future(stage.drive(run))
    await begun.wait()
    second = asyncio.ensure_future(stage.drive(run, engine=late))
    gate.set()
    async with asyncio.timeout(60):  # two that both hold it take it from each other for ever
        assert {one.status for seen in (await first, await second) for one in results(seen)} == {"done"}
    assert (tool.used, stage.kinds(run).count("call.started")) == (["a"], 1)
    await late.close()


@pytest.fixture
def house(home: Path) -> Iterator[Asking]:
    made = Asking(home, Writer("edit"))
    yield made
    made.close()


def test_panelot_49_a_run_that_waits_keeps_its_place_whoever_comes_back(house: Asking, tmp_path: Path) -> None:
    first = house.door()
    model = script(tmp_path, calls("edit"), {"text": "So."})
    sent = first.send("Do it", models=[model])
    assert heard_of(first, sent).status == "waiting"
    first.close()
    back = house.door()
    (asked,) = back.pending()
    later = back.send("And then?", models=[script(tmp_path, {"text": "Then."}, name="later.json")])
    assert (later.runs, later.node.role, [run.id for run in back.runs()]) == ((), "assistant", [*sent.runs])
    assert driven(back, sent.runs[0]).status == "waiting", "what was said meanwhile is no answer"
    back.answer(asked.id, ["allow"])
    assert driven(back, sent.runs[0]).status == "done"
    assert [entry.node.role for entry in back.path()][:5] == ["user", "assistant", "tool", "assistant", "user"]
    assert (back.path()[4].node.text, len(house.tools["edit"].used)) == ("And then?", 1)


@pytest.mark.parametrize(("word", "used", "outcome"), [("retry", 2, "ok"), ("done", 1, "ok"), ("failed", 1, "error")])
async def test_panelot_52_what_may_have_happened_waits_for_a_person_and_a_retry_runs_it_once(
    tmp_path: Path, word: str, used: int, outcome: str
) -> None:
    begun = asyncio.Event()

    async def dies() -> str:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return "this time"

    stage = Ruled(tmp_path, FakeModel(calling("test"), reply("So.")), tools=[])
    tool = stage.tools["test"] = FakeTool("test", dies, effect="execute", after_crash="doubt")
    stage.engine = stage.another()
    run = await stage.begin()
    stage.answer_with("allow")
    assert stage.engine.start(run)
    await begun.wait()
    await stage.engine.close()
    stage.engine = stage.another()
    assert results(await stage.drive(run))[0].status == "waiting"
    assert (len(tool.used), [one.kind for one in stage.pending()]) == (1, ["doubt"])
    stage.answer_with(word)
    assert results(await stage.drive(run))[0].status == "done"
    assert (len(tool.used), stage.outcomes()) == (used, [outcome])


@pytest.mark.parametrize("lost", [1, 2])
def test_panelot_54_without_its_yes_a_call_is_asked_about_and_never_run(lost: int) -> None:
    events: list[Any] = [OPENED, DRIVEN, *asks(WRITE), *answered("approval", "b", "allow")]
    assert plan(fold(events)) == UseTool(call=WRITE)
    step = plan(fold(events[:-lost]))
    assert step == (None if lost == 1 else Ask(asks=(Wanted(sort="approval", call="b"),)))


def test_panelot_54_what_is_not_there_is_not_answered(house: Asking) -> None:
    with pytest.raises(NotFound):
        house.door().answer("0" * 32, ["allow"])


def test_panelot_57_a_purge_that_fails_loses_nothing_of_what_is_there(
    house: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = house.door()
    sent = runtime.send("Do it", models=[script(tmp_path, calls("edit"), {"text": "So."})])
    assert heard_of(runtime, sent).status == "waiting"
    runtime.send("And then?")
    with monkeypatch.context() as patched:
        patched.setattr("forkwood.store.purge.destroy", seeded.never)
        with pytest.raises(KeyboardInterrupt):
            runtime.purge([sent.conversation])
    assert [(one.text, one.state) for one in runtime.queue()] == [("And then?", "held")]
    assert [run.status for run in runtime.runs()] == ["cancelled"], "its runs end first, and nothing dangles"
    assert [entry.node.role for entry in runtime.path()] == ["user", "assistant", "tool"]
    assert runtime.conversation().hidden is False
