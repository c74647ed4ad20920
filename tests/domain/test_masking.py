"""Credentials do not get about: by value, in any cut, wherever in a value they stand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain.masking import MASK, SECRET_CHARACTERS_MIN, echoable, masked_value, names_in, settled

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
        ((SECRET, 1.5), (MASK, 1.5)),
        (None, None),
    ],
)
def test_every_string_of_a_value_is_masked(value: Any, left: Any) -> None:
    assert masked_value(value, (SECRET,)) == left


def test_what_a_text_holds_is_named_once_for_each_value() -> None:
    named = {"B_TOKEN": SECRET, "A_KEY": SECRET, "C_KEY": "cccccccccccc"}
    assert names_in(f"my key is {SECRET}", named) == ["A_KEY"]
    assert names_in("nothing", named) == []
