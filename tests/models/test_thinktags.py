"""Thinking told from answer by tags, in any cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from forkwood.models.thinktags import LEADING_BLANKS_MAX, ThinkTags


class Case(Struct, frozen=True):
    name: str
    text: str
    thinking: str
    answer: str
    opened: bool = False


CASES = (
    Case("no tag", "Hello <b>", "", "Hello <b>"),
    Case("leading", "<think>a</think>b", "a", "b"),
    Case("white space by the tags", " \n<think>\n\na b\n</think>\n\n c ", "a b\n", "c "),
    Case("empty thinking", "<think>\n\n</think>\n\nb", "", "b"),
    Case("in code", "```\n<think>a</think>\n```", "", "```\n<think>a</think>\n```"),
    Case("in backticks", "`<think>` opens", "", "`<think>` opens"),
    Case("a later answer", "<think>a</think>b <think>c</think> d", "a", "b <think>c</think> d"),
    Case("an answer that begins with a tag", "<think>a</think><think>b</think>", "a", "<think>b</think>"),
    Case("a quoted end", "<think>is `</think>` the end? no</think>b", "is `</think>` the end? no", "b"),
    Case("a backtick before the end", "<think>a `b`</think>c", "a `b`", "c"),
    Case("only an end", "a</think>b", "", "a</think>b"),
    Case("no end", "<think>a </thin", "a </thin", ""),
    Case("nearly a tag", "<thinking>a", "", "<thinking>a"),
    Case("the beginning of a tag", "<thi", "", "<thi"),
    Case("an end after a backtick, and nothing", "<think>a `</think>", "a `", ""),
    Case("opened by the template", "a</think>b", "a", "b", opened=True),
    Case("far down", " " * (LEADING_BLANKS_MAX + 1) + "<think>a", "", " " * (LEADING_BLANKS_MAX + 1) + "<think>a"),
    Case("just near", " " * LEADING_BLANKS_MAX + "<think>a", "a", ""),
)


def split(opened: bool, *pieces: str) -> tuple[str, str]:
    tags = ThinkTags(opened=opened)
    said = [one for piece in pieces for one in tags.feed(piece)] + tags.rest()
    assert all(text for _, text in said)
    assert [kind for kind, _ in said] == sorted((kind for kind, _ in said), reverse=True)
    return tuple("".join(text for kind, text in said if kind == wanted) for wanted in ("thinking", "text"))  # type: ignore[return-value]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_tags_at_every_cut(case: Case) -> None:
    expected = (case.thinking, case.answer)
    assert split(case.opened, case.text) == expected
    assert split(case.opened, *case.text) == expected
    for cut in range(len(case.text)):
        assert split(case.opened, case.text[:cut], case.text[cut:]) == expected


@given(st.lists(st.sampled_from(["<think>", "</think>", "`", "<", "/", "a", " ", "\n", "</th", "ink>"])), st.booleans())
def test_any_cut_gives_the_same(pieces: list[str], opened: bool) -> None:
    whole = "".join(pieces)
    assert split(opened, *pieces) == split(opened, whole) == split(opened, *whole)


def test_text_comes_at_once_when_no_tag_is_possible() -> None:
    tags = ThinkTags()
    assert tags.feed("H") == [("text", "H")]
    assert tags.plain
