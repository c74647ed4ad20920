"""Keeping a reply: node, event, usage, cost, notices and the end of the draft in one commit, or nothing at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.message import Part, Text, Thinking, ToolCall
from forkwood.domain.model import Reply, Usage
from forkwood.domain.settings import Settings
from forkwood.engine.showing import Engine
from forkwood.store import conversations, drafts, entries, nodes
from tests.engine.stage import FakeModel, FakeTool, Stage, calling, reply, results, text


def kept(stage: Stage, run: str) -> dict[str, Any]:
    (payload,) = [event.payload for event in stage.events(run) if event.kind == "reply.kept"]
    return payload


@pytest.mark.parametrize(
    ("parts", "status", "nodes_kept"),
    [
        ((), "failed", 1),
        ((Text(text=" \n"),), "failed", 2),
        ((Thinking(text="hm"),), "failed", 2),
        ((Thinking(text="hm"), Text(text="Hi")), "done", 2),
    ],
)
async def test_an_empty_reply_fails_and_loses_nothing(
    tmp_path: Path, parts: tuple[Part, ...], status: str, nodes_kept: int
) -> None:
    stage = Stage(tmp_path, FakeModel([Reply(parts=parts, usage=Usage(input=5, output=7), finish="stop")]))
    result = await stage.answer()
    assert result.status == status and len(stage.nodes()) == nodes_kept
    assert result.usage == Usage(input=5, output=7)
    with stage.store.read() as tx:
        assert conversations.row(tx, stage.conversation).usage.input == 5


async def test_usage_and_cost_stand_in_the_event(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel([Reply(parts=(Text(text="Hi"),), usage=Usage(input=2, output=1), finish="stop")]))
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    assert (kept(stage, run)["cost"], kept(stage, run)["usage"]["input"], kept(stage, run)["finish"]) == (
        3.0,
        2,
        "stop",
    )


async def test_a_price_nobody_knows_is_no_cost(tmp_path: Path) -> None:
    model = FakeModel([Reply(parts=(Text(text="Hi"),), finish="stop")])
    stage = Stage(tmp_path, model)
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    assert (kept(stage, run)["cost"], kept(stage, run)["usage"]) == (None, None)


async def test_notices_stand_at_the_reply(tmp_path: Path) -> None:
    reply = Reply(parts=(Text(text="Hi"),), partial="length", notices=("NUL characters: 1",))
    stage = Stage(tmp_path, FakeModel([reply]))
    await stage.answer()
    with stage.store.read() as tx:
        notices = entries.entries(tx, conversations.head(tx, stage.conversation))[-1].notices
    assert [(one.what, one.text) for one in notices] == [
        ("reply", "NUL characters: 1"),
        ("partial", "this reply is not whole: length"),
    ]


@pytest.mark.parametrize(("counted", "cut"), [(0, False), (1_023, True), (1_024, False)])
async def test_a_prompt_that_the_server_cut_is_told(tmp_path: Path, counted: int, cut: bool) -> None:
    reply = Reply(parts=(Text(text="Hi"),), finish="stop", usage=Usage(input=counted))
    stage = Stage(tmp_path, FakeModel([reply]))
    stage.say("x" * limits.prompt_cut_bytes_min)
    run = stage.open()
    await stage.drive(run)
    assert kept(stage, run)["prompt_cut"] is cut
    with stage.store.read() as tx:
        notices = entries.entries(tx, conversations.head(tx, stage.conversation))[-1].notices
    assert [one.text.partition(":")[0] for one in notices] == (
        ["the server counted 1,023 tokens for 8,192 bytes"] if cut else []
    )


async def test_calls_of_one_id_are_told_apart_in_the_tree(tmp_path: Path) -> None:
    calls = (ToolCall(call="x", name="t", arguments={}), ToolCall(call="x", name="t", arguments={}))
    stage = Stage(tmp_path, FakeModel([Reply(parts=calls, finish="tool_calls")], [text("k"), *_done("k")]))
    stage.say("Hi")
    assert results(await stage.drive(stage.open()))[0].status == "done"
    reply, answers = stage.nodes()[1:3]
    assert [part.call for part in reply.parts] == [part.call for part in answers.parts] == ["x", "x-2"]  # type: ignore[union-attr]


async def test_a_reply_the_tree_cannot_hold_ends_the_run_and_says_why(tmp_path: Path, monkeypatch: Any) -> None:
    stage = Stage(tmp_path, FakeModel([Reply(parts=(Text(text="far too long"),), finish="stop")]))
    stage.say("Hi")
    run = stage.open()
    monkeypatch.setattr(limits, "message_bytes_max", 10)
    (result,) = results(await stage.drive(run))
    assert result.status == "failed" and result.error is not None and result.error["limit"] == "message_bytes_max"
    with stage.store.read() as tx:
        assert drafts.parts(tx, run) == () and len(nodes.of_conversation(tx, stage.conversation)) == 1


def _done(words: str) -> list[Any]:
    return [Reply(parts=(Text(text=words),), finish="stop")]


def rounds(stage: Stage, rounds_max: int) -> None:
    """Let runs of STAGE call tools for so many turns."""
    settings = Settings(home=str(stage.folder), rounds=rounds_max)
    stage.engine = Engine(replace(stage.engine._supplies, settings=lambda: settings))


async def test_at_the_limit_of_rounds_the_last_reply_says_why_it_has_no_tools(tmp_path: Path) -> None:
    script = [*(calling("look") for _ in range(2)), reply("That is all.")]
    model = FakeModel(*script)
    stage = Stage(tmp_path, model, tools=[FakeTool("look")])
    rounds(stage, 2)
    assert (await stage.answer()).text == "That is all."
    assert [len(prompt.tools) for prompt in model.prompts] == [1, 1, 0]
    with stage.store.read() as tx:
        path = entries.entries(tx, conversations.head(tx, stage.conversation))
    (notice,) = [notice for entry in path for notice in entry.notices]
    assert path[-1].notices == (notice,) and notice.what == "reply"
    assert notice.text == (
        "the run reached the limit of 2 rounds of tool calls (rounds in config.toml): this last reply was asked for "
        "without tools; another message goes on"
    )


async def test_at_the_limit_of_turns_that_limit_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(limits, "turns_max", 3)
    model = FakeModel(calling("build"), calling("build"), reply("Built."))
    stage = Stage(tmp_path, model, tools=[FakeTool("build", spends_round=False)])
    await stage.answer()
    assert [len(prompt.tools) for prompt in model.prompts] == [1, 1, 0]
    with stage.store.read() as tx:
        (notice,) = entries.entries(tx, conversations.head(tx, stage.conversation))[-1].notices
    assert notice.text.startswith("the run reached the limit of 3 turns of a run: this last reply was asked for")


async def test_a_model_that_calls_on_without_tools_ends_the_run_failed(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("look"), calling("look")), tools=[look := FakeTool("look")])
    rounds(stage, 1)
    result = await stage.answer()
    assert result.status == "failed" and result.error is not None and result.error["reason"] == "protocol"
    assert look.used == ["a"]
