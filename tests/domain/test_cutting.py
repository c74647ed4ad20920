"""A text cut in its middle: within its bound to the byte, both ends as they were, and the true size said."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain import limits
from forkwood.domain.cutting import cut, shortened

GAP = re.compile(r"\n\n\[… ([\d,]+) of ([\d,]+) bytes are left out here: the note …\]\n\n")


def test_what_fits_is_as_it_was() -> None:
    assert cut("é" * 50, 100, note="the note") == "é" * 50


def test_what_does_not_fit_says_how_much_is_left_out() -> None:
    assert cut("a" * 500 + "z" * 500, 100, note="the note") == (
        "a" * 19 + "\n\n[… 962 of 1,000 bytes are left out here: the note …]\n\n" + "z" * 19
    )


@pytest.mark.parametrize("letter", ["a", "é", "雪", "😀"])
def test_one_byte_over_the_limit_of_results_is_cut(letter: str) -> None:
    fits = letter * (limits.result_bytes_max // len(letter.encode()))
    assert cut(fits, limits.result_bytes_max, note="n") == fits
    shown = cut(fits + letter, limits.result_bytes_max, note="n")
    assert len(shown.encode()) <= limits.result_bytes_max and shown != fits + letter


@given(st.text(st.sampled_from("aé雪😀\n"), min_size=101, max_size=400), st.integers(100, 150))
def test_head_and_tail_are_whole_characters_within_the_bound(text: str, bound: int) -> None:
    shown = cut(text, bound, note="the note")
    assert len(shown.encode()) <= bound
    if shown != text:
        found = GAP.search(shown)
        assert found is not None
        head, tail = shown[: found.start()], shown[found.end() :]
        left, size = (int(number.replace(",", "")) for number in found.groups())
        assert text.startswith(head) and text.endswith(tail)
        assert size == len(text.encode()) == len((head + tail).encode()) + left


def test_what_is_quoted_is_shortened_in_its_middle() -> None:
    fits = "a" * limits.quoted_characters_max
    assert shortened(fits, limits.quoted_characters_max) == fits
    assert shortened("abcdefg", 6) == "abc … efg"
