"""The chat dialect: golden requests, quirks, and what servers that speak like it send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forkwood.domain.message import Replay, Text, Thinking, ToolCall
from forkwood.domain.model import Reply, Usage
from forkwood.models.chat import headers, path
from forkwood.models.quirks import Quirks
from tests.models.prompts import IMAGES, MODELS, PICTURE, assistant, call, cases, golden, prompt, request, result, user
from tests.models.recorded import chunk, decoded, decoder, events


def body(asked: Any, **quirks: Any) -> Any:
    return json.loads(request("chat", asked, Quirks(**quirks)))


def read(*frames: Any, **quirks: Any) -> Reply:
    return decoded(decoder("chat", quirks=Quirks(**quirks)), events(*frames))[1]


@pytest.mark.parametrize("name", cases("chat"))
def test_request_bytes_are_golden(name: str) -> None:
    assert request("chat", cases("chat")[name]) == golden("chat", name)


def test_where_it_goes_and_who_asks() -> None:
    assert path("m") == "/chat/completions"
    assert headers("k") == {"authorization": "Bearer k"}
    assert headers(None) == {}


@pytest.mark.parametrize(
    ("quirks", "field", "value"),
    [
        ({"output_limit_field": "max_completion_tokens"}, "max_completion_tokens", 300),
        ({"stream_usage": False}, "stream_options", None),
        ({"extra_body": {"options": {"f16": True}}}, "options", {"f16": True}),
        ({"effort_field": "reasoning.effort"}, "reasoning", {"effort": "low"}),
        ({"effort_field": None}, "reasoning_effort", None),
        ({"seed_field": "random_seed"}, "random_seed", 7),
        ({"seed_field": "random_seed"}, "seed", None),
        ({"seed_field": None}, "seed", None),
        ({"extra_body": {"stream": False}}, "stream", False),
    ],
)
def test_quirks_of_the_body(quirks: dict[str, Any], field: str, value: Any) -> None:
    asked = prompt(user("hi"), max_output=300, context=9000, effort="low", seed=7)
    assert body(asked, **quirks).get(field) == value


def test_who_speaks_the_system_prompt() -> None:
    asked = prompt(user("hi"), system="Be brief.")
    assert body(asked, system_role="developer")["messages"][0] == {"role": "developer", "content": "Be brief."}


def test_call_ids_of_nine_characters_stay_paired() -> None:
    messages = body(prompt(user("a"), assistant(call("call/ü 1")), user(result("call/ü 1"))), call_ids="nine")[
        "messages"
    ]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"]
    assert len(messages[2]["tool_call_id"]) == 9 and messages[2]["tool_call_id"].isalnum()


def test_results_and_words_of_one_message_are_messages_of_their_own() -> None:
    messages = body(prompt(user("a"), assistant(call()), user(result(), "Also: why?")))["messages"]
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "user"]
    assert messages[3]["content"] == "Also: why?"


def test_a_reply_of_nothing_still_stands_in_its_turn() -> None:
    assert body(prompt(user("a"), assistant(), user("b")))["messages"][1] == {"role": "assistant", "content": ""}


def test_an_image_goes_in_its_place() -> None:
    content = body(prompt(user("before", PICTURE, "after")))["messages"][0]["content"]
    assert [one["type"] for one in content] == ["text", "image_url", "text"]
    assert IMAGES and MODELS


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_fields_of_thinking(field: str) -> None:
    reply = read(chunk(**{field: "Hm"}), chunk(**{field: "."}), chunk(content="a"), chunk("stop"))
    assert reply.parts == (Thinking(text="Hm."), Text(text="a"))
    assert reply.notices == ()


def test_two_fields_that_say_the_same_are_said_once() -> None:
    same: dict[str, Any] = {
        "reasoning": "Hm.",
        "reasoning_content": "Hm.",
        "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}],
    }
    assert read(chunk(**same), chunk("stop", content="a")).parts == (Thinking(text="Hm."), Text(text="a"))


def test_details_are_put_together_and_kept_for_replay_only_where_they_are_signed() -> None:
    pieces: list[dict[str, Any]] = [
        {"type": "reasoning.text", "text": "Look ", "index": 0, "format": "f"},
        {"type": "reasoning.text", "text": "up.", "index": 0, "signature": None},
        {"type": "reasoning.text", "signature": "s+/==", "index": 0},
        {"type": "reasoning.encrypted", "data": "AB", "index": 1, "id": "x"},
        {"type": "reasoning.encrypted", "data": "CD", "index": 1, "id": "x"},
    ]
    reply = read(*(chunk(reasoning_details=[one]) for one in pieces), chunk("stop", content="a"))
    kept = [
        {"type": "reasoning.text", "text": "Look up.", "index": 0, "format": "f", "signature": "s+/=="},
        {"type": "reasoning.encrypted", "data": "ABCD", "index": 1, "id": "x"},
    ]
    replay = Replay(dialect="chat", family="gpt", value={"reasoning_details": kept})
    assert reply.parts == (Thinking(text="Look up.", replay=replay), Text(text="a"))
    assert body(prompt(user("q"), assistant(*reply.parts), user("r")))["messages"][1]["reasoning_details"] == kept
    unsigned = read(*(chunk(reasoning_details=[one]) for one in pieces[:2]), chunk("stop", content="a"))
    assert unsigned.parts[0] == Thinking(text="Look up.")


def test_after_a_field_of_thinking_a_tag_is_a_word() -> None:
    reply = read(chunk(reasoning_content="Hm."), chunk(content="<think> opens"), chunk("stop"))
    assert reply.parts == (Thinking(text="Hm."), Text(text="<think> opens"))


def test_thinking_goes_back_in_its_field_to_who_demands_it() -> None:
    frames = (chunk(reasoning_content="Hm"), chunk(reasoning_content="."), chunk("stop", content="Yes."))
    thought, answer = read(*frames, thinking_field="reasoning_content").parts
    mark = Replay(dialect="chat", family="gpt", value={"field": "reasoning_content"})
    assert thought == Thinking(text="Hm.", replay=mark)
    assert read(*frames).parts == (Thinking(text="Hm."), answer)
    asked = prompt(user("a"), assistant(thought, answer), user("b"), assistant(call()), user(result()), assistant("c"))
    sent = [
        message
        for message in body(asked, thinking_field="reasoning_content")["messages"]
        if message["role"] == "assistant"
    ]
    assert [message.get("reasoning_content") for message in sent] == ["Hm.", "", None]
    assert "reasoning_content" not in json.dumps(body(asked))


def test_tags_are_as_the_quirk_says() -> None:
    assert read(chunk(content="a</think>b"), chunk("stop"), think_tags="opened").parts == (
        Thinking(text="a"),
        Text(text="b"),
    )
    assert read(chunk(content="<think>a"), chunk("stop"), think_tags="none").parts == (Text(text="<think>a"),)


def test_thinking_without_an_answer_says_so() -> None:
    reply = read(chunk(content="<think>on and on"), chunk("length"))
    assert (reply.parts, reply.partial) == ((Thinking(text="on and on"),), "length")
    assert reply.notices == ("The model thought and gave no answer",)


def test_content_as_a_list_of_pieces() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    reply = read(chunk(content=[thought, {"type": "text", "text": "a"}]), chunk("stop", content=["b"]))
    assert reply.parts == (Thinking(text="Hm."), Text(text="ab"))


def test_a_whole_completion_in_one_frame() -> None:
    fragment = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": "x", "tool_calls": [fragment]}
    reply = read({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    assert (reply.parts, reply.partial) == ((Text(text="x"), ToolCall(call="a", name="f", arguments={})), None)


def test_an_old_function_call() -> None:
    frames = (chunk(function_call={"name": "f", "arguments": '{"x"'}), chunk(function_call={"arguments": ":1}"}))
    assert read(*frames, chunk("function_call")).parts == (ToolCall(call="call_1", name="f", arguments={"x": 1}),)


def test_a_refusal_is_kept_as_words_and_told() -> None:
    for end in ("stop", "declined"):
        reply = read(chunk(refusal="I can"), chunk(refusal="not."), chunk(end))
        assert (reply.parts, reply.partial) == ((Text(text="I cannot."),), "refused")


def test_only_the_first_choice_counts() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}
    reply = read(chunk(content="a"), other)
    assert (reply.parts, reply.partial) == ((Text(text="a"),), "cut")


@pytest.mark.parametrize(
    "usage", [None, [], {"prompt_tokens": None, "completion_tokens": "x"}, {"prompt_tokens": True}]
)
def test_odd_usage_never_crashes(usage: Any) -> None:
    reply = read(chunk("stop", content="a"), {"choices": [], "usage": usage})
    assert reply.usage in {None, Usage()}


def test_usage_of_a_server_with_a_cache_of_its_own() -> None:
    used = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}
    assert read(chunk("stop", content="a"), {"usage": used}).usage == Usage(input=9, output=2, cache_read=4)


@pytest.mark.parametrize(
    "frame",
    [
        {"choices": [{}]},
        {"choices": [{"delta": None}]},
        {},
        chunk(content=None),
        chunk(content=5),
        chunk(tool_calls=None),
        chunk(""),
    ],
)
def test_frames_that_say_nothing(frame: Any) -> None:
    assert read(frame, chunk("stop", content="a")).parts == (Text(text="a"),)


@pytest.mark.parametrize(
    ("reason", "partial", "words"),
    [
        ("STOP", None, None),
        ("Tool_Calls", None, None),
        ("MAX_TOKENS", "length", "limit"),
        ("model_context_window_exceeded", "length", "context"),
        ("safety", "refused", "filter"),
        ("sensitive", "refused", "filter"),
        ("network_error", "error", "connection"),
        ("timeout", "error", "time"),
        ("repetition_truncation", "cut", "repeated"),
        ("Sunspots", "error", "Sunspots"),
        ("null", "cut", "before the reply was whole"),
    ],
)
def test_panelot_78_how_a_reply_ended(reason: str, partial: str | None, words: str | None) -> None:
    reply = read(chunk("null", content="a"), chunk(reason))
    assert (reply.parts, reply.partial) == ((Text(text="a"),), partial)
    assert (words is None and reply.error is None) or (words or "") in (reply.error or "")


@pytest.mark.parametrize(
    "frame",
    [
        {"object": "error", "message": "boom", "code": 500},
        {"object": "error", "message": "boom", "code": None},
        {"detail": "boom"},
        {"code": "x", "message": "boom"},
        [{"error": {"message": "boom"}}],
    ],
)
def test_an_error_in_any_shape_keeps_the_text(frame: Any) -> None:
    reply = read(chunk(content="a"), frame)
    assert (reply.parts, reply.partial, reply.notices) == ((Text(text="a"),), "error", ())
    assert "boom" in (reply.error or "")


def test_a_frame_that_reports_success_is_no_error() -> None:
    assert read(chunk(content="a"), {"code": 0, "message": "ok"}, chunk("stop")).partial is None


EMPTY_CALL = {"index": 0, "id": "", "function": {"name": "", "arguments": ""}}


@pytest.mark.parametrize(
    "side",
    [
        {"tool_calls": [EMPTY_CALL]},
        {"tool_calls": [{"function": None}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": {}}}]},
        {"tool_calls": {}},
        {"tool_calls": ""},
        {"tool_calls": [None]},
        {"function_call": ""},
        {"function_call": {"name": None, "arguments": ""}},
    ],
)
def test_calls_of_nothing_are_none_and_lose_no_text(side: dict[str, Any]) -> None:
    reply = read(chunk(content="a", **side), chunk("stop"))
    assert (reply.parts, reply.notices) == ((Text(text="a"),), ())


def test_calls_that_cannot_be_read_are_told() -> None:
    reply = read(chunk(content="a", tool_calls="lookup"), chunk("stop"))
    assert reply.parts == (Text(text="a"),)
    assert "could not be read: lookup" in reply.notices[0]


@pytest.mark.parametrize("index", ["0", 0.0])
def test_an_index_in_other_spellings_is_the_same_index(index: Any) -> None:
    frames = (
        chunk(tool_calls=[{"index": index, "id": "a", "function": {"name": "f", "arguments": {}}}]),
        chunk(tool_calls=[{"index": 1, "id": "b", "function": {"name": "g", "arguments": {}}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": '{"x":1}'}}]),
    )
    called = (ToolCall(call="a", name="f", arguments={"x": 1}), ToolCall(call="b", name="g", arguments={}))
    assert read(*frames, chunk("tool_calls")).parts == called


@pytest.mark.parametrize("last", [{"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": None}])
def test_zeros_at_the_end_take_no_count_back(last: dict[str, Any]) -> None:
    used = {"prompt_tokens": "9", "completion_tokens": 2}
    assert read(chunk("stop", content="a"), {"usage": used}, {"usage": last}).usage == Usage(input=9, output=2)


@pytest.mark.parametrize("bare", [" [DONE] ", '"[DONE]"', "null"])
def test_frames_that_only_close_are_no_notice(bare: str) -> None:
    reply = read(chunk("stop", content="a"), bare)
    assert (reply.parts, reply.partial, reply.notices) == ((Text(text="a"),), None, ())


def test_counts_that_stand_in_the_choice_count() -> None:
    choice = {"delta": {"content": "a"}, "finish_reason": "stop", "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    assert read({"choices": [choice]}).usage == Usage(input=7, output=2)


def test_details_of_ids_that_are_no_text_are_kept_apart() -> None:
    details = [{"id": [1], "data": "a"}, {"id": [2], "data": "b"}, {"data": "c"}]
    reply = read(chunk(content="x", reasoning_details=details), chunk("stop"))
    (thought,) = [part for part in reply.parts if isinstance(part, Thinking)]
    assert thought.replay is not None
    assert thought.replay.value["reasoning_details"] == [{"id": [1], "data": "a"}, {"id": [2], "data": "bc"}]
