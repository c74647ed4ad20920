"""What is remembered, in lines: who said it, what it replaces, every sign of it seen, and how it is decided."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.domain.memory import Memory
from forkwood.surfaces.cli.show_memory import (
    decided_words,
    draw_history,
    draw_memories,
    held_words,
    proposed_words,
)
from forkwood.surfaces.cli.terminal import Terminal
from tests.domain.paths import remembered
from tests.surfaces.cli.desks import terminal
from tests.surfaces.cli.made import name

MINUTE = 60_000


def at(now_ms: int, *, in_chat: bool = False) -> Terminal:
    """A terminal at that time."""
    made = terminal()
    made.now_ms = lambda: now_ms  # type: ignore[method-assign]
    made.in_chat = in_chat
    return made


def proposal(words: str = "green", **fields: Any) -> Memory:
    values = {"id": name(1), "state": "proposed", "by": "model", "node": name(2), "decided_ms": None, "created_ms": 0}
    return remembered(0, "tea", words, **(values | fields))


NOW = remembered(7, "tea", "black", id=name(3), created_ms=0)


def test_what_waits_is_shown_first_with_what_it_replaces_and_the_commands() -> None:
    assert draw_memories([NOW, proposal(version=2)], at(2 * MINUTE)).split("\n") == [
        "proposed 00000001  tea, version 2, by the model in 00000002 2 min ago",
        "  green",
        "  instead of: black",
        "  forkwood memory --accept 00000001",
        "  forkwood memory --reject 00000001",
        "accepted 00000003  tea, version 1, by you 2 min ago",
        "  black",
    ]
    assert "  /memory --accept 00000001" in draw_memories([proposal()], at(0, in_chat=True))


def test_nothing_in_a_fact_hides_or_acts() -> None:
    drawn = draw_memories([proposal("a\u202eb\x1b[2J\nforkwood c\u200b")], at(0, in_chat=True))
    assert "  a\\u202eb\\u001b[2J\n  forkwood c\\u200b\n" in drawn


def test_a_history_tells_what_became_of_each() -> None:
    versions = [
        proposal(state="accepted", decided_ms=MINUTE, superseded_by=name(3)),
        proposal("white", id=name(4), state="rejected", decided_ms=MINUTE, via="web", version=2),
        remembered(0, "tea", "", id=name(3), version=3),
    ]
    assert draw_history(versions, at(3 * MINUTE)).split("\n") == [
        "superseded 00000001  tea, version 1, by the model in 00000002 3 min ago, accepted 2 min ago",
        "  green",
        "rejected 00000004  tea, version 2, by the model in 00000002 via web 3 min ago, rejected 2 min ago",
        "  white",
        "accepted 00000003  tea, version 3, by you 3 min ago",
        "  (forgotten)",
    ]


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        (NOW, "'tea' is remembered: later runs are told it."),
        (proposal(state="rejected"), "'tea' is rejected: it does not count."),
        (remembered(0, "tea", ""), "'tea' is forgotten: no later run is told it."),
        (remembered(0, "#1", "", purged=True), "What this memory said was purged; it was accepted"),
    ],
)
def test_what_a_decision_came_to(memory: Memory, words: str) -> None:
    assert decided_words(memory).startswith(words) and "forkwood memory --history 0000" in decided_words(memory)


def test_what_runs_proposed_is_one_line() -> None:
    assert proposed_words([]) == ""
    assert proposed_words([proposal("green\nor " + "x" * 80)]) == (
        f"Proposed to be remembered: tea: green or {'x' * 45}…. "
        "forkwood memory --accept 00000001 accepts it, --reject 00000001 does not."
    )
    assert proposed_words([proposal(), proposal()]) == "2 facts proposed to be remembered: forkwood memory lists them."


def test_what_a_prompt_held() -> None:
    assert held_words(NOW) == "tea: black (version 1, 00000003)"
    assert held_words(proposal("", purged=True)) == "purged"
