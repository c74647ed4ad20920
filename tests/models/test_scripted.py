"""The scripted model: which reply is due, how it streams and fails, and what makes a file no script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, LimitExceeded, Misused, NotFound, ProviderFailed
from forkwood.domain.message import Part, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.model import Delta, Model, Reply, Try, Usage
from forkwood.domain.prompt import Prompt, PromptMessage
from forkwood.domain.settings import Parameters
from forkwood.models import scripted
from forkwood.models.scripted import ScriptedModel


def said(*turns: str) -> tuple[PromptMessage, ...]:
    """Messages spelled as `u:words`, `a:words` or `t:words`."""
    return tuple(_message(*turn.split(":", 1)) for turn in turns)


def _message(role: str, words: str) -> PromptMessage:
    part: Part = Text(text=words)
    match role:
        case "u":
            return PromptMessage(role="user", parts=(part,), nodes=())
        case "a":
            return PromptMessage(role="assistant", parts=(part,), nodes=())
        case _:
            result = ToolResult(call="c", name="n", outcome="ok", parts=(Text(text=words),))
            return PromptMessage(role="tool", parts=(result,), nodes=())


def prompt(*turns: str) -> Prompt:
    return Prompt(form=1, model="m", system=None, messages=said(*turns), tools=(), parameters=Parameters())


def model(*replies: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel("demo.json", scripted.script_of(json.dumps({"replies": replies}).encode(), "demo.json"))


async def play(played: Model, asked: Prompt, turn: int = 0, number: int = 1) -> tuple[list[Delta], Reply]:
    request = played.encode(asked, {})
    items = [item async for item in played.stream(request, Try(turn=turn, number=number))]
    deltas = [item for item in items if isinstance(item, Delta)]
    assert isinstance(items[-1], Reply)
    assert len(deltas) == len(items) - 1
    return deltas, items[-1]


async def words(played: Model, asked: Prompt, turn: int = 0) -> str:
    _, reply = await play(played, asked, turn)
    return "".join(part.text for part in reply.parts if isinstance(part, Text))


async def test_a_text_is_played_whole_by_default() -> None:
    deltas, reply = await play(model({"text": "Hello."}), prompt("u:hi"))
    assert deltas == [Delta(index=0, kind="text", text="Hello.")]
    assert reply == Reply(parts=(Text(text="Hello."),), finish="stop")


async def test_thinking_text_and_calls_come_in_chunks_and_in_order() -> None:
    calls = [{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": "raw", "call": "mine"}]
    deltas, reply = await play(
        model({"thinking": "hmm", "text": "Yes.", "tool_calls": calls, "chunk": 3, "usage": {"input": 5, "output": 7}}),
        prompt("u:hi"),
    )
    assert [(delta.index, delta.kind, delta.text) for delta in deltas] == [
        (0, "thinking", "hmm"),
        (1, "text", "Yes"),
        (1, "text", "."),
        (2, "tool_call", "f {"),
        (2, "tool_call", '"a"'),
        (2, "tool_call", ":1}"),
        (3, "tool_call", "g r"),
        (3, "tool_call", "aw"),
    ]
    assert reply.parts == (
        Thinking(text="hmm"),
        Text(text="Yes."),
        ToolCall(call="call_1_1", name="f", arguments={"a": 1}),
        ToolCall(call="mine", name="g", arguments="raw"),
    )
    assert (reply.usage, reply.finish, reply.partial) == (Usage(input=5, output=7), "stop", None)


@pytest.mark.parametrize(
    ("messages", "turn", "due"),
    [
        (["u:one"], 0, "first"),
        (["u:one", "a:first", "t:two"], 1, "second"),
        (["u:one", "a:first", "t:two", "a:second", "t:three"], 2, "last"),
        (["u:one", "a:first", "t:x", "a:second", "t:x", "a:last", "t:x"], 3, "last"),
        (["u:one", "a:earlier run", "u:two"], 0, "first"),
        (["u:one", "a:earlier run", "u:two", "a:first", "t:x"], 1, "second"),
        (["u:one", "a:partial"], 0, "first"),
        (["u:summarised away"], 7, "first"),
    ],
)
async def test_which_replies_are_used_follows_from_the_finished_turns(messages: list[str], turn: int, due: str) -> None:
    played = model({"text": "first"}, {"text": "second"}, {"text": "last"})
    assert await words(played, prompt(*messages), turn) == due


@pytest.mark.parametrize(
    ("messages", "turn", "due"),
    [
        (["u:weather in Paris"], 0, "rain"),
        (["u:weather", "a:rain", "t:wet"], 1, "umbrella"),
        (["u:weather", "a:rain", "t:weather again"], 1, "any"),
        (["u:weather", "a:rain", "t:weather", "a:any", "t:weather"], 2, "any"),
        (["u:else"], 0, "any"),
        (["u:wet"], 0, "umbrella"),
        (["u:weather", "a:x", "u:wet and weather"], 0, "rain"),
    ],
)
async def test_a_match_is_searched_in_the_last_user_or_tool_text(messages: list[str], turn: int, due: str) -> None:
    played = model({"match": "weather", "text": "rain"}, {"match": "^wet", "text": "umbrella"}, {"text": "any"})
    assert await words(played, prompt(*messages), turn) == due


async def test_the_last_reply_is_played_where_nothing_matches() -> None:
    assert await words(model({"match": "a", "text": "A"}, {"match": "b", "text": "B"}), prompt("u:zzz")) == "B"


async def test_a_turn_tried_again_plays_its_reply_again() -> None:
    played = model({"text": "first"}, {"text": "second"})
    asked = prompt("u:one")
    assert await play(played, asked, number=1) == await play(played, asked, number=2)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "auth"),
        (402, "quota"),
        (404, "not_found"),
        (408, "timeout"),
        (413, "context_overflow"),
        (400, "invalid_request"),
        (429, "rate_limit"),
        (500, "unavailable"),
        (503, "unavailable"),
        (529, "overloaded"),
    ],
)
async def test_a_failure_before_the_first_character_is_raised_as_its_kind(status: int, reason: str) -> None:
    played = model({"text": "ok", "fail": {"status": status, "times": 2, "retry_after": 1.5}})
    for number in (1, 2):
        with pytest.raises(ProviderFailed) as failed:
            await play(played, prompt("u:hi"), number=number)
        assert (failed.value.reason, failed.value.retry_after, failed.value.facts["status"]) == (reason, 1.5, status)
    assert (await play(played, prompt("u:hi"), number=3))[1].parts == (Text(text="ok"),)


async def test_a_failure_in_mid_stream_keeps_what_came() -> None:
    reply = {"thinking": "abc", "text": "defgh", "tool_calls": [{"name": "f", "arguments": {}}], "chunk": 2}
    deltas, broken = await play(model({**reply, "fail": {"status": 500, "times": 1, "after_chars": 5}}), prompt("u:hi"))
    assert [delta.text for delta in deltas] == ["ab", "c", "de"]
    assert broken.parts == (Thinking(text="abc"), Text(text="de"))
    assert (broken.partial, broken.finish) == ("error", None)
    assert "500" in (broken.error or "")


@pytest.mark.parametrize(
    ("finish", "partial", "told"), [("stop", None, "stop"), ("length", "length", "length"), ("cut", "cut", None)]
)
async def test_a_reply_ends_as_its_finish_says(finish: str, partial: str | None, told: str | None) -> None:
    _, reply = await play(model({"text": "x", "finish": finish}), prompt("u:hi"))
    assert (reply.partial, reply.finish) == (partial, told)


async def test_lone_surrogates_and_nul_are_played_storable() -> None:
    source = rb'{"replies": [{"text": "a\ud83d\u0000", "tool_calls": [{"name": "f", "arguments": {"k": "\udc00"}}]}]}'
    played = ScriptedModel("x", scripted.script_of(source, "x"))
    _, reply = await play(played, prompt("u:hi"))
    assert reply.parts == (
        Text(text="a\\ud83d\x00"),
        ToolCall(call="call_1_1", name="f", arguments={"k": "\\udc00"}),
    )
    assert reply.notices


async def test_arguments_that_are_no_object_stay_text() -> None:
    _, reply = await play(model({"tool_calls": [{"name": "f", "arguments": [1, None]}]}), prompt("u:hi"))
    assert reply.parts == (ToolCall(call="call_1_1", name="f", arguments="[1,null]"),)


async def test_a_reply_may_be_empty() -> None:
    assert (await play(model({}), prompt("u:hi"))) == ([], Reply(parts=(), finish="stop"))


def test_the_request_is_the_same_for_the_same_prompt() -> None:
    played = model({"text": "x"})
    assert played.encode(prompt("u:é"), {}) == played.encode(prompt("u:é"), {"ab": b"picture"})
    assert b'"parameters":{}' in played.encode(prompt("u:é"), {})
    assert (played.keys_left, played.next_key()) == (0, False)
    assert played.traits.tools


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"no json",
        b"\xff",
        b"[]",
        b"{}",
        b'{"replies": []}',
        b'{"replies": {}}',
        b'{"replies": [{"txt": "x"}]}',
        b'{"replies": [{"text": 3}]}',
        b'{"replies": [{"match": "("}]}',
        b'{"replies": [{"finish": "never"}]}',
        b'{"replies": [{"chunk": 0}]}',
        b'{"replies": [{"chunk": -1}]}',
        b'{"replies": [{"delay_ms": -1}]}',
        b'{"replies": [{"pause_ms": Infinity}]}',
        b'{"replies": [{"pause_ms": NaN}]}',
        b'{"replies": [{"fail": {"status": 500}}]}',
        b'{"replies": [{"fail": {"status": 500, "times": -1}}]}',
        b'{"replies": [{"tool_calls": [{"arguments": {}}]}]}',
        b"[" * 100_000,
        b'{"replies": [{"tool_calls": [{"name": "f", "arguments": ' + b"[" * 157 + b"]" * 157 + b"}]}]}",
        b'{"replies": [{"tool_calls": [{"name": "f", "arguments": {"a": NaN}}]}]}',
        b'{"replies": [{"tool_calls": [{"name": "f", "arguments": {"a": 1e999}}]}]}',
        b'{"replies": [{"match": "(?=a)b"}]}',
        b'{"replies": [{"usage": {"input": 1000000000000000}}]}',
        b'{"replies": [{"usage": {"output": -1}}]}',
        b'{"replies": [{"fail": {"status": 99, "times": 1}}]}',
        b'{"replies": [{"fail": {"status": 1000000000000000000000000000000, "times": 1}}]}',
        b'{"replies": [{"fail": {"status": 429, "times": 1, "retry_after": -1}}]}',
        b'{"replies": [{"fail": {"status": 429, "times": 1, "retry_after": Infinity}}]}',
    ],
)
def test_what_is_no_script_is_refused_with_an_example(source: bytes) -> None:
    with pytest.raises(Misused) as refused:
        scripted.script_of(source, "demo.json")
    assert "demo.json" in refused.value.message
    assert '{"replies"' in refused.value.hint


def test_a_script_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    path.write_bytes(b'\xef\xbb\xbf{"replies": [{"text": "x"}]}')
    played = ScriptedModel.open(str(path))
    assert (played.name, played.binding.model, played.binding.dialect) == (f"scripted:{path}", str(path), "scripted")
    for missing in (tmp_path / "absent", tmp_path):
        with pytest.raises(NotFound):
            ScriptedModel.open(str(missing))


def test_a_script_may_be_as_large_as_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    source = b'{"replies": [{"text": "x"}]}'
    path.write_bytes(source.ljust(limits.script_bytes_max))
    assert ScriptedModel.open(str(path))
    path.write_bytes(source.ljust(limits.script_bytes_max + 1))
    with pytest.raises(LimitExceeded) as refused:
        ScriptedModel.open(str(path))
    assert refused.value.facts["limit"] == "script_bytes_max"


def test_calls_may_be_as_many_as_their_limit() -> None:
    calls = [{"name": "f", "arguments": {}}] * limits.tool_calls_max
    assert model({"tool_calls": calls})
    with pytest.raises(ForkwoodError):
        model({"tool_calls": [*calls, calls[0]]})


def test_a_script_that_no_name_can_lead_to_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(NotFound, match="File name too long"):
        ScriptedModel.open(str(tmp_path / ("x" * 300)))
    monkeypatch.setattr(Path, "is_file", refused)
    with pytest.raises(NotFound, match="cannot be read: Permission denied"):
        ScriptedModel.open(str(tmp_path / "demo.json"))


async def test_usage_may_be_as_much_as_its_limit() -> None:
    most = limits.usage_tokens_max
    _, reply = await play(model({"text": "a", "usage": {"input": most, "output": most}}), prompt("u:hi"))
    assert reply.usage == Usage(input=most, output=most)


async def test_arguments_deeper_than_their_limit_stay_text() -> None:
    for depth, kind in ((limits.value_depth_max, dict), (limits.value_depth_max + 1, str)):
        value: Any = {}
        for _ in range(depth - 1):
            value = {"a": value}
        _, reply = await play(model({"tool_calls": [{"name": "f", "arguments": value}]}), prompt("u:hi"))
        (part,) = reply.parts
        assert isinstance(part, ToolCall) and isinstance(part.arguments, kind)


@pytest.mark.parametrize(("size", "partial"), [(8, None), (9, "length")])
async def test_a_reply_is_cut_where_every_models_is(
    monkeypatch: pytest.MonkeyPatch, size: int, partial: str | None
) -> None:
    monkeypatch.setattr(limits, "reply_bytes_max", 8)
    played = model({"thinking": "123", "text": "é" + "x" * (size - 5)})
    deltas, reply = await play(played, prompt("u:hi"))
    assert reply.parts == (Thinking(text="123"), Text(text="éxxx"))
    assert "".join(delta.text for delta in deltas) == "123éxxx"
    assert (reply.partial, "over the limit of 8" in (reply.error or "")) == (partial, partial is not None)


async def test_a_call_that_does_not_fit_whole_is_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "reply_bytes_max", 8)
    calls = [{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": "23"}]
    _, reply = await play(model({"text": "x", "tool_calls": calls}), prompt("u:hi"))
    assert [getattr(part, "name", "text") for part in reply.parts] == ["text", "f"]
    assert reply.partial == "length"
