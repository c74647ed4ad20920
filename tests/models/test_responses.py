"""The Responses dialect: golden requests, reasoning in its place, ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forkwood.domain.message import Replay, Text, Thinking, ToolCall
from forkwood.domain.model import Reply
from forkwood.models.quirks import Quirks
from forkwood.models.responses import headers, path
from tests.models.prompts import assistant, cases, golden, prompt, request, thoughts, user
from tests.models.recorded import REASONING_ITEM, decoded, decoder, events

DONE = {"type": "response.completed", "response": {}}


def body(asked: Any, **quirks: Any) -> Any:
    return json.loads(request("responses", asked, Quirks(**quirks)))


def read(*frames: Any) -> Reply:
    return decoded(decoder("responses"), events(*frames))[1]


def summary(text: str, part: int = 0) -> dict[str, Any]:
    return {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": part, "delta": text}


def done(**item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": 0, "item": item}


@pytest.mark.parametrize("name", cases("responses"))
def test_request_bytes_are_golden(name: str) -> None:
    assert request("responses", cases("responses")[name]) == golden("responses", name)


def test_where_it_goes_and_who_asks() -> None:
    assert path("m") == "/responses"
    assert headers("k") == {"authorization": "Bearer k"}
    assert headers(None) == {}


def test_nothing_is_stored_and_reasoning_is_asked_for_as_the_quirks_say() -> None:
    asked = prompt(user("a"), effort="high")
    assert (body(asked)["store"], body(asked)["include"]) == (False, ["reasoning.encrypted_content"])
    assert "include" not in body(asked, encrypted_reasoning=False)
    assert body(asked, thoughts=False)["reasoning"] == {"effort": "high"}
    assert "reasoning" not in body(prompt(user("a")))


def test_reasoning_that_nothing_follows_is_left_out() -> None:
    sent = body(prompt(user("a"), assistant(*thoughts("responses")), user("b")))["input"]
    assert [one["type"] for one in sent] == ["message", "message"]


def test_summaries_are_paragraphs_and_the_item_is_kept_for_replay() -> None:
    reply = read(summary("One"), summary(".", 0), summary("Two.", 1), done(**REASONING_ITEM), DONE)
    assert reply.parts == (
        Thinking(text="One.\n\nTwo.", replay=Replay(dialect="responses", family="gpt", value=REASONING_ITEM)),
    )


def test_reasoning_without_encrypted_content_cannot_be_given_back() -> None:
    assert read(summary("One."), done(id="rs", type="reasoning", summary=[]), DONE).parts == (Thinking(text="One."),)


def test_what_no_delta_said_is_taken_from_the_whole_items() -> None:
    items = [
        {"type": "reasoning", "id": "r", "summary": [{"text": "Hm."}]},
        {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "function_call", "id": "f", "call_id": "c", "name": "g", "arguments": '{"x":1}'},
    ]
    expected = (Thinking(text="Hm."), Text(text="a"), ToolCall(call="c", name="g", arguments={"x": 1}))
    whole = [{"type": "response.output_item.done", "output_index": n, "item": item} for n, item in enumerate(items)]
    assert read(*whole, DONE).parts == expected
    assert read({"type": "response.completed", "response": {"output": items}}).parts == expected


def test_items_without_an_index_are_told_apart_by_id() -> None:
    added = [
        {"type": "response.output_item.added", "item": {"type": "function_call", "id": f, "call_id": f, "name": f}}
        for f in "ab"
    ]
    filled = [
        {"type": "response.function_call_arguments.delta", "item_id": f, "delta": json.dumps({f: 1})} for f in "ba"
    ]
    assert read(*added, *filled, DONE).parts == (
        ToolCall(call="a", name="a", arguments={"a": 1}),
        ToolCall(call="b", name="b", arguments={"b": 1}),
    )


def test_a_refusal_is_kept_as_words_and_told() -> None:
    reply = read({"type": "response.refusal.delta", "output_index": 0, "delta": "No."}, DONE)
    assert (reply.parts, reply.partial) == ((Text(text="No."),), "refused")


@pytest.mark.parametrize(
    ("details", "partial"),
    [
        ({"reason": "max_output_tokens"}, "length"),
        ({"reason": "content_filter"}, "refused"),
        ({}, "error"),
        (None, "error"),
    ],
)
def test_an_incomplete_reply_says_why(details: Any, partial: str) -> None:
    said = {"type": "response.output_text.delta", "delta": "a"}
    reply = read(said, {"type": "response.incomplete", "response": {"incomplete_details": details}})
    assert (reply.parts, reply.partial) == ((Text(text="a"),), partial)


def test_events_of_unknown_kinds_and_arguments_of_no_call_are_not_fatal() -> None:
    stray = {"type": "response.function_call_arguments.delta", "output_index": 5, "delta": "{"}
    reply = read({"type": "response.new"}, stray, DONE)
    assert (reply.parts, reply.partial) == ((), None)
    assert "could not be read" in reply.notices[0]


@pytest.mark.parametrize(
    ("response", "partial"),
    [
        ({"status": "completed"}, None),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "failed", "error": {"message": "boom"}}, "error"),
        ({"status": "cancelled"}, "cut"),
        ({"status": {}}, None),
    ],
)
def test_the_status_says_how_it_ended_whatever_the_event_is_called(response: Any, partial: str | None) -> None:
    said = {"type": "response.output_text.delta", "delta": "a"}
    reply = read(said, {"type": "response.completed", "response": response})
    assert (reply.parts, reply.partial) == ((Text(text="a"),), partial)


CALL = {"type": "function_call", "id": "f", "call_id": "c", "name": "g"}


@pytest.mark.parametrize(
    "last",
    [
        {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"x":1}'},
        done(**CALL, arguments='{"x":1}'),
        done(**CALL, arguments={"x": 1}),
    ],
)
def test_arguments_that_only_the_end_of_a_call_says_are_kept(last: Any) -> None:
    begun = {"type": "response.output_item.added", "output_index": 0, "item": {**CALL, "arguments": ""}}
    expected = (ToolCall(call="c", name="g", arguments={"x": 1}),)
    assert read(begun, last, DONE).parts == expected
    assert read(begun, last, done(**CALL, arguments='{"x":1}'), DONE).parts == expected
    assert read(last, done(**CALL), DONE).parts == expected


def test_a_refusal_that_only_the_whole_item_says_is_a_refusal() -> None:
    reply = read(done(type="message", content=[{"type": "refusal", "refusal": "No."}]), DONE)
    assert (reply.parts, reply.partial) == ((Text(text="No."),), "refused")


def test_a_reply_the_provider_gave_up_is_not_whole() -> None:
    said = {"type": "response.output_text.delta", "delta": "a"}
    reply = read(said, {"type": "response.cancelled", "response": {}})
    assert (reply.parts, reply.partial, reply.finish) == ((Text(text="a"),), "cut", "cancelled")
    assert reply.error == "the provider gave up the reply"


@pytest.mark.parametrize("kind", ["response.completed", "response.incomplete"])
def test_a_status_of_another_kind_is_none(kind: str) -> None:
    reply = read({"type": "response.output_text.delta", "delta": "a"}, {"type": kind, "response": {"status": []}})
    assert reply.parts == (Text(text="a"),)
