"""The mask before a model: whatever it echoes, in whatever pieces, reaches no event, no draft and no node."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain.masking import MASK
from forkwood.domain.message import Replay, Text, Thinking, ToolCall
from forkwood.domain.model import Delta, Reply
from forkwood.engine.mask import Mask
from tests.engine.stage import FakeModel, FakeTool, Stage, deltas, failed, reply, results, text

SECRET = "sk-very-secret-value"


def masked(tmp_path: Path, model: FakeModel, *tools: FakeTool) -> Stage:
    stage = Stage(tmp_path, model, tools=tools)
    supplies = stage.engine._supplies
    fields = {name: getattr(supplies, name) for name in supplies.__slots__}
    stage.engine._supplies = type(supplies)(**fields | {"secrets": lambda: (SECRET,)})
    return stage


def everything(stage: Stage) -> str:
    """All that was kept, as text."""
    with stage.store.read() as tx:
        rows = [tx.rows(f"SELECT * FROM {table}") for table in ("event", "node", "draft", "run", "manifest")]
    return repr(rows)


async def test_an_echo_in_pieces_is_masked_in_deltas_events_and_nodes(tmp_path: Path) -> None:
    words = f"it is {SECRET}, is it not?"
    whole = Reply(parts=(Text(text=words),), finish="stop", notices=(f"odd: {SECRET}",))
    stage = masked(tmp_path, FakeModel([*(text(letter) for letter in words), whole]))
    stage.say("which key?")
    seen = await stage.drive(stage.open())
    assert "".join(deltas(seen)) == f"it is {MASK}, is it not?"
    assert results(seen)[0].text == f"it is {MASK}, is it not?"
    assert SECRET not in everything(stage)


async def test_what_came_before_a_stream_broke_off_is_whole_and_masked(tmp_path: Path) -> None:
    stage = masked(tmp_path, FakeModel([text(f"{SECRET} and sk-ve"), failed(500, "server")]))
    stage.say("hi")
    [result] = results(await stage.drive(stage.open()))
    assert result.text == f"{MASK} and sk-ve", "what was held back is told when nothing more can come"


async def test_the_better_part_of_a_secret_does_not_come_out_at_a_cut(tmp_path: Path) -> None:
    stage = masked(tmp_path, FakeModel([text(f"it is {SECRET[:-1]}"), failed(500, "server")]))
    stage.say("hi")
    [result] = results(await stage.drive(stage.open()))
    assert result.text == f"it is {MASK}"
    assert SECRET[:-1] not in everything(stage)


async def test_errors_calls_and_results_hold_no_secret(tmp_path: Path) -> None:
    tool = FakeTool("look", use=lambda: f"found {SECRET}")
    call = ToolCall(call="a", name="look", arguments={"where": [SECRET]})
    stage = masked(
        tmp_path,
        FakeModel([Reply(parts=(call,), finish="tool_calls")], [failed(503, "unavailable", at=SECRET)], reply("done")),
        tool,
    )
    stage.say("hi")
    [result] = results(await stage.drive(stage.open()))
    assert result.status == "done", result.error
    assert f"found {MASK}" in everything(stage)
    assert SECRET not in everything(stage)


async def test_what_a_person_typed_is_kept_and_sent_as_typed(tmp_path: Path) -> None:
    model = FakeModel(reply("ok"))
    stage = masked(tmp_path, model)
    stage.say(f"use {SECRET}")
    await stage.drive(stage.open())
    assert SECRET in wire.text(model.prompts[0])
    assert stage.path()[0] == f"user: use {SECRET}"


def test_parts_are_masked_apart_and_a_new_part_ends_the_one_before() -> None:
    mask = Mask(lambda: (SECRET,))
    mask.begin()
    thought = Delta(index=0, kind="thinking", text="about sk-ve")
    assert [one.text for one in mask.heard(thought)] == ["about "]
    assert [(one.index, one.text) for one in mask.heard(text("ry-secret-value", 1))] == [
        (0, "sk-ve"),
        (1, "ry-secret-value"),
    ]
    assert mask.rest() == []


def test_without_secrets_nothing_is_looked_at() -> None:
    mask = Mask(tuple)
    mask.begin()
    whole = Reply(parts=(Text(text="x"),))
    assert mask.reply(whole) is whole
    assert mask.heard(text("x")) == (text("x"),)


@pytest.mark.parametrize(("value", "kept"), [("signed", True), (SECRET, False)])
def test_a_signature_does_not_hold_for_other_words(value: str, kept: bool) -> None:
    mask = Mask(lambda: (SECRET,))
    mask.begin()
    thinking = Thinking(text=SECRET, replay=Replay(dialect="chat", family="f", value={"s": value}))
    [part] = mask.reply(Reply(parts=(thinking,))).parts
    assert part == replace(thinking, text=MASK, replay=thinking.replay if kept else None)
