"""Credentials do not get about: by value, in any cut, wherever in a value they stand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain.masking import (
    MASK,
    SECRET_CHARACTERS_MIN,
    echoable,
    masked_pieces,
    masked_text,
    masked_value,
    names_in,
    settled,
    shares,
    with_words,
    words_of,
)

SECRET = "aababbaabbab"


@given(st.text("ab", max_size=30), st.text("ab ", max_size=10), st.sets(st.integers(0, 60)))
def test_a_secret_is_masked_in_any_cut(before: str, after: str, cuts: set[int]) -> None:
    text = f"{before}{SECRET}{after}"
    ready, held = "", ""
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for start, end in pairwise(edges):
        shown, held = settled(held + text[start:end], (SECRET,))
        ready += shown
    assert SECRET not in ready + held
    assert MASK in ready + held


def test_a_value_is_a_secret_from_twelve_characters_on() -> None:
    assert echoable(["x" * (SECRET_CHARACTERS_MIN - 1), "y" * SECRET_CHARACTERS_MIN, "z" * 20]) == ("z" * 20, "y" * 12)


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (SECRET, MASK),
        ({SECRET: [f"a {SECRET}", 1, None]}, {MASK: [f"a {MASK}", 1, None]}),
        ((SECRET, 1.5), [MASK, 1.5]),
        ({SECRET: 1, f"{SECRET}": 2, SECRET.upper(): 3}, {MASK: 2, f"{MASK} 2": 3}),
        (None, None),
    ],
)
def test_every_string_of_a_value_is_masked(value: Any, left: Any) -> None:
    assert masked_value(value, (SECRET,)) == left


def test_what_a_text_holds_is_named_once_for_each_value() -> None:
    named = {"B_TOKEN": SECRET, "A_KEY": SECRET, "C_KEY": "cccccccccccc"}
    assert names_in(f"my key is {SECRET}", named) == ["A_KEY"]
    assert names_in("nothing", named) == []


def test_a_value_may_be_as_deep_as_it_likes() -> None:
    deep: Any = SECRET
    for _ in range(5_000):
        deep = [{"in": deep}]
    found = masked_value(deep, (SECRET,))
    for _ in range(5_000):
        found = found[0]["in"]
    assert found == MASK


def test_words_are_changed_in_the_order_they_are_told() -> None:
    value = {"a": ["b", {"c": "d"}], "e": {"f": 1, "g": "h"}, "i": None}
    words = iter(words_of(value))
    assert with_words(value, lambda _: next(words)) == value
    assert words_of(value) == ["a", "e", "i", "b", "c", "d", "f", "g", "h"]


@pytest.mark.parametrize(
    ("pieces", "left"),
    [
        (["it is aabab", "baabbab!"], [f"it is {MASK}", "!"]),
        (["aaba", "", "bbaabb", "ab"], [MASK, "", "", ""]),
        (["aaba\n", "\nBBaabb<b>", "ab."], [MASK, "", "."]),
        ([SECRET, SECRET], [MASK, ""]),
        ([SECRET, " ", SECRET], [MASK, "", ""]),
        ([SECRET, "c", SECRET], [MASK, "c", MASK]),
        (["", "none", ""], ["", "none", ""]),
        ([], []),
    ],
)
def test_pieces_of_one_text_are_masked_together(pieces: list[str], left: list[str]) -> None:
    assert masked_pieces(pieces, (SECRET,)) == left
    assert masked_pieces(pieces, ()) == pieces


def test_what_was_told_already_is_not_told_again() -> None:
    pieces = ["say aaba", "bbaabbab", " now"]
    assert shares(pieces, [(4, 16)], told=6) == [MASK, "", " now"]
    assert shares(pieces, [(4, 16)], told=8) == ["", MASK, " now"]
    assert shares(pieces, [(4, 16)], told=17) == ["", "", "now"]
    assert shares(pieces, [(4, 16)], until=17) == [f"say {MASK}", "", " "]


def test_a_short_value_is_no_secret_and_nothing_is_one_without_any() -> None:
    assert masked_text("say ollama", echoable(["ollama"])) == "say ollama"
    assert settled("say \\u00", ()) == ("say \\u00", "")
