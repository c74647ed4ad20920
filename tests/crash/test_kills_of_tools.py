"""kill -9 at every commit of a run that uses the program's own tools: what they did is there once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.lives import KILLED, SPARED, Fate, Life, Theatre, copied
from tests.soak import is_soaking

REMEMBER = {"name": "remember", "arguments": {"name": "tree", "value": "an oak"}, "call": "r"}
TIME = {"name": "current_time", "arguments": {}, "call": "t"}
SEARCH = {"name": "search_conversations", "arguments": {"words": "oak"}, "call": "s"}
ASK = {"name": "ask_user", "arguments": {"questions": [{"text": "Which?"}, {"text": "Why?"}]}, "call": "a"}
RECALL = {"name": "recall", "arguments": {"name": "tree"}, "call": "c"}
PLAY: tuple[dict[str, Any], ...] = (
    {"text": "Let me see.", "tool_calls": [REMEMBER, TIME, SEARCH]},
    {"tool_calls": [ASK, RECALL]},
    {"text": "Done."},
)
SEND = ("send", "Go", "--key", "once")
EVERY = 1 if is_soaking() else 4


@pytest.fixture(scope="module")
def theatre() -> Iterator[Theatre]:
    with Theatre() as opened:
        yield opened


def run(life: Life, *command: str, fate: Fate = SPARED) -> int:
    return life.run(*command, fate=fate, own_tools=True).code


def next_command(life: Life) -> tuple[str, ...]:
    """Yes to what is asked, two words to two questions; else the same command by the same key."""
    waiting = life.books.pending()
    if not waiting:
        return SEND
    words = ("the oak", "it is old") if waiting[0].kind == "question" else ("allow",)
    return ("answer", waiting[0].id, *words)


def finish(life: Life) -> None:
    while life.statuses() != ["done"]:
        assert run(life, *next_command(life)) in (0, 5)
    assert life.outcomes() == dict.fromkeys("rtsac", "ok")
    life.check()
    (proposed,) = life.log_of("memory.proposed")
    assert proposed.run == life.books.runs()[0].id


def test_killed_anywhere_a_tool_has_done_its_work_once(theatre: Theatre, tmp_path: Path) -> None:
    life, tried = Life(theatre, tmp_path / "life", PLAY), 0
    assert run(life, "new", "--model", life.model) == 0
    while life.statuses() != ["done"]:
        command, before = next_command(life), copied(life, tmp_path / f"before {tried}")
        ticks = life.run(*command, own_tools=True).ticks
        for die_at in range(1 + tried % EVERY, ticks + 1, EVERY):
            other = copied(before, tmp_path / f"{tried}")
            assert run(other, *command, fate=Fate(die_at)) == KILLED
            other.check()
            finish(other)
            tried += 1
    finish(life)
    assert tried >= 40 / EVERY
