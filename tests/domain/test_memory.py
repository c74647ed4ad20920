"""A memory is one wire value; those that count stand in a prompt as a block that has its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood import wire
from forkwood.domain import fences, limits
from forkwood.domain.manifest import Bounds
from forkwood.domain.memory import INTRODUCTION, Memory, Proposal, block, fact_name
from tests.domain.paths import remembered


def test_a_memory_and_a_proposal_are_read_again_as_they_were() -> None:
    proposal = Proposal(name="tea", value="green", conversation=1, run="a" * 32, node="b" * 32, call="c", via="cli")
    memory = Memory(
        id="d" * 32,
        name="tea",
        value="green",
        version=1,
        state="proposed",
        superseded_by=None,
        conversation=None,
        run=proposal.run,
        node=proposal.node,
        call=proposal.call,
        by="model",
        via="cli",
        created_ms=1,
        decided_ms=None,
    )
    assert wire.decode(wire.encode(memory), Memory) == memory
    assert wire.decode(wire.encode(proposal), Proposal) == proposal


@pytest.mark.parametrize(
    ("text", "name"),
    [("tea", "tea"), ("  my\n\tfavourite  tea ", "my favourite tea"), (" \n", ""), ("\ud83d", "\\ud83d")],
)
def test_a_fact_is_named_on_one_line(text: str, name: str) -> None:
    assert fact_name(text) == name


THREE = [remembered(1, "tea", "green"), remembered(2, "milk", "none"), remembered(3, "name", "Ada")]
MUCH = 10_000


def names(memories: tuple[Memory, ...]) -> list[str]:
    return [one.name for one in memories]


def size(*memories: Memory) -> int:
    """The bytes that a block of just these takes."""
    text = block(memories, bytes_max=MUCH, count_max=MUCH).text
    return len((text or "").encode())


def test_a_block_is_introduced_and_each_note_fenced_under_its_version() -> None:
    made = block(THREE, bytes_max=MUCH, count_max=MUCH)
    notes = [fences.fenced(f"{one.name}: {one.value}", one.id, origin="a note") for one in THREE]
    assert made.text == "\n".join((INTRODUCTION, *notes)) and made.left_out == ()
    assert block([], bytes_max=MUCH, count_max=MUCH).text is None


@pytest.mark.parametrize("short", [0, 1])
def test_at_the_limit_of_bytes_the_oldest_goes(short: int) -> None:
    made = block(THREE, bytes_max=size(*THREE) - short, count_max=MUCH)
    assert names(made.left_out) == ["tea"] * short
    assert made.text is not None and len(made.text.encode()) == size(*THREE[short:])


@pytest.mark.parametrize(("count", "left"), [(3, []), (2, ["tea"]), (1, ["tea", "milk"]), (0, ["tea", "milk", "name"])])
def test_at_the_limit_of_notes_the_oldest_go(count: int, left: list[str]) -> None:
    assert names(block(THREE, bytes_max=MUCH, count_max=count).left_out) == left


def test_one_that_fits_nowhere_keeps_no_other_out() -> None:
    brain = "\U0001f9e0"
    name = brain * limits.memory_name_characters_max
    huge = remembered(4, name, brain * limits.memory_value_characters_max)
    made = block([*THREE, huge], bytes_max=limits.memory_block_bytes_max, count_max=limits.memories_max)
    assert names(made.left_out) == [name] and made.text is not None and "Ada" in made.text
    assert (Bounds().memory_block_bytes_max, Bounds().memories_max) == (16 * 1024, limits.memories_max)


def test_a_purged_one_says_nothing_and_is_not_named() -> None:
    made = block([remembered(1, "#1", "", purged=True)], bytes_max=MUCH, count_max=MUCH)
    assert (made.text, made.left_out) == (None, ())


@given(st.lists(st.text(min_size=1, max_size=30), max_size=8), st.integers(0, 900), st.integers(0, 8))
def test_a_block_keeps_its_bounds_and_loses_nothing_unnamed(values: list[str], bytes_max: int, count_max: int) -> None:
    memories = [remembered(number, f"n{number}", value) for number, value in enumerate(values, 1)]
    made = block(memories, bytes_max=bytes_max, count_max=count_max)
    kept = [one for one in memories if one not in made.left_out]
    assert len((made.text or "").encode()) <= bytes_max and len(kept) <= count_max
    assert made.text == block(kept, bytes_max=MUCH, count_max=MUCH).text
