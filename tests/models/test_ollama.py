"""The Ollama dialect: golden requests, the context that is asked for, and what the server sends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from forkwood.domain.errors import FailureKind, ProviderFailed
from forkwood.domain.message import Text, Thinking, ToolCall
from forkwood.domain.model import Binding, Delta, Reply, Traits, Try, Usage
from forkwood.domain.settings import Timeouts
from forkwood.models.ollama import headers, path
from forkwood.models.quirks import Quirks
from forkwood.models.remote import DIALECTS, RemoteModel
from tests.models.prompts import IMAGES, PICTURE, assistant, call, cases, golden, prompt, request, result, user
from tests.models.recorded import OLLAMA, decoded, decoder, done, lines, said, spoken
from tests.replay import Played, Replay, pieces, replaying

TRY = Try(turn=0, number=1)


def body(asked: Any, model: str = "qwen3:8b", **quirks: Any) -> Any:
    return json.loads(DIALECTS["ollama"].encode(asked, IMAGES, model, Quirks(**quirks)))


def read(*frames: Any, **quirks: Any) -> Reply:
    return decoded(decoder("ollama", quirks=Quirks(**quirks)), lines(*frames))[1]


@pytest.mark.parametrize("name", cases("ollama"))
def test_request_bytes_are_golden(name: str) -> None:
    assert request("ollama", cases("ollama")[name]) == golden("ollama", name)


def test_where_it_goes_and_who_asks() -> None:
    assert path("m") == "/api/chat"
    assert headers("k") == {"authorization": "Bearer k"}
    assert headers(None) == {}


def test_options_stand_together_in_a_fixed_order_and_only_where_set() -> None:
    asked = prompt(user("hi"), max_output=300, seed=7, top_p=0.9, temperature=0.0, context=9_000)
    assert list(body(asked)["options"].items()) == [
        ("num_ctx", 9_000),
        ("temperature", 0.0),
        ("top_p", 0.9),
        ("seed", 7),
        ("num_predict", 300),
    ]
    assert "options" not in body(prompt(user("hi")))
    assert body(asked, extra_body={"options": {"num_gpu": 1}})["options"]["num_gpu"] == 1


def test_a_prompt_is_refused_rather_than_cut_and_a_full_reply_ended() -> None:
    sent = body(prompt(user("hi")))
    assert (sent["stream"], sent["truncate"], sent["shift"]) == (True, False, False)


@pytest.mark.parametrize(
    ("model", "effort", "think"),
    [
        ("qwen3:8b", None, None),
        ("qwen3:8b", "minimal", False),
        ("qwen3:8b", "low", True),
        ("deepseek-r1", "high", True),
        ("gpt-oss:20b", "minimal", "low"),
        ("gpt-oss:120b-cloud", "high", "high"),
        ("hf.co/me/gpt-oss-20b:Q4", "medium", "medium"),
    ],
)
def test_effort_is_yes_or_no_or_a_level_for_who_takes_one(model: str, effort: Any, think: Any) -> None:
    assert body(prompt(user("hi"), effort=effort), model).get("think") == think


def test_results_name_their_tool_and_images_come_beside_the_words() -> None:
    answered = result("c1", "ok", Text(text="a chart"), PICTURE)
    messages = body(prompt(user("a"), assistant(call()), user(answered, "Also: why?", PICTURE)))["messages"]
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "user"]
    assert messages[1]["tool_calls"][0]["function"] == {"name": "weather", "arguments": {"city": "Zürich"}}
    assert messages[2] == {"role": "tool", "content": "a chart", "tool_name": "weather", "tool_call_id": "c1"}
    assert (messages[3]["content"], len(messages[3]["images"])) == ("Also: why?", 2)


def test_a_reply_of_nothing_still_stands_in_its_turn_and_thinking_stays_at_home() -> None:
    messages = body(prompt(user("a"), assistant(Thinking(text="Hm.")), user("b")))["messages"]
    assert messages[1] == {"role": "assistant", "content": ""}


def test_thinking_in_its_own_field_makes_a_tag_in_the_answer_a_word() -> None:
    reply = read(spoken(thinking="Hm."), spoken("<think> opens"), done())
    assert reply.parts == (Thinking(text="Hm."), Text(text="<think> opens"))


def test_tags_are_as_the_quirk_says() -> None:
    assert read(spoken("a</think>b"), done(), think_tags="opened").parts == (Thinking(text="a"), Text(text="b"))
    assert read(spoken("<think>a"), done(), think_tags="none").parts == (Text(text="<think>a"),)
    held = read(spoken("<thi"))
    assert (held.parts, held.partial) == ((Text(text="<thi"),), "cut")


def test_calls_get_ids_that_follow_from_their_place_unless_the_server_gives_one() -> None:
    whole = {"name": "f", "arguments": {"x": 1}}
    calls = [{"function": whole}, {"function": {"name": "f"}}, {"id": "own", "function": whole}]
    reply = read(spoken(tool_calls=calls), done())
    assert reply.parts == (
        ToolCall(call="call_1", name="f", arguments={"x": 1}),
        ToolCall(call="call_2", name="f", arguments=""),
        ToolCall(call="own", name="f", arguments={"x": 1}),
    )
    assert (reply.finish, reply.partial) == ("stop", None)


def test_arguments_that_came_as_text_are_never_repaired() -> None:
    texts = ({"function": {"name": "f", "arguments": text}} for text in ('{"x":1}', '{"x":'))
    first, second = read(spoken(tool_calls=list(texts)), done()).parts
    assert isinstance(first, ToolCall) and first.arguments == {"x": 1}
    assert isinstance(second, ToolCall) and second.arguments == '{"x":'


@pytest.mark.parametrize(
    ("reason", "partial", "words"),
    [
        ("stop", None, None),
        (None, None, None),
        ("length", "length", "the limit of output tokens or of the context was reached"),
        ("load", "error", "the server loaded the model and did not let it speak"),
        ("unload", "error", "the server put the model out of memory"),
    ],
)
def test_how_it_ended(reason: str | None, partial: str | None, words: str | None) -> None:
    reply = read(spoken("a"), done(reason))
    assert (reply.parts, reply.finish, reply.partial, reply.error) == ((Text(text="a"),), reason, partial, words)


def test_text_without_the_last_line_is_partial() -> None:
    reply = read(spoken("a"), spoken("b"))
    assert (reply.parts, reply.partial) == ((Text(text="ab"),), "cut")


def test_nothing_is_waited_for_after_the_last_line() -> None:
    reading = decoder("ollama")
    decoded(reading, lines(spoken("a")))
    assert not reading.said.closed
    decoded(reading, lines(done()))
    assert reading.said.closed


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({}, None),
        ({"eval_count": 4}, Usage(output=4)),
        ({"prompt_eval_count": "x", "eval_count": True}, Usage()),
        ({"prompt_eval_count": 9, "eval_count": 4}, Usage(input=9, output=4)),
    ],
)
def test_usage_as_far_as_it_is_told(counts: Any, usage: Usage | None) -> None:
    assert read(spoken("a"), done(**counts)).usage == usage


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"message": None},
        {"message": {}},
        spoken(),
        spoken(5),  # type: ignore[arg-type]
        spoken(tool_calls=None),
        {"done": 1},
        {"done": "false"},
    ],
)
def test_lines_that_say_nothing(frame: Any) -> None:
    assert read(frame, spoken("a"), done()).parts == (Text(text="a"),)


@pytest.fixture
async def replay() -> AsyncIterator[Replay]:
    async with replaying() as server:
        yield server


def remote(replay: Replay, context: int | None = None) -> RemoteModel:
    return RemoteModel(
        name="ollama:qwen3:8b",
        binding=Binding(provider="ollama", dialect="ollama", origin=replay.origin, model="qwen3:8b"),
        traits=Traits(context=context),
        quirks=Quirks(),
        timeouts=Timeouts(),
        resolve=str,
    )


async def ask(replay: Replay, *played: Played) -> tuple[list[Delta], Reply]:
    replay.play(*played)
    model = remote(replay)
    items = [item async for item in model.stream(model.encode(prompt(user("hi")), {}), TRY)]
    reply = items.pop()
    assert isinstance(reply, Reply)
    return [item for item in items if isinstance(item, Delta)], reply


@pytest.mark.parametrize(
    ("known", "chosen", "sent"),
    [(None, None, None), (32_768, None, 32_768), (32_768, 4_096, 4_096), (None, 9_000, 9_000)],
)
async def test_the_context_is_what_the_person_set_else_what_is_known_of_the_model(
    replay: Replay, known: int | None, chosen: int | None, sent: int | None
) -> None:
    asked = prompt(user("hi"), context=chosen)
    before = msgspec.json.encode(asked)
    assert json.loads(remote(replay, known).encode(asked, {})).get("options", {}).get("num_ctx") == sent
    assert msgspec.json.encode(asked) == before


async def test_it_goes_to_its_own_route_asks_for_lines_and_says_each_thing_once(replay: Replay) -> None:
    deltas, reply = await ask(replay, Played(body=pieces(OLLAMA.body, range(0, len(OLLAMA.body), 7))))
    (sent,) = replay.requests
    assert (sent.target, sent.header("accept"), sent.header("authorization")) == (
        "/api/chat",
        "application/x-ndjson",
        None,
    )
    assert (reply.parts, reply.usage, reply.partial) == (OLLAMA.parts, OLLAMA.usage, None)
    assert said(deltas)[2:] == [("tool_call", 'weather {"city":"Zürich"}'), ("tool_call", 'weather {"city":"Genève"}')]


async def test_a_last_line_without_its_end_counts(replay: Replay) -> None:
    assert (await ask(replay, Played(body=(OLLAMA.body.rstrip(),))))[1].partial is None


async def test_a_whole_reply_over_many_lines_is_a_reply(replay: Replay) -> None:
    whole = json.dumps({**spoken("Hi."), "done": True, "done_reason": "stop"}, indent=2).encode()
    assert (await ask(replay, Played(body=(whole,))))[1] == Reply(parts=(Text(text="Hi."),), finish="stop")


TOO_LONG = "the prompt is longer than the context length currently available to the model"
FAILED: tuple[tuple[str, Played, FailureKind, str], ...] = (
    ("absent", Played(status=404, body=(lines({"error": "model 'x' not found"}),)), "not_found", "'x' not found"),
    ("too long", Played(status=400, body=(lines({"error": TOO_LONG}),)), "context_overflow", TOO_LONG),
    ("too long for an older one", Played(status=500, body=(lines({"error": "the input length exceeds the context"
     " length"}),)), "context_overflow", "exceeds"),
    ("busy", Played(status=503, body=(lines({"error": "server busy, please try again.  maximum pending requests"
     " exceeded"}),)), "overloaded", "server busy"),
    ("no memory", Played(status=500, body=(lines({"error": "model requires more system memory (9 GiB) than is"
     " available"}),)), "unavailable", "more system memory"),
    ("cannot think", Played(status=400, body=(lines({"error": '"x" does not support thinking'}),)), "invalid_request",
     "does not support thinking"),
    ("an error line at once", Played(body=(lines({"error": "llama runner process has terminated"}),)), "protocol",
     "llama runner"),
    ("an error line without end", Played(body=(b'{"error":"boom"}',)), "protocol", "boom"),
    ("an error over many lines", Played(body=(b'{\n  "error": "boom"\n}\n',)), "protocol", "boom"),
    ("a page", Played(body=(b"<html>\n<body>Sign in</body>\n</html>\n",)), "protocol", "Sign in"),
    ("nothing", Played(body=()), "protocol", "nothing at all"),
    ("an early end", Played(body=(lines(spoken()),)), "transport", "before the reply began"),
    ("loaded alone", Played(body=(lines(done("load")),)), "unavailable", "did not let it speak"),
)  # fmt: skip


@pytest.mark.parametrize(("played", "kind", "words"), [one[1:] for one in FAILED], ids=[one[0] for one in FAILED])
async def test_failures_by_kind(replay: Replay, played: Played, kind: FailureKind, words: str) -> None:
    with pytest.raises(ProviderFailed) as caught:
        await ask(replay, played)
    assert caught.value.reason == kind
    assert words in caught.value.message
    if kind == "context_overflow":
        assert "set context" in caught.value.hint


async def test_an_error_line_in_mid_stream_keeps_what_came(replay: Replay) -> None:
    deltas, reply = await ask(replay, Played(body=(lines(spoken("a"), {"error": "boom"}, spoken("b"), done()),)))
    assert [delta.text for delta in deltas] == ["a"]
    assert (reply.parts, reply.partial) == ((Text(text="a"),), "error")
    assert reply.error == "ollama reported an error: boom"
