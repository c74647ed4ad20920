"""Who drives a run: told by the lock of the driver that its row names, never by a clock."""

from __future__ import annotations

from pathlib import Path

from forkwood.domain.settings import Settings
from forkwood.engine.driver import Driver
from forkwood.runtime import driven
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


def test_a_run_that_the_engine_of_this_process_has_is_driven(home: Path) -> None:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    [run] = runtime.send("hi").runs
    assert not runtime.house.engine.is_driven(run, None)
    assert runtime.left() == [run]
