"""What `set` takes and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.choices import parse, tools_named
from forkwood.domain.errors import LimitExceeded, Misused


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("title", "Bread", "Bread"),
        ("title", "  ", None),
        ("model", "ollama:qwen3:8b", "ollama:qwen3:8b"),
        ("system", "Be brief.\n", "Be brief.\n"),
        ("approvals", "allow-edits", "allow-edits"),
        ("temperature", "0.7", 0.7),
        ("temperature", "none", None),
        ("top_p", "1", 1.0),
        ("max_output", "4_096", 4096),
        ("seed", "0", 0),
        ("effort", "high", "high"),
        ("effort", "default", None),
        ("context", "8192", 8192),
        ("pinned", "yes", True),
        ("archived", "off", False),
        ("tags", "work, tea ,work,", ("work", "tea")),
        ("folder", "", None),
    ],
)
def test_a_value_is_read(key: str, value: str, read: Any) -> None:
    assert parse(key, value) == read


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("colour", "red", "no setting 'colour'"),
        ("approvals", "never", "ask, allow-edits, allow-all"),
        ("temperature", "warm", "number from 0 to 2"),
        ("temperature", "nan", "number from 0 to 2"),
        ("temperature", "2.1", "number from 0 to 2"),
        ("max_output", "-1", "whole number"),
        ("seed", "1e3", "whole number"),
        ("seed", "9" * 5000, "whole number"),
        ("context", "12", "whole number from 256"),
        ("effort", "huge", "minimal, low, medium, high"),
        ("pinned", "maybe", "yes or no"),
        ("tools", "current_time", "+NAME or -NAME"),
        ("tools", "-", "+NAME or -NAME"),
        ("title", "\ud83d", "not valid Unicode"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(key: str, value: str, words: str) -> None:
    with pytest.raises(Misused, match=words.replace("+", r"\+")) as refused:
        parse(key, value)
    assert refused.value.hint


@pytest.mark.parametrize(("key", "value"), [("temperature", "x"), ("seed", "x"), ("effort", "x")])
def test_what_can_be_cleared_says_the_way_that_help_says(key: str, value: str) -> None:
    with pytest.raises(Misused) as refused:
        parse(key, value)
    assert refused.value.hint == f'forkwood set {key} "" clears it'
    assert parse(key, "") is None


def test_tools_are_switched_against_those_off_now() -> None:
    assert parse("tools", "-b +a", ("a", "c")) == ("b", "c")
    assert parse("tools", "-a,-b") == ("a", "b")
    assert parse("tools", "+nothing", ("a",)) == ("a",)


@pytest.mark.parametrize(
    ("key", "most", "over"),
    [
        ("title", "x" * limits.title_characters_max, "x"),
        ("system", "é" * (limits.system_bytes_max // 2), "é"),
        ("model", "m" * limits.model_characters_max, "m"),
        ("tags", ",".join(map(str, range(limits.tags_max))), ",more"),
        ("tags", "t" * limits.tag_characters_max, "t"),
    ],
)
def test_each_bound_holds_at_its_edge(key: str, most: str, over: str) -> None:
    assert parse(key, most)
    with pytest.raises(LimitExceeded):
        parse(key, most + over)


def test_the_tools_a_value_speaks_of_are_known_by_name() -> None:
    assert tools_named("-b +a, -c") == ("b", "a", "c")
    with pytest.raises(Misused):
        tools_named("b")
