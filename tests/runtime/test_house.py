"""The house: ids from its own clock and chance, one engine, models opened once."""

from __future__ import annotations

import asyncio
from pathlib import Path

from forkwood.domain.ids import make_id
from forkwood.domain.settings import Settings
from forkwood.runtime.house import House, wall_clock
from forkwood.store.db import Store
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, door, script


def test_ids_are_made_of_the_clock_and_chance_that_were_handed_in() -> None:
    house = House(
        Store.in_memory(), Settings(home="/x"), {}, "api", clock=lambda: NOON, chance=lambda size: b"x" * size
    )
    assert house.new_id() == make_id(NOON, b"x" * 10)
    assert (house.who.by, house.who.via) == ("user", "api")


def test_the_wall_clock_is_in_milliseconds() -> None:
    assert 1_700_000_000_000 < wall_clock() < 10_000_000_000_000


def test_there_is_one_engine_and_each_model_is_opened_once(home: Path, tmp_path: Path) -> None:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home)))
    name = script(tmp_path, {"text": "x"})
    assert runtime.house.engine is runtime.house.engine
    first, second = asyncio.run(runtime.house.open_model(name)), asyncio.run(runtime.house.open_model(name))
    assert first is second
    runtime.close()
    assert list(home.glob("drivers/*")) == []
