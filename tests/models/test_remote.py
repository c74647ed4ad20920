"""A model behind HTTP, whole: each dialect through the real server and sender, keys, cancel, and nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, cast

import pytest

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.message import Text
from forkwood.domain.model import Binding, Delta, Model, Reply, Traits, Try
from forkwood.domain.settings import Parameters, Timeouts
from forkwood.models.quirks import Quirks
from forkwood.models.remote import DIALECTS, RemoteModel
from tests.models.prompts import IMAGES, PICTURE, WEATHER, cases, golden, prompt, user
from tests.models.recorded import CHAT_TEXT, RECORDED, Recorded, chunk, decoded, decoder, events, said
from tests.replay import Hold, Played, Replay, pieces, replaying

TRY = Try(turn=0, number=1)
KEYS = {"env:ONE": "first-key-0123456789", "env:TWO": "second-key-0123456789"}
PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "/v1/models/gemini-3-pro:streamGenerateContent?alt=sse",
    "ollama": "/v1/api/chat",
}
ALL = pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)


@pytest.fixture
async def replay() -> AsyncIterator[Replay]:
    async with replaying() as server:
        yield server


def remote(replay: Replay, dialect: Any = "chat", *, model: str = "gpt-5", **given: Any) -> RemoteModel:
    credentials = given.pop("credentials", tuple(KEYS))
    binding = Binding(
        provider="acme", dialect=dialect, origin=f"{replay.origin}/v1", model=model, credentials=credentials
    )
    settings: dict[str, Any] = {
        "traits": Traits(),
        "quirks": Quirks(),
        "timeouts": Timeouts(),
        "resolve": KEYS.__getitem__,
    }
    return RemoteModel(name=f"acme:{model}", binding=binding, **(settings | given))


async def ask(model: Model, request: bytes = b"{}") -> tuple[list[Delta], Reply]:
    items = [item async for item in model.stream(request, TRY)]
    reply = items.pop()
    assert isinstance(reply, Reply)
    return cast("list[Delta]", items), reply


async def expect(replay: Replay, recorded: Recorded, body: tuple[bytes, ...]) -> None:
    replay.play(Played(body=body))
    deltas, reply = await ask(remote(replay, recorded.dialect, model=recorded.model))
    assert (reply.parts, reply.usage, reply.finish, reply.partial) == (
        recorded.parts,
        recorded.usage,
        recorded.finish,
        recorded.partial,
    )
    assert said(deltas) == said(decoded(decoder(recorded.dialect, model=recorded.model), recorded.body)[0])


@ALL
async def test_a_stream_in_single_bytes_over_the_wire(replay: Replay, recorded: Recorded) -> None:
    await expect(replay, recorded, pieces(recorded.body, range(len(recorded.body))))


@ALL
async def test_a_stream_in_two_pieces_over_the_wire(replay: Replay, recorded: Recorded) -> None:
    for cut in range(1, len(recorded.body), max(1, len(recorded.body) // 25)):
        await expect(replay, recorded, pieces(recorded.body, [cut]))


@ALL
async def test_a_stream_broken_off_over_the_wire_keeps_what_came(replay: Replay, recorded: Recorded) -> None:
    end = {"google": b"\r\n\r\n", "ollama": b"\n"}.get(recorded.dialect, b"\n\n")
    cut = recorded.body.index(end, len(recorded.body) // 3)
    replay.play(Played(body=(recorded.body[:cut], "eof")))
    reply = (await ask(remote(replay, recorded.dialect, model=recorded.model)))[1]
    assert reply.partial == "cut"
    assert "lost the connection" in (reply.error or "")
    assert reply.parts


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_very_bytes_go_out_to_the_dialects_path_with_the_dialects_key(replay: Replay, dialect: str) -> None:
    recorded = next(one for one in RECORDED if one.dialect == dialect)
    replay.play(Played(body=(recorded.body,)))
    model = remote(replay, dialect, model=recorded.model, quirks=Quirks(extra_headers={"x-title": "t"}))
    request = model.encode(cases(dialect)["images"], IMAGES)
    assert request == golden(dialect, "images").replace(b"claude-sonnet-4-5", recorded.model.encode())
    await ask(model, request)
    (sent,) = replay.requests
    assert (sent.target, sent.body, sent.header("x-title")) == (PATHS[dialect], request, "t")
    assert KEYS["env:ONE"] in str(
        [sent.header(name) for name in ("authorization", "x-api-key", "x-goog-api-key") if sent.header(name)]
    )


async def test_without_credentials_nothing_is_resolved_and_no_key_is_sent(replay: Replay) -> None:
    replay.play(Played(body=(CHAT_TEXT.body,)))
    await ask(remote(replay, credentials=()))
    assert replay.requests[0].header("authorization") is None


async def test_keys_are_tried_one_after_another_when_told_to(replay: Replay) -> None:
    replay.play(Played(status=401, body=(b'{"error":"wrong first-key-0123456789"}',)), Played(body=(CHAT_TEXT.body,)))
    model = remote(replay)
    assert model.keys_left == 1
    with pytest.raises(ProviderFailed) as caught:
        await ask(model)
    assert caught.value.message == "acme answered 401: wrong [secret]"
    assert (model.next_key(), model.keys_left, model.next_key()) == (True, 0, False)
    await ask(model)
    assert [one.header("authorization") for one in replay.requests] == [f"Bearer {key}" for key in KEYS.values()]


async def test_nothing_is_tried_again_by_itself(replay: Replay) -> None:
    replay.play(Played(status=503), Played(body=(CHAT_TEXT.body,)))
    with pytest.raises(ProviderFailed) as caught:
        await ask(remote(replay))
    assert (caught.value.reason, len(replay.requests)) == ("unavailable", 1)


async def test_deltas_come_while_the_rest_is_still_on_its_way(replay: Replay) -> None:
    more = asyncio.Event()
    replay.play(Played(body=(events(chunk(content="a")), Hold(more), events(chunk("stop", content="b"), "[DONE]"))))
    stream = remote(replay).stream(b"{}", TRY)
    assert await anext(stream) == Delta(index=0, kind="text", text="a")
    more.set()
    assert [item async for item in stream][-1] == Reply(parts=(Text(text="ab"),), finish="stop")


async def test_closing_the_stream_closes_the_socket_at_once(replay: Replay) -> None:
    replay.play(Played(body=(events(chunk(content="a")), Hold(asyncio.Event()))))
    stream = cast("AsyncGenerator[Delta | Reply]", remote(replay).stream(b"{}", TRY))
    await anext(stream)
    await stream.aclose()
    await asyncio.wait_for(replay.requests[0].gone.wait(), 60)


@pytest.mark.parametrize(
    ("traits", "asked"),
    [(Traits(images=False), prompt(user(PICTURE))), (Traits(tools=False), prompt(user("a"), tools=(WEATHER,)))],
)
async def test_what_the_model_is_known_not_to_take_is_told_before_it_is_sent(
    replay: Replay, traits: Traits, asked: Any
) -> None:
    with pytest.raises(ProviderFailed) as caught:
        remote(replay, traits=traits).encode(asked, IMAGES)
    assert (caught.value.reason, bool(caught.value.hint)) == ("capability", True)
    assert remote(replay).encode(asked, IMAGES)


def test_a_parameter_that_cannot_be_sent_is_refused_or_told(replay: Replay) -> None:
    far = remote(replay, "responses")
    with pytest.raises(ProviderFailed) as caught:
        far.encode(prompt(user("a"), seed=1), {})
    assert (caught.value.reason, caught.value.facts["setting"]) == ("capability", "seed")
    wanted = Parameters(context=9_000, effort="low")
    assert far.encode(prompt(user("a"), context=9_000, effort="low"), {})
    (told,) = far.unsent(wanted)
    assert told.startswith("context (9000) was not sent: acme:gpt-5 takes none")
    assert remote(replay, "ollama").unsent(wanted) == ()
