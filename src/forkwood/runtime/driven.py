"""Which runs are at work, and whether anybody who lives drives them."""

from __future__ import annotations

from forkwood.domain import limits
from forkwood.domain.ids import Id, time_of
from forkwood.domain.run import MOVING
from forkwood.engine import driver
from forkwood.runtime.house import House
from forkwood.store import interactions, runs
from forkwood.store.db import Tx


def is_driven(house: House, run: runs.RunRow) -> bool:
    """Whether a living driver has the run, here or in another process. Asking makes no driver of this process."""
    if house.begun_engine is not None:
        return house.begun_engine.is_driven(run.run, run.driver)
    return run.driver is not None and driver.lives(house.beside / driver.FOLDER, run.driver)


def abandoned(tx: Tx, house: House, conversation: int) -> list[Id]:
    """Those of `left` of which that can be said: driven before, or not taken up in time by whoever began them."""
    since = house.clock() - limits.taken_up_ms
    return [run for run in left(tx, house, conversation) if runs.details(tx, run).takeover or time_of(run) <= since]


def left(tx: Tx, house: House, conversation: int) -> list[Id]:
    """The runs of a conversation that have something to do and that nobody drives, oldest first, at any tip.

    One that waits for what nobody can answer any more goes on too.
    """
    late = frozenset(interactions.overdue(tx, house.clock(), conversation))
    found = [runs.details(tx, run) for run in runs.active(tx, conversation)]
    return [one.run for one in found if (one.status in MOVING or one.run in late) and not is_driven(house, one)]
