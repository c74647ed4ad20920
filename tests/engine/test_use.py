"""Using tools: approved, sealed, cancelled, looked for after a crash, and side by side."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from forkwood.domain.errors import Refused
from forkwood.domain.message import Text, ToolResult
from forkwood.domain.run_event import InteractionClosed
from forkwood.domain.tool import ToolOutcome
from forkwood.store import log, runs
from tests.engine.stage import (
    NOW,
    WHO,
    FakeModel,
    FakeTool,
    Stage,
    calling,
    reply,
    results,
)


def approve(stage: Stage, run: str, answer: str) -> None:
    with stage.store.write() as tx:
        (opened,) = [event for event in log.events_of_run(tx, run, after=0) if event.kind == "interaction.opened"]
        closed = InteractionClosed(interaction=opened.payload["interaction"], status="answered", answer=answer)
        runs.add(tx, run, closed, who=WHO, now_ms=NOW)


@pytest.mark.parametrize(("answer", "outcome", "used"), [("allow", "ok", ["a"]), ("deny", "denied", [])])
async def test_an_approval_outlives_the_process(tmp_path: Path, answer: str, outcome: str, used: list[str]) -> None:
    tool = FakeTool("edit", effect="write", after_crash="journal")
    stage = Stage(tmp_path, FakeModel(calling("edit"), reply("Done.")), tools=[tool])
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "waiting"
    await stage.engine.close()
    approve(stage, run, answer)
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, tool.used) == ("done", used)
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert settled["outcome"] == outcome


async def test_a_tool_that_has_changed_is_not_used_and_the_run_is_sealed_anew(tmp_path: Path) -> None:
    tool = FakeTool("look")
    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Done.")), tools=[tool])
    stage.models["fake:one"].script[0].insert(0, lambda: setattr(tool, "sealed", replace(tool.sealed, asks_first=True)))
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "done"
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert (settled["outcome"], settled["parts"][0]["text"], tool.used) == ("error", "changed since it was asked", [])
    assert stage.kinds(run).count("run.sealed") == 2


async def test_a_tool_that_refuses_is_an_error_for_the_model(tmp_path: Path) -> None:
    def refuse() -> None:
        raise Refused("no such path", hint="look elsewhere")

    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Done.")), tools=[FakeTool("look", refuse)])
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert (settled["outcome"], settled["parts"][0]["text"]) == ("error", "no such path. look elsewhere")


async def test_a_cancel_stops_the_tool_and_its_end_is_unknown(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    async def forever() -> None:
        stage.engine.cancel(run, WHO)
        await asyncio.Event().wait()

    tool = FakeTool("test", forever, effect="execute", after_crash="doubt")
    stage.tools["test"] = tool
    stage.engine = stage.another()
    stage.models["fake:one"] = FakeModel(calling("test"))
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "waiting"
    approve(stage, run, "allow")
    (result,) = results(await stage.drive(run))
    assert (result.status, tool.used) == ("cancelled", ["a"])
    assert stage.nodes()[-1].parts[0].outcome == "unknown"  # type: ignore[union-attr]


@pytest.mark.parametrize("found", [None, ToolOutcome(outcome="ok", parts=(Text(text="it was written"),))])
async def test_after_a_crash_the_journal_is_asked_first(tmp_path: Path, found: ToolOutcome | None) -> None:
    begun = asyncio.Event()

    async def dies() -> str:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return "written again"

    tool = FakeTool("edit", dies, effect="write", after_crash="journal")
    stage = Stage(tmp_path, FakeModel(calling("edit"), reply("Done.")), tools=[tool])
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    approve(stage, run, "allow")
    assert stage.engine.start(run)
    await begun.wait()
    await stage.engine.close()
    tool.found = found
    (result,) = results(await stage.drive(run, engine=stage.another()))
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert settled["parts"][0]["text"] == ("written again" if found is None else "it was written")
    assert (result.status, len(tool.used)) == ("done", 2 if found is None else 1)


async def test_a_tool_that_breaks_is_an_outcome_the_model_reads(tmp_path: Path) -> None:
    def breaks() -> None:
        raise TypeError("no tool says this")

    model = FakeModel(calling("look"), reply("I see."))
    stage = Stage(tmp_path, model, tools=[FakeTool("look", breaks)])
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert result.status == "done"
    (broken,) = stage.nodes()[-2].parts
    assert isinstance(broken, ToolResult) and broken.outcome == "error"
    assert broken.parts == (Text(text="the tool broke: TypeError: no tool says this"),)


async def test_reads_run_side_by_side_and_their_results_keep_the_order_of_the_calls(tmp_path: Path) -> None:
    order: list[str] = []
    both = asyncio.Event()

    async def slow() -> str:
        order.append("slow begins")
        await both.wait()
        return "slow"

    async def quick() -> str:
        order.append("quick begins")
        both.set()
        return "quick"

    tools = [FakeTool("slow", slow), FakeTool("quick", quick)]
    stage = Stage(tmp_path, FakeModel(calling("slow", "quick"), reply("Both.")), tools=tools)
    stage.say("Hi")
    (result,) = results(await stage.drive(stage.open()))
    assert result.status == "done" and order == ["slow begins", "quick begins"]
    told = [part.parts for part in stage.nodes()[-2].parts if isinstance(part, ToolResult)]
    assert told == [(Text(text="slow"),), (Text(text="quick"),)]


async def test_of_reads_side_by_side_one_that_has_changed_is_settled_and_the_others_run(tmp_path: Path) -> None:
    look, find = FakeTool("look"), FakeTool("find")

    def change() -> None:
        find.sealed = replace(find.sealed, spec=replace(find.sealed.spec, description="another"))

    model = FakeModel([change, *calling("look", "find")], reply("So."))
    stage = Stage(tmp_path, model, tools=[look, find])
    stage.say("Hi")
    (result,) = results(await stage.drive(stage.open()))
    outcomes = [part.outcome for part in stage.nodes()[-2].parts if isinstance(part, ToolResult)]
    assert result.status == "done" and outcomes == ["ok", "error"] and (look.used, find.used) == (["a"], [])
