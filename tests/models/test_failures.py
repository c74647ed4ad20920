"""What providers say when they fail, as they say it: kinds, words, numbers, waits, and nothing secret."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import FailureKind
from forkwood.domain.masking import MASK
from forkwood.models import failures
from forkwood.models.failures import Peer, from_frame, from_response, unexpected

KEY = "my-own-key-0123"
PEER = Peer(provider="acme", secrets=(KEY,))
NOW = 1_800_000_000.0


class Case(Struct, frozen=True):
    name: str
    status: int
    body: Any
    kind: FailureKind


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


OPENAI_CONTEXT = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. "
    "Please reduce the length of the messages."
)
LLAMA = error(
    "the request exceeds the available context size, try increasing it",
    code=400,
    type="exceed_context_size_error",
    n_prompt_tokens=5000,
    n_ctx=4096,
)
GROQ = "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000, reduce your message size"
GOOGLE_QUOTA = "You exceeded your current quota, please check your plan and billing details."
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}
CASES = (
    Case("openai key", 401, error("Incorrect API key provided", code="invalid_api_key"), "auth"),
    Case("forbidden", 403, error("Your region's quota policy forbids it"), "auth"),
    Case("google key", 400, error("API key not valid", details=[{"reason": "API_KEY_INVALID"}]), "auth"),
    Case("anthropic key", 401, {"type": "error", "error": {"type": "authentication_error", "message": "x"}}, "auth"),
    Case(
        "ollama is busy",
        503,
        {"error": "server busy, please try again. maximum pending requests exceeded"},
        "overloaded",
    ),
    Case("plain 429", 429, error("Slow down, rate limit reached"), "rate_limit"),
    Case("out of money", 429, error("You exceeded your current quota", code="insufficient_quota"), "quota"),
    Case("credits", 402, error("more credits, or fewer max_tokens: context length 9"), "quota"),
    Case("low balance", 400, error("Your credit balance is too low to access the API"), "quota"),
    Case("quota beats context", 400, error("quota exceeded: prompt is too long for the context window"), "quota"),
    Case("google quota", 429, error(GOOGLE_QUOTA, status="RESOURCE_EXHAUSTED"), "quota"),
    Case("google pace", 429, error(GOOGLE_QUOTA, details=[RETRY]), "rate_limit"),
    Case("groq can never send this", 413, error(GROQ, type="tokens", code="rate_limit_exceeded"), "quota"),
    Case("openai context", 400, error(OPENAI_CONTEXT, code="context_length_exceeded"), "context_overflow"),
    Case("anthropic context", 400, error("prompt is too long: 210000 tokens > 200000 maximum"), "context_overflow"),
    Case("llama.cpp context", 400, LLAMA, "context_overflow"),
    Case("old llama.cpp context", 500, error("the request exceeds the available context size"), "context_overflow"),
    Case(
        "google context",
        400,
        error("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
        "context_overflow",
    ),
    Case("LM Studio context", 400, {"error": "the context overflows: context length of only 4096"}, "context_overflow"),
    Case("402 in other words", 402, error("the maximum context length is 9 tokens per minute"), "quota"),
    Case("429 by length", 429, error("too many tokens in the prompt: reduce the length"), "rate_limit"),
    Case("413", 413, "<html>Too large</html>", "context_overflow"),
    Case("output limit", 400, error("max_tokens: 99999 > 8192, the maximum of output tokens"), "invalid_request"),
    Case("ollama model", 404, {"error": "model 'x' not found, try pulling it first"}, "not_found"),
    Case("overloaded", 529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
    Case("overloaded 503", 503, error("busy", code="overloaded"), "overloaded"),
    Case("loading", 503, error("Loading model", type="unavailable_error", code=503), "unavailable"),
    Case("bad gateway", 502, "<html><title>502</title></html>", "unavailable"),
    Case("gateway time-out", 504, "", "timeout"),
    Case("filter", 400, error("flagged", code="content_filter"), "refused"),
    Case("fastapi", 422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "invalid_request"),
    Case("list", 400, [{"error": {"message": "bad", "status": "INVALID_ARGUMENT"}}], "invalid_request"),
)


def fail(status: int, body: Any, **headers: str) -> Any:
    sent = body if isinstance(body, str) else json.dumps(body)
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return from_response(PEER, status, named, sent.encode(), NOW)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_panelot_84_the_kind_of_a_failure(case: Case) -> None:
    failed = fail(case.status, case.body)
    assert failed.reason == case.kind
    assert failed.facts["status"] == case.status
    assert failed.message.startswith(f"acme answered {case.status}")
    assert failed.hint


def test_the_providers_words_and_code_are_kept() -> None:
    failed = fail(400, error("Unknown parameter: 'seed'", code="unknown_parameter", secret_field="hidden"))
    assert failed.message == "acme answered 400: Unknown parameter: 'seed' (unknown_parameter)"
    assert (failed.facts["words"], failed.facts["code"]) == ("Unknown parameter: 'seed'", "unknown_parameter")


@pytest.mark.parametrize(
    ("body", "got", "most"),
    [
        (LLAMA, 5000, 4096),
        (error(OPENAI_CONTEXT), 9001, 8192),
        (error("prompt is too long: 210000 tokens > 200000 maximum"), 210000, 200000),
        (error("request (5001 tokens) exceeds the available context size (4096 tokens)"), 5001, 4096),
        (error("The input token count (12) exceeds the maximum number of tokens allowed (10)."), 12, 10),
    ],
)
def test_an_overflow_tells_its_two_numbers(body: Any, got: int, most: int) -> None:
    facts = fail(400, body).facts
    assert (facts["prompt_tokens"], facts["context"]) == (got, most)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after": " 120 "}, 120.0),
        ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5),
        ({"retry_after": "Fri, 15 Jan 2027 08:00:12 GMT"}, 12.0),
        (
            {"retry_after": "Wed, 21 Oct 2015 07:28:05 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"},
            5.0,
        ),
        ({"retry_after": "Wed, 21 Oct 2015 07:28:05 GMT"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-5"}, None),
        ({"retry_after": "nan"}, None),
        ({}, None),
    ],
)
def test_how_long_the_provider_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert fail(429, error("rate limit"), **headers).retry_after == seconds


def test_google_says_how_long_in_the_body() -> None:
    assert fail(429, error("slow", details=[RETRY])).retry_after == 17.5


def test_secrets_and_control_characters_do_not_come_back() -> None:
    said = f"bad key {KEY[:6]}\x00\u202e{KEY[6:]} and sk-abcdef123456\x1b[31m\n\nAuthorization: Bearer seeded"
    failed = fail(401, error(said, code=KEY))
    assert failed.message == (
        "acme answered 401: bad key [secret] and [secret][31m Authorization: Bearer [secret] ([secret])"
    ).replace(" ([secret])", "")
    assert KEY not in repr((failed.message, failed.facts, PEER))


@pytest.mark.parametrize(
    "value",
    [
        {"choices": [{"error": {"code": "{one}", "message": "{two}"}}]},
        error("{two}", code="{one}"),
        {"error": {"message": {"k": "{one}", "l": "{two}"}}},
        {"error": {"message": ["{one}", "{two}"]}},
        {"error": {"message": '{one}" "{two}', "type": "{two}"}},
        [{"error": {"message": "{two}{one}"}}],
    ],
)
def test_halves_of_a_secret_do_not_come_back_in_any_fields(value: Any) -> None:
    key = "Zq9xAbCdEfGh1234567890PoIuYtReWq"
    said = json.loads(json.dumps(value).replace("{one}", key[:16]).replace("{two}", key[16:]))
    peer = Peer(provider="acme", secrets=(key,))
    for failed in (from_frame(peer, said), from_response(peer, 400, {}, json.dumps(said).encode(), NOW)):
        told = repr((failed.message, failed.facts))
        assert MASK in told
        assert key[:16] not in told
        assert key[16:] not in told


@pytest.mark.parametrize("cut", range(0, len(KEY), 5))
def test_a_secret_at_the_end_of_what_is_shown_does_not_come_back_in_half(cut: int) -> None:
    page = b"x" * (failures.READ_BYTES_MAX - cut) + KEY.encode()
    for failed in (fail(500, page.decode()), unexpected(PEER, 200, "text/html", page)):
        assert KEY[:4] not in failed.message
    short = b"y " * 140 + b"z" * (20 - cut) + KEY.encode()
    assert "my-own" not in unexpected(PEER, 200, "text/html", short).message


def test_a_secret_too_short_to_be_one_leaves_the_words_alone() -> None:
    peer = Peer(provider="acme", secrets=("", "abc"))
    assert unexpected(peer, 200, "text/html", b"<p>abc</p>").message.endswith(": abc")


def test_words_are_cut_to_their_bound() -> None:
    most = limits.error_characters_max
    assert fail(400, error("w" * most)).facts["words"] == "w" * most
    assert fail(400, error("w" * (most + 1))).facts["words"] == "w" * (most - 1) + "…"


@pytest.mark.parametrize(
    ("content_type", "body", "kind", "words"),
    [
        ("text/html; charset=x", "<html><title>Portal</title><p>Sign&nbsp;in</p>", "protocol", "text/html instead"),
        ("text/html", "<script>x=1</script><p>Sign in", "protocol", ": Sign in"),
        ("", "", "protocol", "acme answered 200 with nothing at all"),
        ("application/json", '{"object":"list"}', "protocol", '{"object":"list"}'),
        (
            "application/json",
            '{"error":{"message":"overloaded","type":"overloaded_error"}}',
            "overloaded",
            "overloaded",
        ),
        ("application/json", '{"error":"model is gone"}', "protocol", "model is gone"),
    ],
)
def test_a_good_status_without_a_reply_shows_what_came(
    content_type: str, body: str, kind: FailureKind, words: str
) -> None:
    failed = unexpected(PEER, 200, content_type, body.encode())
    assert failed.reason == kind
    assert words in failed.message


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, "overloaded", "Overloaded"),
        ({"error": {"code": 502, "message": "upstream"}}, "unavailable", "upstream"),
        ({"error": "out of memory"}, "protocol", "out of memory"),
        ({"error": {"code": "server_error", "message": ""}}, "unavailable", "server_error"),
        (
            {"error": {"message": "Provider error", "code": 429, "metadata": {"raw": "too fast"}}},
            "rate_limit",
            "too fast",
        ),
    ],
)
def test_an_error_inside_a_stream(value: Any, kind: FailureKind, words: str) -> None:
    failed = from_frame(PEER, value)
    assert failed.reason == kind
    assert words in failed.message


def test_a_number_of_any_length_is_no_crash() -> None:
    words = f"{'9' * 5_000} tokens > 5"
    told = from_response(PEER, 400, {}, json.dumps({"error": {"message": words}}).encode(), NOW)
    assert told.facts["status"] == 400


ECHOED = "sk-Seeded/secret+4711"


@pytest.mark.parametrize(
    "body",
    [
        f"<p>bad key {ECHOED[:6]}<b>{ECHOED[6:]}</b>",
        f"<p>bad key {ECHOED[:6]}<script>no</script>{ECHOED[6:]}",
        f"bad key {ECHOED[:9]}\r\n{ECHOED[9:]}",
        f"bad key {ECHOED.upper()}",
        "bad key " + "".join(f"%{ord(one):02x}" for one in ECHOED),
        "bad key " + "".join(f"&#{ord(one)};" for one in ECHOED),
        f'{{"error": {{"message": "bad key \\\\u0073{ECHOED[1:]}"}}}}',
        f'{{"error": {{"message": "bad key", "code": "{ECHOED}"}}}}',
    ],
)
def test_panelot_83_a_key_in_any_form_does_not_come_back(body: str) -> None:
    failed = from_response(Peer(provider="acme", secrets=(ECHOED,)), 400, {}, body.encode(), NOW)
    told = f"{failed.message} {failed.facts}"
    assert "bad key" in told
    assert MASK in told
    assert ECHOED[-8:].lower() not in told.lower()


def test_a_key_for_a_content_type_does_not_come_back() -> None:
    failed = unexpected(Peer(provider="acme", secrets=(ECHOED,)), 200, f"{ECHOED}\x1b[1m; charset=x", b"hello")
    assert failed.message == f"acme answered 200 with {MASK}[1m instead of a reply: hello"


def test_words_that_end_as_a_key_begins_are_whole() -> None:
    assert unexpected(Peer(provider="acme", secrets=(ECHOED,)), 200, "text/plain", b"his task").message.endswith(
        "his task"
    )


@pytest.mark.parametrize("shown", [len(KEY) - 1, len(KEY) // 2])
def test_a_key_that_a_bound_goes_through_is_left_out_whole(shown: int) -> None:
    words = f"{' ' * (limits.error_body_bytes_max - shown)}{KEY}"
    assert KEY[:4] not in from_frame(PEER, {"error": {"message": words}}).message
    page = f"<p>{' ' * (failures.READ_BYTES_MAX - 3 - shown)}{KEY}"
    assert KEY[:4] not in unexpected(PEER, 200, "text/html", page.encode()).message
