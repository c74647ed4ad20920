"""The patterns of scripts: what they may hold, and how far into a text they are searched."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from forkwood.domain import limits
from forkwood.models import matching


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "",
            "weather",
            "^wet",
            "a|b|c",
            "colou?r",
            ".*x.*y",
            "a{2,}b{3}",
            "a*?b++",
            "(?i)ab",
            "(?:ab)c",
            "x{",
            "(a|b)c",
        ),
        *(r"\(a\)*", r"\)+", "[)*+?(]x", "[]a]+", "[^]a]+", r"[\])]+x"),
    ],
)
def test_plain_patterns_may_be_searched_with(pattern: str) -> None:
    assert matching.fault(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "is no regular expression"),
        ("(" * 5000 + ")" * 5000, "is no regular expression"),
        ("(a+)+$", "repeats a group"),
        ("(a|b)*", "repeats a group"),
        ("(?:a?){30}", "repeats a group"),
        ("(?:a{1,65000}){1,65000}", "repeats a group"),
        ("(ab)?", "repeats a group"),
        ("(?=x)", "looks around or back"),
        ("(?<!a)b", "looks around or back"),
        (r"(a)\1", "looks around or back"),
        ("(?x)(a+) +", "looks around or back"),
        ("a+" * (limits.match_repeats_max + 1), "has more than 3 repeats"),
        ("(a|a)" * (limits.match_choices_max + 1), "has more than 8 choices"),
        ("a?" * (limits.match_choices_max + 1), "has more than 8 choices"),
    ],
)
def test_what_could_take_for_ever_is_refused(pattern: str, why: str) -> None:
    assert (matching.fault(pattern) or "").startswith(why)


def test_the_limits_themselves_may_be_reached() -> None:
    assert matching.fault("a+" * limits.match_repeats_max + "(a|a)" * limits.match_choices_max) is None


def test_a_pattern_is_searched_as_far_as_its_steps_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "match_steps_max", 16)
    assert [matching.reach(pattern) for pattern in ("", "x", "ab", "a?", "a*", "a*b*")] == [16, 16, 8, 4, 2, 1]
    assert matching.fits("x", "-" * 15 + "x") and not matching.fits("x", "-" * 16 + "x")


def test_a_word_is_found_at_the_end_of_the_longest_message() -> None:
    assert matching.reach("weather") > limits.message_bytes_max


@given(some.text(some.sampled_from("ab.|()[]*+?{2,}\\^$:1i"), max_size=12), some.text("ab1", max_size=20))
def test_what_is_found_is_what_a_regular_expression_finds(pattern: str, text: str) -> None:
    if matching.fault(pattern) is None:
        assert matching.fits(pattern, text) is (re.search(pattern, text) is not None)
