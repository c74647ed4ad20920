"""The Google dialect: golden requests, signatures on the parts they came with, ends and blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forkwood.domain.message import Part, Replay, Text, Thinking, ToolCall
from forkwood.domain.model import Reply, Usage
from forkwood.models.google import UNSIGNED, headers, path
from forkwood.models.quirks import Quirks
from tests.models.prompts import assistant, call, cases, golden, prompt, request, result, user
from tests.models.recorded import candidate, decoded, decoder, events


def body(asked: Any, **quirks: Any) -> Any:
    return json.loads(request("google", asked, Quirks(**quirks)))


def read(*frames: Any) -> Reply:
    return decoded(decoder("google", model="gemini-3-pro"), events(*frames))[1]


def signed(at: str, signature: str, text: str = "") -> Thinking:
    value = {"at": at, "thoughtSignature": signature}
    return Thinking(text=text, replay=Replay(dialect="google", family="gemini", value=value))


def given_back(*parts: Part) -> Any:
    return body(prompt(user("a"), assistant(*parts), user("b")))["contents"][1]["parts"]


@pytest.mark.parametrize("name", cases("google"))
def test_request_bytes_are_golden(name: str) -> None:
    assert request("google", cases("google")[name]) == golden("google", name)


def test_where_it_goes_and_who_asks() -> None:
    assert path("models/gemini-3 pro/x") == "/models/gemini-3%20pro%2Fx:streamGenerateContent?alt=sse"
    assert headers("k") == {"x-goog-api-key": "k"}
    assert headers(None) == {}


def test_effort_is_a_budget_or_a_level() -> None:
    asked = prompt(user("a"), effort="low")
    assert body(asked)["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 2048, "includeThoughts": True}
    by_level = body(asked, effort_style="level", thoughts=False)["generationConfig"]["thinkingConfig"]
    assert by_level == {"thinkingLevel": "low"}
    assert "generationConfig" not in body(prompt(user("a")))


def test_a_call_of_another_model_is_marked_as_unsigned_where_signatures_are_demanded() -> None:
    asked = prompt(user("a"), assistant(call("c1"), call("c2")), user(result("c1"), result("c2")))
    parts = body(asked, signed_calls=True)["contents"][1]["parts"]
    assert [one.get("thoughtSignature") for one in parts] == [UNSIGNED, None]
    assert "thoughtSignature" not in json.dumps(body(asked))


def test_a_signature_of_a_call_goes_back_on_that_call() -> None:
    one = {"functionCall": {"name": "f", "args": {"x": 1}, "id": "own"}, "thoughtSignature": "s1"}
    two = {"functionCall": {"name": "g"}}
    three = {"functionCall": {"name": "h", "args": {}}, "thoughtSignature": "s3"}
    parts = read(candidate(one, two, three, finish="STOP")).parts
    assert parts == (
        signed("call", "s1"),
        ToolCall(call="own", name="f", arguments={"x": 1}),
        ToolCall(call="call_3", name="g", arguments=""),
        signed("call", "s3"),
        ToolCall(call="call_5", name="h", arguments={}),
    )
    assert [(one["functionCall"]["name"], one.get("thoughtSignature")) for one in given_back(*parts)] == [
        ("f", "s1"),
        ("g", None),
        ("h", "s3"),
    ]


def test_a_signature_of_text_goes_back_behind_it_and_the_text_stays_one() -> None:
    frames = [
        candidate({"text": "a", "thoughtSignature": "s1"}),
        candidate({"text": "b"}),
        candidate({"text": "", "thoughtSignature": "s2"}, finish="STOP"),
    ]
    parts = read(*frames).parts
    assert parts == (Text(text="ab"), signed("text", "s1"), signed("text", "s2"))
    assert given_back(*parts) == [
        {"text": "ab"},
        {"text": "", "thoughtSignature": "s1"},
        {"text": "", "thoughtSignature": "s2"},
    ]


def test_a_thought_keeps_its_own_signature_and_lends_its_place_to_a_calls() -> None:
    thought = {"text": "Hm.", "thought": True}
    parts = read(
        candidate(
            {**thought, "thoughtSignature": "s1"},
            thought,
            {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "s2"},
            finish="STOP",
        )
    ).parts
    assert parts[:2] == (signed("thought", "s1", "Hm."), signed("call", "s2", "Hm."))
    assert [sorted(one) for one in given_back(*parts)] == [
        ["text", "thought", "thoughtSignature"],
        ["functionCall", "thoughtSignature"],
    ]


@pytest.mark.parametrize(
    ("reason", "partial"),
    [
        ("STOP", None),
        ("MAX_TOKENS", "length"),
        *(
            (reason, "refused")
            for reason in ("SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII", "BLOCKLIST", "LANGUAGE")
        ),
        *((reason, "error") for reason in ("MALFORMED_FUNCTION_CALL", "OTHER", "SOMETHING_NEW")),
    ],
)
def test_how_a_reply_ends(reason: str, partial: str | None) -> None:
    reply = read(candidate({"text": "a"}, finish=reason))
    assert (reply.parts, reply.partial, reply.finish) == ((Text(text="a"),), partial, reason)


def test_a_finish_reason_in_every_chunk_ends_nothing_early() -> None:
    reply = read(candidate({"text": "a"}, finish="STOP"), candidate({"text": "b"}, finish="STOP"))
    assert (reply.parts, reply.partial) == ((Text(text="ab"),), None)


def test_a_blocked_prompt_is_a_refusal_with_the_providers_words() -> None:
    reading = decoder("google")
    decoded(reading, events({"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "no"}}))
    assert reading.said.failure is not None
    assert reading.said.failure.reason == "refused"
    assert reading.said.failure.message == "google refused the prompt: SAFETY: no"


def test_parts_and_frames_of_unknown_kinds_are_not_fatal() -> None:
    frames = [candidate({"executableCode": {}}), {}, {"candidates": [{}]}, {"candidates": None}, {"usageMetadata": 3}]
    reply = read(*frames, candidate({"text": "a"}, finish="STOP"))
    assert (reply.parts, reply.usage) == ((Text(text="a"),), None)
    assert reply.notices == ("A part of the reply of a kind that is not known was left out: executableCode",)


def test_only_the_first_candidate_counts() -> None:
    second = {"candidates": [{"index": 1, "content": {"parts": [{"text": "no"}]}, "finishReason": "STOP"}]}
    assert read(candidate({"text": "a"}), second).partial == "cut"


def test_the_words_of_an_end_are_kept_clean() -> None:
    ended = {"candidates": [{"content": {}, "finishReason": "OTHER", "finishMessage": "see sk-abcdef123456"}]}
    assert read(candidate({"text": "a"}), ended).error == "the provider ended the reply: OTHER (see [secret])"


def test_zeros_at_the_end_take_no_count_back() -> None:
    used = {"usageMetadata": {"promptTokenCount": "9", "candidatesTokenCount": 2}}
    zeros = {"usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": None}}
    assert read(used, zeros).usage == Usage(input=9, output=2)


@pytest.mark.parametrize(
    "frame",
    [[{"error": {"code": 503, "message": "boom", "status": "UNAVAILABLE"}}], {"code": 503, "message": "boom"}],
)
def test_an_error_in_any_shape_keeps_the_text(frame: Any) -> None:
    reply = read(candidate({"text": "a"}), frame)
    assert (reply.parts, reply.partial, reply.notices) == ((Text(text="a"),), "error", ())
    assert "boom" in (reply.error or "")
