"""The corpus rows on provider streams, S1 to S20, each by its id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import joins
from forkwood.domain.message import Part, Replay, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.model import Reply, Usage
from forkwood.domain.prompt import Prompt, PromptMessage
from forkwood.domain.settings import Parameters
from forkwood.domain.text import storable
from forkwood.models.quirks import Quirks
from forkwood.models.remote import DIALECTS
from tests.domain.paths import call as path_call
from tests.domain.paths import manifest, path
from tests.domain.paths import result as path_result
from tests.models.recorded import REDACTED, SIGNED, block, call, chunk, decoded, decoder, delta, events
from tests.replay import pieces
from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

STOP = {"type": "message_stop"}


def read(dialect: str, body: bytes, *, model: str = "m") -> Reply:
    """What BODY says, which must not depend on how it is cut."""
    whole = decoded(decoder(dialect, model=model), body)[1]
    for size in (1, 2, 7):
        assert decoded(decoder(dialect, model=model), *pieces(body, range(0, len(body), size)))[1] == whole
    return whole


def calls(reply: Reply) -> list[tuple[str, str, Any]]:
    return [(part.call, part.name, part.arguments) for part in reply.parts if isinstance(part, ToolCall)]


def sent(dialect: str, *parts: Part, results: tuple[Part, ...] = (), model: str = "claude-x") -> Any:
    """The request body of a turn that goes on from a reply with PARTS."""
    messages = (
        PromptMessage(role="user", parts=(Text(text="hi"),), nodes=()),
        PromptMessage(role="assistant", parts=parts, nodes=()),
        PromptMessage(role="user", parts=results or (Text(text="go on"),), nodes=()),
    )
    prompt = Prompt(form=1, model="m", system=None, messages=messages, tools=(), parameters=Parameters())
    return json.loads(DIALECTS[dialect].encode(prompt, {}, model, Quirks()))


def test_s1_a_character_cut_over_chunks_arrives_whole() -> None:
    body = events(chunk(content="🌍"), chunk("stop"))
    at = body.index(b"\xf0\x9f") + 2
    assert body[at : at + 2] == b"\x8c\x8d"
    assert decoded(decoder("chat"), body[:at], body[at:])[1].parts == (Text(text="🌍"),)
    assert read("chat", body).parts == (Text(text="🌍"),)


def test_s1_a_character_cut_into_halves_of_json_escapes_arrives_whole() -> None:
    halves = [json.dumps(chunk(content="?")).replace("?", half) for half in ("\\ud83c", "\\udf0d!")]
    reply = read("chat", events(*halves, chunk("stop")))
    assert (reply.parts, reply.notices) == ((Text(text="🌍!"),), ())


def test_s1_half_a_character_alone_is_spelled_out_and_told() -> None:
    reply = read("chat", events(json.dumps(chunk(content="a?")).replace("?", "\\ud83c"), chunk("stop", content="b")))
    assert reply.parts == (Text(text="a\\ud83cb"),)
    assert "lone surrogate" in reply.notices[0]


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_s2_every_line_end_gives_events_as_they_come(newline: str) -> None:
    body = events(chunk(content="a"), chunk(content="b"), chunk("stop"), newline=newline)
    first = body.index(b"}" + newline.encode() * 2) + 1 + 2 * len(newline)
    assert [one.text for one in decoded(decoder("chat"), body[:first])[0]] == ["a"]
    assert read("chat", body).parts == (Text(text="ab"),)


def test_s4_chunks_without_choices_are_ignored_but_for_their_usage() -> None:
    empty: dict[str, Any] = {"choices": []}
    used = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    middle = ({"choices": None}, used, chunk("stop", content="a"))
    for frames in ((empty, chunk(content="a"), empty, chunk("stop"), used), middle):
        reply = read("chat", events(*frames))
        assert (reply.parts, reply.usage, reply.partial) == ((Text(text="a"),), Usage(input=3, output=1), None)


def test_s5_a_finish_reason_without_done_is_complete() -> None:
    assert read("chat", events(chunk(content="a"), chunk("stop"))).partial is None


@pytest.mark.parametrize(
    ("dialect", "frames"),
    [
        ("chat", [chunk(content="a")]),
        ("chat", [chunk(content="a"), "[DONE]"]),
        (
            "anthropic",
            [block(0, type="text", text="a"), {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}],
        ),
        ("responses", [{"type": "response.output_text.delta", "output_index": 0, "delta": "a"}]),
        ("google", [{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}]),
    ],
)
def test_s6_text_without_the_dialects_end_is_partial(dialect: str, frames: list[Any]) -> None:
    reply = read(dialect, events(*frames))
    assert (reply.parts, reply.partial) == ((Text(text="a"),), "cut")
    assert reply.error


@pytest.mark.parametrize(
    ("dialect", "frames", "partial", "words"),
    [
        ("chat", [chunk(content="a"), {"error": {"message": "boom"}}], "error", "boom"),
        ("chat", [chunk(content="a"), {"choices": [{"delta": {}, "error": {"message": "boom"}}]}], "error", "boom"),
        ("chat", [chunk(content="a"), chunk("length")], "length", "limit"),
        ("chat", [chunk(content="a"), chunk("content_filter")], "refused", "filter"),
        (
            "responses",
            [
                {"type": "response.output_text.delta", "output_index": 0, "delta": "a"},
                {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}},
            ],
            "length",
            "limit",
        ),
        (
            "responses",
            [
                {"type": "response.output_text.delta", "output_index": 0, "delta": "a"},
                {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "boom"}}},
            ],
            "error",
            "boom",
        ),
        (
            "responses",
            [{"type": "response.output_text.delta", "delta": "a"}, {"type": "error", "message": "boom"}],
            "error",
            "boom",
        ),
        (
            "anthropic",
            [
                block(0, type="text", text="a"),
                {"type": "error", "error": {"type": "overloaded_error", "message": "boom"}},
            ],
            "error",
            "boom",
        ),
        (
            "anthropic",
            [block(0, type="text", text="a"), {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}, STOP],
            "length",
            "limit",
        ),
        (
            "google",
            [{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, {"error": {"code": 503, "message": "boom"}}],
            "error",
            "boom",
        ),
    ],
)
def test_s7_an_error_after_text_keeps_the_text_and_says_why(
    dialect: str, frames: list[Any], partial: str, words: str
) -> None:
    reply = read(dialect, events(*frames))
    assert (reply.parts, reply.partial) == ((Text(text="a"),), partial)
    assert words in (reply.error or "")


@pytest.mark.parametrize("index", [0, None])
@pytest.mark.parametrize("ids", [("a", "b"), (None, None)])
def test_s8_two_calls_on_one_index_or_none_are_two(index: int | None, ids: tuple[str | None, str | None]) -> None:
    frames = [call(index, ids[0], "f", '{"x":1}'), call(index, ids[1], "f", '{"x":2}'), chunk("tool_calls")]
    found = calls(read("chat", events(*frames)))
    assert found == [(ids[0] or "call_1", "f", {"x": 1}), (ids[1] or "call_2", "f", {"x": 2})]


def test_s9_arguments_without_an_id_go_by_index() -> None:
    frames = [call(0, "A", "f", ""), call(1, "B", "g", ""), call(0, arguments='{"a":1}'), call(1, arguments='{"b":2}')]
    assert calls(read("chat", events(*frames, chunk("tool_calls")))) == [("A", "f", {"a": 1}), ("B", "g", {"b": 2})]


def test_s11_an_object_is_taken_as_it_is_and_a_string_in_it_stays_one() -> None:
    frames = [call(0, "a", "f", {"x": {"y": [1]}}), call(1, "b", "g", '{"x":"{\\"y\\":1}"}'), chunk("tool_calls")]
    assert calls(read("chat", events(*frames))) == [("a", "f", {"x": {"y": [1]}}), ("b", "g", {"x": '{"y":1}'})]


@pytest.mark.parametrize("arguments", ["", None, ...])
def test_s12_no_arguments_are_not_made_an_object(arguments: Any) -> None:
    assert calls(read("chat", events(call(0, "a", "f", arguments), chunk("tool_calls")))) == [("a", "f", "")]


@pytest.mark.parametrize("raw", ["null", "[1]", '{"x":1', '{"x":1}{"y":2}', "{'x':1}", '{"x":NaN}', " "])
def test_s12_arguments_that_are_no_object_are_kept_raw_and_sent_on_as_a_valid_one(raw: str) -> None:
    reply = read("chat", events(call(0, "a", "f", raw), chunk("tool_calls")))
    assert calls(reply) == [("a", "f", raw)]
    result = ToolResult(call="a", name="f", outcome="error", parts=(Text(text="no object"),))
    function = sent("chat", *reply.parts, results=(result,))["messages"][1]["tool_calls"][0]["function"]
    assert json.loads(function["arguments"]) == ({"unparsed": raw} if raw.strip() else {})


def test_s14_a_signature_without_thinking_stays_with_its_block_and_goes_back_byte_for_byte() -> None:
    frames = [
        block(0, type="thinking", thinking=""),
        delta(0, "signature_delta", signature="sig+/=="),
        {"type": "content_block_stop", "index": 0},
        block(1, type="text", text=""),
        delta(1, "text_delta", text="answer"),
        STOP,
    ]
    reply = read("anthropic", events(*frames), model="claude-x")
    signed = {"type": "thinking", "thinking": "", "signature": "sig+/=="}
    assert reply.parts == (
        Thinking(text="", replay=Replay(dialect="anthropic", family="claude", value=signed)),
        Text(text="answer"),
    )
    assert sent("anthropic", *reply.parts)["messages"][1]["content"] == [signed, {"type": "text", "text": "answer"}]


def test_s15_thinking_and_redacted_thinking_around_a_call_go_back_unchanged() -> None:
    frames = [
        block(0, type="thinking", thinking=SIGNED["thinking"], signature=SIGNED["signature"]),
        block(1, type="tool_use", id="t1", name="f", input={}),
        delta(1, "input_json_delta", partial_json='{"x":1}'),
        block(2, **REDACTED),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        STOP,
    ]
    reply = read("anthropic", events(*frames), model="claude-x")
    result = ToolResult(call="t1", name="f", outcome="ok", parts=(Text(text="2"),))
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}}
    body = sent("anthropic", *reply.parts, results=(result,))
    assert body["messages"][1]["content"] == [SIGNED, use, REDACTED]


def test_s15_thinking_without_a_replay_value_is_never_sent() -> None:
    for dialect in DIALECTS:
        assert "secret thought" not in json.dumps(sent(dialect, Thinking(text="secret thought"), Text(text="a")))


def test_s17_of_several_cumulative_counts_the_last_is_right() -> None:
    counted = [{"type": "message_delta", "delta": {}, "usage": {"output_tokens": n}} for n in (5, 9, 9)]
    started = {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}
    assert read("anthropic", events(started, *counted, STOP)).usage == Usage(input=7, output=9)
    used = [{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": n}} for n in (5, 9)]
    assert read("chat", events(*used, chunk("stop"))).usage == Usage(input=7, output=9)


def test_s19_results_in_another_order_are_joined_by_their_call() -> None:
    reply = (ToolCall(call="a", name="f", arguments={}), ToolCall(call="b", name="g", arguments={}))
    results = (
        ToolResult(call="b", name="g", outcome="ok", parts=(Text(text="two"),)),
        ToolResult(call="a", name="f", outcome="interrupted", parts=(Text(text="no result"),)),
    )
    found = sent("anthropic", *reply, results=results)["messages"][2]["content"]
    assert [(one["tool_use_id"], one.get("is_error", False)) for one in found] == [("b", False), ("a", True)]
    assert [one["tool_call_id"] for one in sent("chat", *reply, results=results)["messages"][2:]] == ["b", "a"]
    outputs = [one for one in sent("responses", *reply, results=results)["input"] if one["type"].endswith("output")]
    assert [one["call_id"] for one in outputs] == ["b", "a"]
    answered = [one["functionResponse"] for one in sent("google", *reply, results=results)["contents"][2]["parts"]]
    assert [(one["id"], one["response"]) for one in answered] == [
        ("b", {"output": "two"}),
        ("a", {"error": "no result"}),
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_s19_a_path_with_swapped_and_missing_results_becomes_a_request_that_has_each_once(dialect: str) -> None:
    """Through the joins, as a turn after a crash is sent: in the calls' order, and what is missing is closed."""
    said = path(
        ("user", ("Look.",)),
        ("assistant", (path_call("a"), path_call("b"), path_call("c"))),
        ("tool", (path_result("c", "three"), path_result("a", "one"))),
        ("user", ("Well?",)),
    )
    prompt = joins.build(said, manifest(), files={})
    body = json.dumps(json.loads(DIALECTS[dialect].encode(prompt, {}, "claude-x", Quirks())))
    placed = [body.index(words) for words in ("one\\n", joins.INTERRUPTED, "three\\n")]
    assert placed == sorted(placed)
    assert [body.count(words) for words in ("one\\n", joins.INTERRUPTED, "three\\n", "Well?")] == [1, 1, 1, 1]


