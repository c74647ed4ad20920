"""Random sequences of verbs against plain lists: `talks` holds the lists, `world` does each verb with both."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.strategies import SearchStrategy

from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.store.db import Store
from tests.reference.houses import again, entered
from tests.runtime.doors import door
from tests.runtime.world import ALL_VERBS, ROWS_MAX, RUNS, VERBS, World
from tests.soak import trials

Step = tuple[str, int, int]


def steps_of(verbs: tuple[str, ...], fewest: int) -> SearchStrategy[list[Step]]:
    """Lists of verbs with two draws each: twice as many as FEWEST, most of them."""
    step = some.tuples(some.sampled_from(verbs), some.integers(0, 1 << 16), some.integers(0, 1 << 16))
    return some.lists(step, min_size=fewest, max_size=fewest * 4)


def in_memory(folder: Path, store: Store | None = None) -> Runtime:
    """A door that a new process would have, but for the store, which is in memory."""
    runtime = door(store, Settings(home=str(folder), model="scripted:/nowhere.json"))
    runtime.house.chance = os.urandom  # a door made again must not give its first names again
    return runtime


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("world")


def light(folder: Path) -> World:
    """A world in memory: entering it anew forgets all but the store."""
    return World(in_memory(folder), lambda left: in_memory(folder, left.house.store), folder)


def rows(runtime: Runtime) -> int:
    with runtime.house.store.read() as tx:
        return int(tx.value("SELECT count(*) FROM node"))


def play(world: World, steps: list[Step]) -> None:
    for verb, *draws in steps:
        before = rows(world.runtime)
        done = world.do(verb, iter(draws))
        assert rows(world.runtime) - before <= ROWS_MAX.get(done, 0)
        world.check()


@settings(max_examples=trials(120))
@given(steps_of(ALL_VERBS, 15))
def test_verbs_do_what_lists_do(folder: Path, steps: list[Step]) -> None:
    world = light(folder)
    play(world, steps)
    world.check_all()


houses = itertools.count()


@settings(max_examples=trials(25))
@given(steps_of(ALL_VERBS, 12))
def test_a_store_in_a_file_does_so_too_and_is_sound_whenever_it_is_opened(folder: Path, steps: list[Step]) -> None:
    world = World(entered(folder / f"house {next(houses)}"), again, folder)
    play(world, steps)
    world.check_all()
    world.runtime.close()
    assert Runtime.doctor(world.runtime.house.settings, via="cli").problems == ()


def one_act(world: World, verb: str) -> None:
    """One act taken back or brought back; where a run at work forbids it, that is tried, and the runs are ended."""
    acts = len(world.talk.past)
    play(world, [(verb, 0, 0)])
    if len(world.talk.past) == acts:
        play(world, [("cancel", 0, 0)] * len(world.books.active()))
        play(world, [(verb, 0, 0)])
    assert len(world.talk.past) != acts


@settings(max_examples=trials(60))
@given(steps_of((*VERBS, *RUNS), 10))
def test_undo_all_the_way_and_redo_all_the_way(folder: Path, steps: list[Step]) -> None:
    world = light(folder)
    play(world, steps)
    talk = world.talk
    while talk.future:
        one_act(world, "redo")
    end = (talk.head.path, set(world.books.hidden), dict(talk.labels), talk.model)
    acts = len(talk.past)
    for _ in range(acts):
        one_act(world, "undo")
    assert (talk.head.path, world.books.hidden, talk.labels, talk.model) == ((), set(), {}, None)
    assert talk.hidden, "the first act of all was to begin"
    for _ in range(acts):
        one_act(world, "redo")
    assert (talk.head.path, world.books.hidden, talk.labels, talk.model) == end
    world.check_all()
