"""Lines of JSON out of bytes, at every cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded
from forkwood.models.ndjson import NdjsonReader
from forkwood.models.sse import SseEvent
from tests.replay import pieces

ODD = "🌍\u2028\u0085é"


class Case(Struct, frozen=True):
    name: str
    body: bytes
    lines: tuple[bytes, ...]


CASES = (
    Case("LF", b'{"a":1}\n{"b":2}\n', (b'{"a":1}', b'{"b":2}')),
    Case("CRLF", b'{"a":1}\r\n{"b":2}\r\n', (b'{"a":1}', b'{"b":2}')),
    Case("CR", b'{"a":1}\r{"b":2}\r', (b'{"a":1}', b'{"b":2}')),
    Case("blank lines", b'\n\n{"a":1}\n\r\n  \t\n{"b":2}\n', (b'{"a":1}', b'{"b":2}')),
    Case("white space at its ends", b' {"a": 1}\t\n', (b'{"a": 1}',)),
    Case("BOM", b'\xef\xbb\xbf{"a":1}\n', (b'{"a":1}',)),
    Case("no line ends but in JSON's sense", f'{{"a":"{ODD}"}}\n'.encode(), (f'{{"a":"{ODD}"}}'.encode(),)),
    Case("no end, no line", b'{"a":1}\n{"b":', (b'{"a":1}',)),
    Case("nonsense amid lines is a line", b'{"a":1}\noops\n', (b'{"a":1}', b"oops")),
    Case("a page is no stream", b"<html>\n<body>Sign in</body>\n", ()),
    Case("one value over many lines is no stream", b'{\n "error": "x"\n}\n', ()),
    Case("nothing", b"", ()),
)  # fmt: skip


def read(*chunks: bytes) -> tuple[bytes, ...]:
    reader = NdjsonReader()
    return tuple(event.data for chunk in chunks for event in reader.feed(chunk))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_lines_at_every_cut(case: Case) -> None:
    assert read(case.body) == case.lines
    assert read(*pieces(case.body, range(len(case.body)))) == case.lines
    for cut in range(len(case.body) + 1):
        assert read(case.body[:cut], b"", case.body[cut:]) == case.lines


@given(
    body=st.lists(st.sampled_from([b'{"a":1}', b"{", b"}", b"x", b" ", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf"])),
    cuts=st.sets(st.integers(0, 60)),
)
def test_any_cut_gives_the_same_lines(body: list[bytes], cuts: set[int]) -> None:
    whole = b"".join(body)
    assert read(*pieces(whole, cuts)) == read(whole)


def test_a_line_comes_with_its_end_and_does_not_wait_for_the_lf_of_a_crlf() -> None:
    reader = NdjsonReader()
    assert reader.feed(b"{}") == []
    assert reader.feed(b"\r") == [SseEvent(data=b"{}")]
    assert reader.feed(b"\n") == []


@pytest.mark.parametrize(("body", "left"), [(b'{"a":1}', b'{"a":1}'), (b"{}\n{", b"{"), (b"{}\n", None), (b"{", None)])
def test_what_stands_unfinished_can_be_asked_for_once(body: bytes, left: bytes | None) -> None:
    reader = NdjsonReader()
    reader.feed(body)
    event = reader.finish()
    assert (event.data if event else None) == left
    assert reader.finish() is None


def test_a_line_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ndjson_line_bytes_max", 20)
    line = b'{"a":"' + b"b" * 12 + b'"}'
    assert len(line) == 20
    assert read(line, b"\n" + line + b"\n") == (line, line)
    for over in ([line + b"}"], [line, b" "], [line + b" \n"], [b"{}\n" + line + b" "]):
        with pytest.raises(LimitExceeded) as caught:
            read(*over)
        assert (caught.value.facts["limit"], caught.value.facts["got"]) == ("ndjson_line_bytes_max", 21)


def test_a_long_line_in_many_pieces_costs_no_more_than_its_length() -> None:
    line = b'{"a":"' + b"b" * 300_000 + b'"}'
    assert read(*pieces(line, range(len(line))), b"\n") == (line,)
