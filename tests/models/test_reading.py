"""What the bytes of a response mean: a reply, a partial reply, or a failure before anything was said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import FailureKind, ProviderFailed
from forkwood.domain.message import PartialReason, Text, ToolCall
from forkwood.domain.model import Delta, Reply
from forkwood.domain.text import storable
from forkwood.models.failures import Peer
from forkwood.models.reading import Reading
from tests.models.recorded import CHAT_TEXT, candidate, chunk, decoder, events

TEXT = events(chunk(content="a"))
WHOLE = events(chunk(content="a"), chunk("stop"))


class Steps:
    """A source that gives what it was made of: bytes, or a failure."""

    status = 200
    content_type = "text/event-stream"

    def __init__(self, *steps: bytes | FailureKind) -> None:
        self.left = list(steps)
        self.within: list[float | None] = []

    async def read(self, within: float | None = None) -> bytes:
        self.within.append(within)
        step = self.left.pop(0) if self.left else b""
        if isinstance(step, str):
            raise ProviderFailed(step, f"failed: {step}")
        return step


async def read(source: Steps, dialect: str = "chat") -> tuple[list[Delta], Reply]:
    peer = Peer(provider="acme")
    reading = Reading(source, decoder(dialect, peer=peer), peer)
    deltas: list[Delta] = []
    while (more := await reading.more()) is not None:
        deltas += more
    return deltas, reading.reply()


class Broken(Struct, frozen=True):
    name: str
    steps: tuple[Any, ...]
    partial: PartialReason | None
    words: str | None


BROKEN = (
    Broken("whole", (WHOLE,), None, None),
    Broken("whole, then reset", (WHOLE, "transport"), None, None),
    Broken("whole, then silence", (WHOLE, "timeout"), None, None),
    Broken("no last blank line", (WHOLE[:-2],), None, None),
    Broken("no last line end", (WHOLE[:-1],), None, None),
    Broken("end of file", (TEXT,), "cut", "acme ended the stream before the reply was whole"),
    Broken("half a frame", (TEXT, WHOLE[len(TEXT) : -9]), "cut", "acme ended the stream before the reply was whole"),
    Broken("reset", (TEXT, "transport"), "cut", "failed: transport"),
    Broken("reset before the last blank line", (TEXT[:-2], "transport"), "cut", "failed: transport"),
    Broken("reset after the whole, before its last blank line", (WHOLE[:-2], "transport"), None, None),
    Broken("silence", (TEXT, "timeout"), "stalled", "failed: timeout"),
    Broken("too many bytes", (TEXT, "protocol"), "error", "failed: protocol"),
    Broken("error", (TEXT, events({"error": {"message": "boom"}})), "error", "acme reported an error: boom"),
)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
async def test_after_the_first_delta_every_end_is_a_reply(broken: Broken) -> None:
    deltas, reply = await read(Steps(*broken.steps))
    assert [delta.text for delta in deltas] == ["a"]
    assert (reply.parts, reply.partial, reply.error) == ((Text(text="a"),), broken.partial, broken.words)


class Unsaid(Struct, frozen=True):
    name: str
    steps: tuple[Any, ...]
    kind: FailureKind
    words: str
    dialect: str = "chat"


ODD_BLOCK = '{"type":"content_block_start","index":0,"content_block":{"type":"\\ud83d"}}'
UNSAID = (
    Unsaid("nothing", (), "protocol", "acme answered 200 with nothing at all"),
    Unsaid("a page", (b"<html><body>Sign in</body></html>",), "protocol", "Sign in"),
    Unsaid("an error body", (b'{"error":{"message":"boom",', b'"type":"server_error"}}'), "unavailable", "boom"),
    Unsaid("an error body on many lines", (b'{\n "error": "boom"\n}\n',), "protocol", "boom"),
    Unsaid("another body", (b'{"object":"list"}',), "protocol", '{"object":"list"}'),
    Unsaid(
        "an error event", (events({"error": {"message": "busy", "type": "overloaded_error"}}),), "overloaded", "busy"
    ),
    Unsaid("an early end", (events(chunk(role="assistant")),), "transport", "before the reply began"),
    Unsaid("frames of nonsense", (events("what", "is"),), "protocol", "could not be read: what"),
    Unsaid("choices that are none", (events({"choices": "a"}),), "protocol", 'could not be read: {"choices":"a"}'),
    Unsaid("candidates that are none", (events({"candidates": {"a": 1}}),), "protocol", "could not be read", "google"),
    Unsaid("half a character", (events({"choices": "\\ud83d"}),), "protocol", "\\ud83d"),
    Unsaid("an odd block", (events(ODD_BLOCK),), "transport", "left out: \\ud83d", "anthropic"),
    Unsaid("half a frame", (events(chunk(role="assistant")), b'data: {"choices":[{'), "transport", "reply began"),
    Unsaid("reset", (events(chunk(role="assistant")), "transport"), "transport", "failed: transport"),
    Unsaid("silence", ("timeout",), "timeout", "failed: timeout"),
    Unsaid("refused", (events(chunk("content_filter")),), "refused", "acme gave no reply"),
    Unsaid("blocked", (events({"promptFeedback": {"blockReason": "SAFETY"}}),), "refused", "SAFETY", "google"),
    Unsaid("malformed", (events(candidate(finish="MALFORMED_FUNCTION_CALL")),), "unavailable", "MALFORMED", "google"),
)


@pytest.mark.parametrize("unsaid", UNSAID, ids=lambda unsaid: unsaid.name)
async def test_panelot_79_before_the_first_delta_every_end_is_a_failure(unsaid: Unsaid) -> None:
    with pytest.raises(ProviderFailed) as caught:
        await read(Steps(*unsaid.steps), unsaid.dialect)
    assert caught.value.reason == unsaid.kind
    assert unsaid.words in caught.value.message


async def test_a_whole_completion_in_place_of_a_stream_is_a_reply() -> None:
    called = b'[{"id":"c","function":{"name":"f","arguments":"{}"}}]'
    body = b'{"choices":[{"message":{"content":"a","tool_calls":%b},\n"finish_reason":"stop"}]}' % called
    deltas, reply = await read(Steps(body[:20], body[20:]))
    assert [delta.text for delta in deltas] == ["a", "f ", "{}"]
    assert (reply.parts, reply.partial) == ((Text(text="a"), ToolCall(call="c", name="f", arguments={})), None)


async def test_nothing_is_read_after_done_and_little_is_waited_for_after_the_end() -> None:
    source = Steps(CHAT_TEXT.body, "transport")
    assert (await read(source))[1].partial is None
    assert source.within == [None]
    source = Steps(WHOLE)
    await read(source)
    assert source.within == [None, limits.after_end_seconds]


async def test_an_empty_reply_that_ended_is_a_reply() -> None:
    deltas, reply = await read(Steps(events(chunk("stop"))))
    assert (deltas, reply.parts, reply.partial) == ([], (), None)
    assert reply.notices == ("The model gave an empty reply",)


async def test_what_was_held_back_comes_as_a_delta_too() -> None:
    deltas, reply = await read(Steps(events(chunk(content="<thi"))))
    assert [delta.text for delta in deltas] == ["<thi"]
    assert reply.parts == (Text(text="<thi"),)


async def test_a_reply_over_its_bound_keeps_what_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "reply_bytes_max", 3)
    deltas, reply = await read(Steps(events(chunk(content="ab"), chunk(content="cd"), chunk("stop"))))
    assert "".join(delta.text for delta in deltas) == "abc"
    assert (reply.parts, reply.partial) == ((Text(text="abc"),), "length")
    assert "over the limit of 3" in (reply.error or "")


@pytest.mark.parametrize("held", ["<thin", "c\ud83d"], ids=["what might become a tag", "half a character"])
async def test_what_was_held_back_may_be_what_is_too_much(monkeypatch: pytest.MonkeyPatch, held: str) -> None:
    monkeypatch.setattr(limits, "reply_bytes_max", 4)
    deltas, reply = await read(Steps(b"data: " + json.dumps(chunk(content=held)).encode() + b"\n\n"))
    assert "".join(delta.text for delta in deltas) == storable(held)[:4]
    assert (reply.parts, reply.partial) == ((Text(text=storable(held)[:4]),), "length")


async def test_a_signature_that_needs_a_part_too_many_ends_the_reply_at_its_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "parts_max", 1)
    signed = candidate({"text": "a", "thoughtSignature": "s"}, finish="STOP")
    _, reply = await read(Steps(events(signed)), "google")
    assert (reply.parts, reply.partial) == ((Text(text="a"),), "length")


async def test_words_behind_the_end_that_are_too_much_leave_no_whole_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "reply_bytes_max", 3)
    _, reply = await read(Steps(events(chunk("stop", content="abc"), chunk(content="d"))))
    assert (reply.parts, reply.partial) == ((Text(text="abc"),), "length")


async def test_a_line_over_its_bound_before_anything_was_said_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "sse_line_bytes_max", 10)
    with pytest.raises(ProviderFailed) as caught:
        await read(Steps(b"data: 0123456789"))
    assert caught.value.reason == "protocol"


async def test_half_a_frame_at_the_end_is_no_frame_and_no_notice() -> None:
    _, reply = await read(Steps(TEXT, b'data: {"choices":[{"delta":{"cont'))
    assert (reply.parts, reply.partial, reply.notices) == ((Text(text="a"),), "cut", ())


class Clock:
    """Goes on by as many seconds as the source says with each piece."""

    def __init__(self, *seconds: float) -> None:
        self.now = 0.0
        self.left = [0.0, *seconds]

    def __call__(self) -> float:
        self.now += self.left.pop(0) if self.left else 0.0
        return self.now


PING = b": ping\n\n"


async def within(clock: Clock, *steps: bytes) -> tuple[list[Delta], Reply]:
    peer = Peer(provider="acme")
    reading = Reading(Steps(*steps), decoder("chat", peer=peer), peer, clock)
    deltas: list[Delta] = []
    while (more := await reading.more()) is not None:
        deltas += more
    return deltas, reading.reply()


async def test_a_stream_that_sends_and_says_nothing_has_stopped() -> None:
    most = limits.unsaid_seconds_max
    _, reply = await within(Clock(most, most, most), PING, TEXT, WHOLE)
    assert reply.partial is None, "each piece came in time, or said something"
    with pytest.raises(ProviderFailed) as caught:
        await within(Clock(most, 0.1), PING, PING)
    assert (caught.value.reason, caught.value.message) == ("timeout", "acme sent bytes for 1,800 s and said nothing")
    _, reply = await within(Clock(0, most, 0.1), TEXT, PING, PING)
    assert (reply.parts, reply.partial) == ((Text(text="a"),), "stalled")
