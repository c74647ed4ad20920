"""Whatever is sent, steered, cancelled, taken out and killed while a run is at work, no word is lost or doubled."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.crash.meanwhile import Call, Meanwhile
from tests.soak import trials

DEEDS = ("send", "send", "steer", "steer", "cancel", "remove")
IDLE = ("send", "steer", "cancel", "resume", "remove", "drive", "drive", "kill")

calls = some.lists(
    some.tuples(
        some.lists(some.sampled_from(DEEDS), max_size=3), some.sampled_from(["reply", "reply", "tool", "retry", "fail"])
    ),
    max_size=6,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("meanwhile")


def play(folder: Path, planned: list[Call], deeds: list[tuple[str, int]]) -> Meanwhile:
    """DEEDS, one after the other, the number for a kill behind so many commits; at last all that is left is driven."""
    world = Meanwhile(folder, planned)
    world.do("send")
    for deed, number in [*deeds, ("drive", 0)]:
        if deed in {"drive", "kill"}:
            asyncio.run(world.drive(number if deed == "kill" else None))
        else:
            world.do(deed)
        world.check()
    assert world.active() == [], "all that may go on has gone on"
    world.person.close()
    return world


@settings(max_examples=trials(120))
@given(calls, some.lists(some.tuples(some.sampled_from(IDLE), some.integers(1, 25)), max_size=8))
def test_panelot_59_no_word_is_lost_and_the_order_is_kept(
    folder: Path, planned: list[Call], deeds: list[tuple[str, int]]
) -> None:
    play(folder, planned, deeds)


@pytest.mark.parametrize("fuse", range(1, 40))
def test_killed_at_every_commit_of_a_run_with_steers_and_a_queue(folder: Path, fuse: int) -> None:
    planned: list[Call] = [
        (["steer", "send", "steer"], "tool"),
        (["steer"], "retry"),
        (["steer", "send"], "reply"),
        ([], "fail"),
    ]
    world = play(folder, planned, [("kill", fuse), ("kill", 7)])
    assert len(world.accepted) >= 6
