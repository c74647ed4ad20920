"""Who drives a run: told by the lock of the driver that its row names, never by a clock."""

from __future__ import annotations

from pathlib import Path

from forkwood.domain import limits
from forkwood.domain.ids import time_of
from forkwood.domain.settings import Settings
from forkwood.engine.driver import Driver
from forkwood.runtime import Runtime, driven
from forkwood.store import holding, runs
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, door


def test_a_run_is_left_where_nobody_has_it_and_where_its_driver_is_dead(home: Path) -> None:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    [run] = runtime.send("hi").runs
    other = Driver.start(home / "drivers", lambda: "other")
    with runtime.house.store.write() as tx:
        assert driven.left(tx, runtime.house, 1) == [run]
        holding.hold(tx, run, "other", NOON)
        assert driven.is_driven(runtime.house, runs.details(tx, run))
        assert driven.left(tx, runtime.house, 1) == []
    other.close()
    assert runtime.left() == [run]
    assert runtime.house.begun_engine is None


def test_a_driver_is_met_through_every_home_that_leads_to_its_store(home: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.mkdir()
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    [run] = runtime.send("hi").runs
    (linked / "forkwood.db").symlink_to(home / "forkwood.db")
    other = door(open_store(linked, now_ms=NOON), Settings(home=str(linked), model="scripted:/nowhere.json"))
    driver = other.house.engine._me()
    with runtime.house.store.write() as tx:
        holding.hold(tx, run, driver.name, NOON)
    assert runtime.left() == []
    assert Runtime.doctor(other.house.settings, via="cli").notices == ()
    assert not runtime.house.engine.start(run)
    assert (home / "drivers" / f"{driver.name}.lock").exists()
    assert not (linked / "drivers").exists()
    other.close()
    assert runtime.left() == [run]


def test_a_run_that_the_engine_of_this_process_has_is_driven(home: Path) -> None:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    [run] = runtime.send("hi").runs
    assert not runtime.house.engine.is_driven(run, None)
    assert runtime.left() == [run]


def test_a_run_that_began_this_moment_is_not_said_to_be_left(home: Path) -> None:
    store = open_store(home, now_ms=NOON)
    runtime = door(store, Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    [run] = runtime.send("hi").runs
    assert (runtime.left(), runtime.abandoned()) == ([run], [])
    runtime.house.clock = lambda: time_of(run) + limits.taken_up_ms - 1
    assert runtime.abandoned() == []
    runtime.house.clock = lambda: time_of(run) + limits.taken_up_ms
    assert runtime.abandoned() == [run]


def test_a_run_that_was_driven_before_is_said_to_be_left_at_once(home: Path) -> None:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    [run] = runtime.send("hi").runs
    other = Driver.start(home / "drivers", lambda: "other")
    with runtime.house.store.write() as tx:
        holding.hold(tx, run, "other", NOON)
    other.close()
    assert runtime.abandoned() == [run]
