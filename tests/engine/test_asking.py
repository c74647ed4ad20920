"""Asking a person: what stands in an interaction, until when it can be answered, and what is not asked twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.interaction import CUT_WORDS, Question
from forkwood.domain.message import Text, ToolCall
from forkwood.domain.model import Reply, Usage
from tests.engine.stage import USAGE, FakeModel, FakeTool, calling, reply, results
from tests.engine.test_judging import Ruled, writer

SHORT = 60.0
LONG_MS = 1_000_000


class Timed(Ruled):
    """A stage whose clock can be put on."""

    def later(self, span_ms: int) -> None:
        now = next(self.ticks)
        self.ticks = iter(range(now + span_ms, now + span_ms + LONG_MS))  # type: ignore[assignment]


def timed(folder: Path, *turns: Any, tools: list[FakeTool]) -> Timed:
    stage = Timed(folder, FakeModel(*turns), tools=tools)
    stage.settings = replace(stage.settings, approval_expiry_seconds=SHORT)
    return stage


async def test_an_approval_says_what_a_grant_would_cover_and_until_when_it_can_be_given(tmp_path: Path) -> None:
    stage = timed(tmp_path, calling("edit"), tools=[writer()])
    await stage.begin()
    (asked,) = stage.pending()
    assert "covers every further call of edit there" in asked.about
    (opened,) = [event for event in stage.events(asked.run) if event.kind == "interaction.opened"]
    assert asked.expires_ms is not None and 0 <= asked.expires_ms - opened.at_ms - SHORT * 1000 < 100


async def test_without_the_setting_it_waits_for_ever(tmp_path: Path) -> None:
    stage = Ruled(tmp_path, FakeModel(calling("edit")), tools=[writer()])
    await stage.begin()
    assert [one.expires_ms for one in stage.pending()] == [None]


async def test_panelot_46_47_what_is_overdue_counts_as_a_no_also_after_a_restart(tmp_path: Path) -> None:
    tool = writer()
    stage = timed(tmp_path, calling("edit"), reply("So."), tools=[tool])
    run = await stage.begin()
    (asked,) = stage.pending()
    await stage.engine.close()
    assert results(await stage.drive(run, engine=stage.another()))[0].status == "waiting"
    assert stage.pending() == [asked], "its time is the one it was given"
    stage.later(int(SHORT * 1000))
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, tool.used, stage.outcomes()) == ("done", [], ["denied"])
    told = stage.nodes()[-2].parts[0]
    assert told.parts == (Text(text="nobody said yes in time"),)  # type: ignore[union-attr]


async def test_a_driver_at_work_closes_what_is_overdue(tmp_path: Path) -> None:
    slow, tool = FakeTool("look"), writer()
    stage = timed(tmp_path, calling("look", "edit"), reply("So."), tools=[slow, tool])
    slow._use = lambda: stage.later(int(SHORT * 1000))
    run = await stage.begin()
    assert (stage.run(run).status, tool.used, stage.outcomes()) == ("done", [], ["ok", "denied"])


async def test_a_question_is_the_calls_own(tmp_path: Path) -> None:
    asks = {"questions": [{"text": "Which?", "options": ["a", "b"]}]}
    call = ToolCall(call="a", name="ask_user", arguments=asks)
    tool = FakeTool("ask_user", question=True)
    stage = timed(tmp_path, [Reply(parts=(call,), usage=USAGE)], reply("So."), tools=[tool])
    run = await stage.begin()
    (asked,) = stage.pending()
    assert asked.questions == (Question(text="Which?", options=("a", "b")),)
    assert (asked.kind, asked.answers, asked.expires_ms) == ("question", (), None)
    stage.answer_with("b")
    assert results(await stage.drive(run))[0].status == "done"
    assert stage.nodes()[-2].parts[0].parts == (Text(text="b"),)  # type: ignore[union-attr]


async def test_a_call_in_doubt_says_that_nobody_knows(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def dies() -> None:
        begun.set()
        await asyncio.Event().wait()

    stage = Ruled(tmp_path, FakeModel(calling("test"), reply("So.")), tools=[])
    stage.tools["test"] = FakeTool("test", dies, effect="execute", after_crash="doubt")
    stage.engine = stage.another()
    run = await stage.begin()
    stage.answer_with("allow")
    assert stage.engine.start(run)
    await begun.wait()
    await stage.engine.close()
    assert results(await stage.drive(run, engine=stage.another()))[0].status == "waiting"
    (doubt,) = stage.pending()
    assert (doubt.kind, doubt.answers) == ("doubt", ("retry", "done", "failed"))
    assert "test had begun when its process died, and nobody knows how it went" in doubt.about


def cut(words: str) -> list[Any]:
    """A reply for which the server counted hardly any of the prompt."""
    return [Reply(parts=(Text(text=words),), usage=Usage(input=10, output=1), finish="stop")]


async def test_a_cut_prompt_names_the_setting_and_a_go_on_is_not_asked_again(tmp_path: Path) -> None:
    stage = Ruled(
        tmp_path, FakeModel(cut("One"), cut("Two"), name="fake:one"), FakeModel(cut("Three"), name="fake:two")
    )
    stage.say("word " * limits.prompt_cut_bytes_min)
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "waiting"
    (doubt,) = stage.pending()
    assert (doubt.about, doubt.answers, doubt.call) == (CUT_WORDS, ("go-on", "stop"), None)
    stage.answer_with("go-on")
    assert results(await stage.drive(run))[0].status == "done"
    stage.say("And?")
    assert results(await stage.drive(stage.open()))[0].status == "done"
    assert results(await stage.drive(stage.open("fake:two")))[0].status == "waiting", "another model is another matter"


async def test_a_stop_ends_the_run_and_is_asked_again(tmp_path: Path) -> None:
    stage = Ruled(tmp_path, FakeModel(cut("One"), cut("Two")))
    stage.say("word " * limits.prompt_cut_bytes_min)
    run = stage.open()
    await stage.drive(run)
    stage.answer_with("stop")
    (result,) = results(await stage.drive(run))
    assert result.error is not None and (result.status, result.error["reason"]) == ("failed", "prompt_cut")
    assert results(await stage.drive(stage.open()))[0].status == "waiting"
