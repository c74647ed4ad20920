"""Every dialect reads its streams alike however they are cut: at every byte, in single bytes, at random."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed
from forkwood.domain.message import Text, Thinking
from forkwood.domain.model import Delta, Reply
from forkwood.models.failures import Peer
from forkwood.models.reading import Reading
from forkwood.models.sse import SseEvent
from tests.models.recorded import CHAT_TEXT, RECORDED, Recorded, chunk, decoded, decoder, events, lines, said
from tests.replay import pieces

ALL = pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)


def expect(recorded: Recorded, *chunks: bytes) -> Reply:
    deltas, reply = decoded(decoder(recorded.dialect, model=recorded.model), *chunks)
    assert reply.parts == recorded.parts
    assert (reply.usage, reply.finish, reply.partial) == (recorded.usage, recorded.finish, recorded.partial)
    spoken = [part for part in said(deltas) if part[0] != "tool_call"]
    assert spoken == [
        ("text" if isinstance(part, Text) else "thinking", part.text)
        for part in recorded.parts
        if hasattr(part, "text") and part.text
    ]
    return reply


@ALL
def test_a_stream_in_one_piece(recorded: Recorded) -> None:
    expect(recorded, recorded.body)


@ALL
def test_a_stream_in_single_bytes(recorded: Recorded) -> None:
    expect(recorded, *pieces(recorded.body, range(len(recorded.body))))


@ALL
def test_a_stream_cut_in_two_at_every_byte(recorded: Recorded) -> None:
    for cut in range(1, len(recorded.body)):
        expect(recorded, recorded.body[:cut], recorded.body[cut:])


@ALL
def test_panelot_77_a_stream_that_ends_at_any_byte_is_never_taken_for_whole_before_its_end(recorded: Recorded) -> None:
    whole = "".join(text for _, text in said(decoded(decoder(recorded.dialect), recorded.body)[0]))
    ended = False
    for cut in range(len(recorded.body)):
        deltas, reply = decoded(decoder(recorded.dialect), recorded.body[:cut])
        came = "".join(text for _, text in said(deltas))
        assert not ended or reply.partial is None or recorded.partial
        ended = reply.partial is None
        assert ended or reply.partial in {"cut", "error"}
        assert not ended or came == whole
        assert reply.error if reply.partial else reply.error is None


@given(recorded=st.sampled_from(RECORDED), cuts=st.sets(st.integers(1, 4_000), max_size=40))
def test_a_stream_cut_anywhere(recorded: Recorded, cuts: set[int]) -> None:
    expect(recorded, *pieces(recorded.body, cuts))


@ALL
@pytest.mark.parametrize("newline", [b"\r", b"\r\n"])
def test_other_line_ends_say_the_same(recorded: Recorded, newline: bytes) -> None:
    body = b"\xef\xbb\xbf" + recorded.body.replace(b"\r\n", b"\n").replace(b"\n", newline)
    expect(recorded, *pieces(body, range(0, len(body), 3)))


def test_panelot_79_an_unreadable_frame_is_told_and_the_rest_is_read() -> None:
    _, reply = decoded(decoder("chat"), events(chunk(content="a"), "not json", "[1]", chunk("stop", content="b")))
    assert reply.parts == (Text(text="ab"),)
    assert reply.partial is None
    assert reply.notices == (
        "A frame of the stream could not be read: not json",
        "Frames of the stream that could not be read: 2",
    )


def test_an_error_event_in_plain_words_is_a_failure() -> None:
    _, reply = decoded(decoder("chat"), events(chunk(content="a")), b"event: error\ndata: out of memory\n\n")
    assert (reply.partial, reply.error) == ("error", "chat reported an error: out of memory")


def test_bytes_that_are_no_utf8_are_marked_and_never_crash() -> None:
    broken = events(chunk(content="a?b"), chunk("stop")).replace(b"?", b"\xff")
    assert decoded(decoder("chat"), broken)[1].parts == (Text(text="a\ufffdb"),)


DEEP = "nested as deep as told: "
SCALAR = st.sampled_from(
    [
        *(None, True, -1, 0, 7, 1.5, 10**30, 2**64, 1e300, float("inf"), float("-inf"), float("nan")),
        *("", "a", "<think>", "</think>", "error", "stop", "\ud83d", "\0", "9" * 5_000),
        *('{"a":1}', '{"a":', '{"b":"\\ud800","a":1e999}', '{"a":' + "[" * 700 + "]" * 700 + "}"),
        *(f"{DEEP}{depth}" for depth in (limits.value_depth_max, limits.frame_depth_max, 480, 900)),
    ]
)
KEYS = st.sampled_from(["text", "id", "type", "thinking", "status", "\udc00"])
ANY = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2), max_leaves=4
)


def frames_of(recorded: Recorded) -> list[Any]:
    found = [event.data for event in decoder(recorded.dialect).framing().feed(recorded.body) if event.data != b"[DONE]"]
    return [json.loads(frame) for frame in found]


def changed(data: st.DataObject, value: Any) -> Any:
    """VALUE with something in it that no server should send."""
    if not value or not isinstance(value, dict | list) or not data.draw(st.integers(0, 5)):
        return data.draw(ANY)
    if isinstance(value, list):
        at = data.draw(st.integers(0, len(value) - 1))
        return [changed(data, one) if n == at else one for n, one in enumerate(value)]
    key = data.draw(st.sampled_from(sorted(value)))
    return {**value, key: changed(data, value[key])}


def spelled(frame: Any) -> bytes:
    """FRAME as its JSON, with what is to be nested deep in its place."""
    deep = re.compile(f'"{DEEP}(\\d+)"')
    return deep.sub(
        lambda found: '{"a":[' * (int(found[1]) // 2) + "]}" * (int(found[1]) // 2), json.dumps(frame)
    ).encode()


class Chunks:
    """A source of the bytes it was made of, cut in pieces."""

    status = 200
    content_type = "text/event-stream"

    def __init__(self, body: bytes, size: int) -> None:
        self._left = [body[at : at + size] for at in range(0, len(body), size)]

    async def read(self, within: float | None = None) -> bytes:
        return self._left.pop(0) if self._left else b""


async def outcome(recorded: Recorded, body: bytes, size: int) -> tuple[list[Delta], Reply] | ProviderFailed:
    """What becomes of BODY."""
    peer = Peer(provider="acme")
    reading = Reading(Chunks(body, size), decoder(recorded.dialect, peer=peer), peer)
    deltas: list[Delta] = []
    try:
        while (more := await reading.more()) is not None:
            deltas += more
    except ProviderFailed as failed:
        assert not deltas, "after the first delta every end is a reply"
        return failed
    return deltas, reading.reply()


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)
@given(data=st.data())
def test_values_no_server_should_send_give_a_reply_that_can_be_kept_or_a_failure(
    data: st.DataObject, recorded: Recorded
) -> None:
    frames = [changed(data, frame) if data.draw(st.booleans()) else frame for frame in frames_of(recorded)]
    framed = lines if recorded.dialect == "ollama" else events
    body = framed(*(spelled(frame).decode() for frame in frames))
    found = asyncio.run(outcome(recorded, body, data.draw(st.sampled_from([7, 100, len(body)]))))
    if isinstance(found, ProviderFailed):
        assert wire.encode([found.message, found.hint, found.facts])
        return
    deltas, reply = found
    assert all(delta.text.encode() for delta in deltas)
    assert wire.decode(wire.encode(reply), Reply) == reply
    assert all(wire.canonical(part) for part in reply.parts)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (chunk(content=[{"type": "thinking", "thinking": [{"text": 0}, {"text": "a"}]}]), Thinking(text="a")),
        (chunk(content=[{"type": "text", "text": 5}, "a"]), Text(text="a")),
        (chunk(content="a", reasoning_details=[{"id": [1]}, {"id": [2]}, {"id": "x"}, {"id": {}}]), Text(text="a")),
    ],
)
def test_pieces_of_other_kinds_than_they_should_be_are_left_out(frame: Any, said: Any) -> None:
    _, reply = decoded(decoder("chat"), events(frame, chunk("stop")))
    assert said in reply.parts and reply.partial is None


def test_control_characters_and_infinities_in_a_frame_are_let_through() -> None:
    body = b'data: {"choices":[{"delta":{"content":"a\x01b"},"logprobs":-Infinity,"finish_reason":"stop"}]}\n\n'
    assert decoded(decoder("chat"), body)[1].parts == (Text(text="a\x01b"),)


@pytest.mark.parametrize("frame", [b"[" * 200_000, b"[" * 480 + b"]" * 480])
def test_panelot_86_a_frame_nested_beyond_reason_is_unreadable(frame: bytes) -> None:
    reading = decoder("chat")
    reading.feed(SseEvent(data=frame))
    assert "could not be read" in reading.finish().notices[0]


@pytest.mark.parametrize(("depth", "whole"), [(limits.frame_depth_max, True), (limits.frame_depth_max + 1, False)])
def test_a_frame_is_read_up_to_its_depth(depth: int, whole: bool) -> None:
    nested = depth - 1
    frame = b'{"choices":[{"delta":{"content":"a"}}],"x":' + b"[" * nested + b'"]"' + b"]" * nested + b"}"
    assert bool(decoder("chat").feed(SseEvent(data=frame))) is whole


def test_a_reply_ends_with_done_whatever_follows() -> None:
    reading = decoder("chat")
    decoded(reading, CHAT_TEXT.body)
    assert reading.said.closed
