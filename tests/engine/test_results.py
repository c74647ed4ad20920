"""Results within their bound, whoever's words they say: what is longer is cut for the model and kept for the person."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.message import Attachment, Text, ToolCall, ToolResult
from forkwood.domain.model import Reply
from forkwood.store import blobs
from tests.engine.stage import USAGE, FakeModel, FakeTool, reply, results
from tests.engine.test_judging import Ruled


def asking(*names: str) -> list[Reply]:
    """A reply that calls these tools, each with three questions."""
    asks = {"questions": [{"text": f"Which{number}?"} for number in range(3)]}
    return [Reply(parts=tuple(ToolCall(call=f"c{at}", name=name, arguments=asks) for at, name in enumerate(names)))]


def read(stage: Ruled) -> list[ToolResult]:
    """The results of the last turn but one."""
    return [part for part in stage.nodes()[-2].parts if isinstance(part, ToolResult)]


async def test_a_turn_whose_every_result_is_at_its_bound_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool's words, and a person's with the questions they answer."""
    monkeypatch.setattr(limits, "message_bytes_max", 2 * limits.result_bytes_max)
    tools = [FakeTool("look", lambda: "雪" * limits.result_bytes_max), FakeTool("ask_user", question=True)]
    stage = Ruled(tmp_path, FakeModel([*asking("look", "ask_user")], reply("Much.")), tools=tools)
    run = await stage.begin()
    longest = limits.answer_bytes_max // 3
    stage.answer_with(("a" * longest, "b" * longest, "c" * longest))
    assert results(await stage.drive(run))[0].status == "done"
    looked, answered = read(stage)
    for one in (looked, answered):
        shown, whole = one.parts
        assert isinstance(shown, Text) and isinstance(whole, Attachment)
        assert len(shown.text.encode()) <= limits.result_bytes_max < whole.size and whole.name == f"{one.name}.txt"
    assert isinstance(answered.parts[0], Text) and answered.parts[0].text.startswith("Which0?\naaa")
    with stage.store.read() as tx:
        kept = blobs.get(tx, answered.parts[1].blob).decode()  # type: ignore[union-attr]
    assert kept == "\n\n".join(f"Which{at}?\n{letter * longest}" for at, letter in enumerate("abc"))


async def test_a_tool_there_is_not_is_named_in_few_words(tmp_path: Path) -> None:
    call = ToolCall(call="a", name="x" * 1_000_000, arguments={})
    stage = Ruled(tmp_path, FakeModel([Reply(parts=(call,), usage=USAGE)], reply("So.")))
    await stage.begin()
    ((words,),) = [one.parts for one in read(stage)]
    assert isinstance(words, Text)
    assert words.text.startswith("there is no tool 'xxx") and len(words.text) < 2 * limits.quoted_characters_max