def test_s20_text_that_looks_like_an_event_injects_none() -> None:
    words = 'x\r\n\r\nevent: error\rdata: {"error":"no"}\n\ndata: [DONE]\n\n'
    reply = read("chat", events(chunk(content=words), chunk("stop")))
    assert (reply.parts, reply.partial) == ((Text(text=words),), None)


BREAKING = 'x\r\n\r\nevent: error\rdata: {"error":"no"}\n\n[DONE]\x0b\x0c\x1c\x85\u2028\u2029\x00{"type":"result"}\n'


@pytest.mark.parametrize("chunk", [None, 1, 3])
def test_s20_what_a_model_says_breaks_no_line_of_ours(tmp_path: Path, chunk: int | None) -> None:
    """`send --json` gives JSON Lines: whatever the text holds, a line feed ends a line and nothing else does."""
    succeed("new", "--model", scripted(tmp_path, {"text": BREAKING, **({"chunk": chunk} if chunk else {})}))
    ran = run_cli("send", BREAKING, "--json")
    assert (ran.code, ran.err) == (0, "")
    raw = ran.out.removesuffix("\n").split("\n")
    lines = [json.loads(line) for line in raw]
    assert {line["type"] for line in lines} == {"delta", "event", "result"}
    said = storable(BREAKING)
    assert "".join(line["text"] for line in lines if line["type"] == "delta") == said
    assert [line["text"] for line in lines if line["type"] == "result"] == [said]
    assert not any(ending in line for line in raw for ending in "\r\x0b\x0c\x1c")
    assert given(["path"])[-1]["node"]["text"] == said
