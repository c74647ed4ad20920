"""The Anthropic dialect: golden requests, thinking in its place, ends and counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.message import Text, Thinking, ToolCall
from forkwood.domain.model import Reply, Usage
from forkwood.models.anthropic import BUDGETS, headers, path
from forkwood.models.quirks import Quirks
from tests.models.prompts import assistant, call, cases, golden, prompt, request, result, thoughts, user
from tests.models.recorded import SIGNED, block, decoded, decoder, delta, events

STOP = {"type": "message_stop"}


def body(asked: Any, **quirks: Any) -> Any:
    return json.loads(request("anthropic", asked, Quirks(**quirks)))


def read(*frames: Any, named: bool = False) -> Reply:
    return decoded(decoder("anthropic", model="claude-x"), events(*frames, named=named))[1]


@pytest.mark.parametrize("name", cases("anthropic"))
def test_request_bytes_are_golden(name: str) -> None:
    assert request("anthropic", cases("anthropic")[name]) == golden("anthropic", name)


def test_where_it_goes_and_who_asks() -> None:
    assert path("m") == "/messages"
    assert headers("k") == {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    assert headers(None) == {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(("set_to", "tokens"), [({}, limits.output_tokens_default), ({"max_output": 300}, 300)])
def test_a_number_of_tokens_is_always_asked_for(set_to: Any, tokens: int) -> None:
    for style in ("budget", "level"):
        assert body(prompt(user("a"), **set_to), effort_style=style)["max_tokens"] == tokens


@pytest.mark.parametrize("effort", BUDGETS)
def test_effort_is_a_budget_on_top_of_the_answer_or_a_level(effort: Any) -> None:
    asked = prompt(user("a"), effort=effort, max_output=300)
    assert body(asked)["thinking"] == {"type": "enabled", "budget_tokens": BUDGETS[effort]}
    assert body(asked)["max_tokens"] == 300 + BUDGETS[effort]
    by_level = body(asked, effort_style="level")
    assert by_level["output_config"] == {"effort": "low" if effort == "minimal" else effort}
    assert by_level["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert by_level["max_tokens"] == 300
    assert body(asked, effort_style="level", thoughts=False)["thinking"] == {"type": "adaptive"}


@pytest.mark.parametrize("effort", BUDGETS)
def test_where_no_limit_is_set_there_is_room_for_the_thinking_in_every_model(effort: Any) -> None:
    for style in ("budget", "level"):
        tokens = body(prompt(user("a"), effort=effort), effort_style=style)["max_tokens"]
        assert tokens == limits.output_tokens_default + BUDGETS[effort] <= 32_000


def test_a_turn_without_thinking_of_its_own_goes_on_without() -> None:
    unthought = (user("a"), assistant(call()), user(result()))
    assert "thinking" not in body(prompt(*unthought, effort="low"))
    assert "thinking" not in body(prompt(user("a"), assistant("half an ans"), effort="low"))
    assert "thinking" in body(prompt(*unthought, assistant("done"), user("next"), effort="low"))
    assert "thinking" in body(
        prompt(user("a"), assistant(*thoughts("anthropic"), call()), user(result()), effort="low")
    )


def test_blank_texts_empty_replies_and_trailing_white_space_are_not_sent() -> None:
    sent = body(prompt(user("a", " "), assistant(" \n", *thoughts("anthropic")), user("b"), assistant("half  \n")))
    assert [one["role"] for one in sent["messages"]] == ["user", "user", "assistant"]
    assert sent["messages"][0]["content"] == [{"type": "text", "text": "a"}]
    assert sent["messages"][2]["content"] == [{"type": "text", "text": "half"}]


def test_thinking_that_only_the_end_of_a_reply_follows_is_left_out() -> None:
    (redacted,) = thoughts("anthropic")[1:]
    sent = body(prompt(user("a"), assistant("text", redacted), user("b")))
    assert sent["messages"][1]["content"] == [{"type": "text", "text": "text"}]


def test_results_stand_before_the_words_of_the_same_message() -> None:
    sent = body(prompt(user("a"), assistant(call()), user("Also", result())))
    assert [one["type"] for one in sent["messages"][2]["content"]] == ["tool_result", "text"]


@pytest.mark.parametrize(
    ("reason", "partial"),
    [
        ("end_turn", None),
        ("stop_sequence", None),
        ("tool_use", None),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
        ("pause_turn", "cut"),
    ],
)
def test_how_a_reply_ends(reason: str, partial: str | None) -> None:
    reply = read(block(0, type="text", text="a"), {"type": "message_delta", "delta": {"stop_reason": reason}}, STOP)
    assert (reply.partial, reply.finish, bool(reply.error)) == (partial, reason, partial is not None)


def test_missing_event_lines_types_counts_and_starts_do_not_matter() -> None:
    frames = b'event: content_block_delta\ndata: {"index":0,"delta":{"type":"text_delta","text":"a"}}\n\n'
    assert read(frames, {"type": "message_start", "message": {}}, {"type": "message_delta"}, STOP).parts == (
        Text(text="a"),
    )


def test_an_input_that_came_whole_is_taken_as_it_is() -> None:
    reply = read(
        block(0, type="tool_use", id="t", name="f", input={"x": 1}),
        delta(0, "input_json_delta", partial_json="{}"),
        STOP,
    )
    assert reply.parts == (ToolCall(call="t", name="f", arguments={"x": 1}),)


def test_a_signature_counts_for_the_whole_of_its_block() -> None:
    frames = [
        block(0, type="thinking"),
        delta(0, "signature_delta", signature=SIGNED["signature"]),
        delta(0, "thinking_delta", thinking=SIGNED["thinking"]),
        block(1, type="thinking", thinking="unsigned"),
        STOP,
    ]
    first, second = read(*frames).parts
    assert isinstance(first, Thinking) and first.replay is not None
    assert first.replay.value == SIGNED
    assert second == Thinking(text="unsigned")


def test_panelot_86_blocks_and_deltas_of_unknown_kinds_are_told_not_fatal() -> None:
    frames = [
        block(0, type="server_tool_use"),
        delta(9, "input_json_delta", partial_json="{"),
        {"type": "new_event"},
        delta(1, "citations_delta"),
        STOP,
    ]
    reply = read(*frames)
    assert reply.partial is None
    assert [("server_tool_use" in one, "could not be read" in one) for one in reply.notices[:2]] == [
        (True, False),
        (False, True),
    ]


def test_counts_of_this_dialect_are_made_comparable() -> None:
    used = {"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300, "output_tokens": None}
    assert read({"type": "message_delta", "usage": used}, STOP).usage == Usage(
        input=321, cache_read=20, cache_write=300
    )
    assert read(STOP).usage is None


def test_zeros_at_the_end_take_no_count_back() -> None:
    used = {"type": "message_start", "message": {"usage": {"input_tokens": "9", "output_tokens": 2}}}
    zeros = {"type": "message_delta", "usage": {"input_tokens": 0, "output_tokens": None}}
    assert read(used, zeros, STOP).usage == Usage(input=9, output=2)


def test_no_count_takes_none_back() -> None:
    used = {"type": "message_start", "message": {"usage": {"input_tokens": 9, "cache_read_input_tokens": 5}}}
    last = {
        "type": "message_delta",
        "usage": {"input_tokens": None, "cache_read_input_tokens": None, "output_tokens": 2},
    }
    assert read(used, last, STOP).usage == Usage(input=14, output=2, cache_read=5)
