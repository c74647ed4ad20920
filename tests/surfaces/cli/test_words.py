"""Small phrases: ages, counts, authors, parts."""

from __future__ import annotations

import pytest

from forkwood.domain.message import Attachment, Origin, Part, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.response import Affects
from forkwood.surfaces.cli.words import (
    ago,
    body,
    bytes_of,
    count_of,
    dollars,
    other_author,
    part_words,
    reach_words,
    short,
)
from tests.surfaces.cli.made import message, name


@pytest.mark.parametrize(
    ("past_ms", "said"),
    (
        (0, "just now"),
        (-5, "just now"),
        (59_999, "just now"),
        (60_000, "1 min ago"),
        (7_200_000, "2 h ago"),
        (86_400_000 * 3, "3 d ago"),
        (86_400_000 * 65, "2 mo ago"),
        (86_400_000 * 800, "2 y ago"),
    ),
)
def test_ages_are_one_number(past_ms: int, said: str) -> None:
    assert ago(1_000_000_000_000 - past_ms, 1_000_000_000_000) == said


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    (
        (1, "branch", "1 branch"),
        (2, "branch", "2 branches"),
        (0, "entry", "0 entries"),
        (1200, "message", "1,200 messages"),
    ),
)
def test_counts_agree_with_their_noun(number: int, noun: str, said: str) -> None:
    assert count_of(number, noun) == said


@pytest.mark.parametrize(
    ("role", "by", "via", "said"),
    (
        ("user", "user", "cli", ""),
        ("assistant", "model", "cli", ""),
        ("assistant", "user", "cli", "by you"),
        ("assistant", "user", "web", "by you via web"),
        ("user", "model", "mcp", "by the model via mcp"),
        ("tool", "tool", "cli", ""),
        ("system", "user", "cli", ""),
        ("system", "tool", "cli", "by the tool"),
    ),
)
def test_an_author_who_is_not_the_roles_is_named(role: str, by: str, via: str, said: str) -> None:
    node = message(1, None, "x", role, origin=Origin(by=by, via=via))  # type: ignore[arg-type]
    assert other_author(node) == said


def test_places_are_named_by_endings() -> None:
    assert short(name(42)) == "00000042"
    assert short(f"{name(42)}~3") == "00000042~3"
    assert short(None) == "the beginning"


@pytest.mark.parametrize(
    ("part", "said"),
    (
        (Text(text="a\0b"), "a\\x00b"),
        (Thinking(text="hm"), "[thinking] hm"),
        (Thinking(text=""), "[thinking, kept by the provider]"),
        (ToolCall(call="1", name="look", arguments={"at": 1}), '[calls look] {"at": 1}'),
        (ToolCall(call="1", name="lo\nok", arguments="{at:\n\x1b1"), "[calls lo ok] {at: \\x1b1"),
        (
            ToolResult(call="1", name="look", outcome="ok", parts=(Text(text="seen"),)),
            "[result of look: ok] seen",
        ),
        (
            Attachment(blob="0", media="image", name="a\u202eb.png", mime="image/png", size=2048),
            "[image a\\u202eb.png, image/png, 2.0 kB]",
        ),
        (
            Attachment(
                blob="0123456789abcdef",
                media="file",
                name="look.txt",
                mime="text/plain",
                size=99_000,
                meta={"whole": True},
            ),
            "[kept whole: 99.0 kB, blob 0123456789ab]",
        ),
    ),
)
def test_every_part_says_what_it_is(part: Part, said: str) -> None:
    assert part_words(part) == said


def test_thinking_is_shown_only_where_asked() -> None:
    node = message(1, None, "", "assistant", parts=(Thinking(text="hm"), Text(text="yes")))
    assert body(node) == "yes"
    assert body(node, thinking=True) == "[thinking] hm\nyes"
    assert body(message(1, None, "gone", purged=True)) == "[purged]"


@pytest.mark.parametrize(
    ("size", "said"), ((999, "999 bytes"), (1_500, "1.5 kB"), (98_000_000, "98.0 MB"), (3 * 10**9, "3.0 GB"))
)
def test_bytes_are_readable(size: int, said: str) -> None:
    assert bytes_of(size) == said


@pytest.mark.parametrize(("cost", "said"), ((None, ""), (0.0, "$0"), (0.00012, "$0.00012"), (2.345, "$2.35")))
def test_costs_have_the_digits_that_say_something(cost: float | None, said: str) -> None:
    assert dollars(cost) == said


def test_reach_names_conversations_only_where_there_are_several() -> None:
    one = Affects(branches=1, conversations=(name(1),))
    two = Affects(branches=3, conversations=(name(1), name(2)), note="use drop")
    assert reach_words(one) == "This touches 1 branch."
    assert reach_words(two) == "This touches 3 branches in 2 conversations.\nUse drop."
