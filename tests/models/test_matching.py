"""The patterns of scripts: what they may hold, and that no pattern takes for ever."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from forkwood.domain import limits
from forkwood.models import matching


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("", "anything"),
        ("weather", "the weather in Paris"),
        ("^wet", "wet"),
        ("(?i)rain|snow", "SNOW"),
        ("colou?r", "color"),
        (".*a.*b.*c.*d.*e", "1a2b3c4d5e"),
        ("(ab)+(cd)?$", "ababcd"),
        ("(?s)begin.*end", "begin\n\nend"),
        (r"\d{4}-\d\d-\d\d", "on 2026-11-30"),
        ("東京", "天気は東京"),
        ("[éè]t", "été"),
        (r"\bword\b", "a word."),
    ],
)
def test_what_people_write_is_found(pattern: str, text: str) -> None:
    assert matching.fault(pattern) is None
    assert matching.fits(pattern, text) and not matching.fits(f"(?:{pattern})@@", text)


@pytest.mark.parametrize("pattern", ["(", "(?=x)", "(?<!a)b", r"(a)\1", "a{99999999}", "\ud800"])
def test_what_cannot_be_searched_with_is_told_with_the_reason(pattern: str) -> None:
    assert (matching.fault(pattern) or "").startswith("is no regular expression of RE2")


def test_a_pattern_has_so_many_characters() -> None:
    assert matching.fault("a" * limits.match_characters_max) is None
    assert "at most 1,000" in (matching.fault("a" * (limits.match_characters_max + 1)) or "")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*c", "(?:a{1,100}){1,100}c", "(.*)*x"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    assert matching.fault(pattern) is not None or not matching.fits(pattern, "a" * 200_000 + "b")


@given(some.text(some.sampled_from("ab.|()[]*+?\\^:1"), max_size=12), some.text("ab1", max_size=20))
def test_what_is_found_is_what_a_regular_expression_finds(pattern: str, text: str) -> None:
    try:
        known = re.compile(pattern)
    except (re.error, FutureWarning):
        return  # one of the few that RE2 takes and Python does not, as "^?", or may read otherwise one day, as "[["
    if matching.fault(pattern) is None:
        assert matching.fits(pattern, text) is (known.search(text) is not None)
