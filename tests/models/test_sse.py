"""Server-sent events by the standard, at every cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded
from forkwood.models.sse import SseEvent, SseReader


class Case(Struct, frozen=True):
    name: str
    body: bytes
    events: tuple[tuple[str, bytes], ...]


CASES = (
    Case("plain", b"data: a\n\ndata: b\n\n", (("", b"a"), ("", b"b"))),
    Case("CR", b"data: a\r\rdata: b\r\r", (("", b"a"), ("", b"b"))),
    Case("CRLF", b"event: x\r\ndata: a\r\n\r\n", (("x", b"a"),)),
    Case("mixed line ends", b"event: x\rdata: a\ndata: b\r\n\r\ndata: c\n\r", (("x", b"a\nb"), ("", b"c"))),
    Case("BOM", b"\xef\xbb\xbfdata: a\n\n", (("", b"a"),)),
    Case("a second BOM is no BOM", b"\n\xef\xbb\xbfdata: a\n\n", ()),
    Case("comments", b": hi\ndata: a\n:\n\n", (("", b"a"),)),
    Case("no space", b"data:a\n\n", (("", b"a"),)),
    Case("one space only", b"data:  a \n\n", (("", b" a "),)),
    Case("several data lines", b"data: a\ndata\ndata: b\n\n", (("", b"a\n\nb"),)),
    Case("no data, no event", b"event: x\n\ndata: a\n\n", (("", b"a"),)),
    Case("empty data, no event", b"data:\n\ndata\n\n", ()),
    Case("an event line is taken back", b"event: x\nevent\ndata: a\n\n", (("", b"a"),)),
    Case("other fields", b"id: 1\nretry: 9\nfoo: bar\nfoo\ndata: a\n\n", (("", b"a"),)),
    Case("no blank line, no event", b"data: a\n\ndata: b\n", (("", b"a"),)),
    Case("UTF-8", "data: 🌍\u2028é\n\n".encode(), (("", "🌍\u2028é".encode()),)),
)


def read(*chunks: bytes) -> tuple[tuple[str, bytes], ...]:
    reader = SseReader()
    return tuple((event.event, event.data) for chunk in chunks for event in reader.feed(chunk))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_events_at_every_cut(case: Case) -> None:
    assert read(case.body) == case.events
    assert read(*(case.body[at : at + 1] for at in range(len(case.body)))) == case.events
    for cut in range(len(case.body) + 1):
        assert read(case.body[:cut], b"", case.body[cut:]) == case.events


@given(
    body=st.lists(st.sampled_from([b"data: x", b"event:e", b"\r", b"\n", b"\r\n", b": c", b"\xef\xbb\xbf"])),
    cuts=st.sets(st.integers(0, 60)),
)
def test_any_cut_gives_the_same_events(body: list[bytes], cuts: set[int]) -> None:
    whole = b"".join(body)
    at = [0, *sorted(cuts), len(whole)]
    assert read(*(whole[one:two] for one, two in pairwise(at))) == read(whole)


def test_an_event_comes_with_its_last_byte_and_does_not_wait_for_the_lf_of_a_crlf() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\r\n") == []
    assert reader.feed(b"\r") == [SseEvent(data=b"a")]
    assert reader.feed(b"\n") == []


@pytest.mark.parametrize(
    ("body", "left"), [(b"data: a", b"a"), (b"data: a\n", b"a"), (b"data: a\ndata: b", b"a\nb"), (b"event: x", None)]
)
def test_what_stands_unfinished_can_be_asked_for(body: bytes, left: bytes | None) -> None:
    reader = SseReader()
    assert reader.feed(body) == []
    event = reader.finish()
    assert (event.data if event else None) == left


def test_a_line_and_an_event_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "sse_line_bytes_max", 20)
    assert read(b"data: " + b"a" * 13, b"\n\n") == (("", b"a" * 13),)
    for over in ([b"data: " + b"a" * 15], [b"data: aaaaaaa\n"] * 3, [b":" + b"a" * 10, b"a" * 10]):
        with pytest.raises(LimitExceeded) as caught:
            read(*over)
        assert caught.value.facts["limit"] == "sse_line_bytes_max"


def test_a_long_line_in_many_pieces_costs_no_more_than_its_length() -> None:
    line = b"data: " + b"a" * 300_000
    assert read(*(line[at : at + 1] for at in range(len(line))), b"\n\n") == (("", line[6:]),)
