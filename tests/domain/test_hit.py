"""The shape of a search's response is the one that CONTRACT prints."""

from __future__ import annotations

from msgspec.structs import replace

from forkwood import wire
from forkwood.domain.hit import Hit, SearchResponse

_HIT = Hit(node="ab", conversation="cd", role="user", snippet="a word", hidden=False, score=1.5, marks=((2, 6),))


def test_a_hit_has_the_fields_of_the_contract() -> None:
    assert wire.text(_HIT) == (
        '{"node":"ab","conversation":"cd","role":"user","snippet":"a word","hidden":false,"score":1.5,"marks":[[2,6]],'
        '"tool":null,"title":"","created_ms":0}'
    )


def test_a_hit_in_a_call_or_a_result_says_of_which_tool() -> None:
    hits = (_HIT, replace(_HIT, role="assistant", tool="look"), replace(_HIT, role="tool", tool="look"))
    assert [hit.from_tool for hit in hits] == ["", "called look", "result of look"]


def test_a_response_reads_back() -> None:
    response = SearchResponse(hits=(_HIT,), scanned=True, note="read one by one")
    assert wire.decode(wire.encode(response), SearchResponse) == response
