"""Driving runs to where only a person can move them, and who drives which."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext

from forkwood.domain.act import Who
from forkwood.domain.errors import ForkwoodError, StoreUnusable
from forkwood.domain.ids import Id
from forkwood.domain.model import Model
from forkwood.domain.plan import plan
from forkwood.domain.run import MOVING, Run
from forkwood.domain.step import CallModel, UseReads, UseTool
from forkwood.engine.advance import advance
from forkwood.engine.attend import attend
from forkwood.engine.driver import Driver, lives
from forkwood.engine.grip import Grip
from forkwood.engine.live import Feed
from forkwood.engine.mishaps import defect
from forkwood.engine.perform import call_model
from forkwood.engine.prepare import same_binding
from forkwood.engine.recover import take_over
from forkwood.engine.supplies import Supplies
from forkwood.engine.use import use_reads, use_tool
from forkwood.store import holding, interactions, manifests, runs
from forkwood.store.db import Tx
from forkwood.store.holding import Held, Lost


async def drive(grip: Grip) -> None:
    """Fold, plan, perform, commit: until the run waits for a person or is over. Raises Lost, StoreUnusable.

    Whatever else goes wrong ends the run failed: left at work, it would run into the same each time it is driven.
    """
    haste: AbstractContextManager[None] = nullcontext()
    try:
        await _move(grip)
    except Lost:
        raise
    except StoreUnusable:
        haste = grip.supplies.store.at_once()
        raise
    except ForkwoodError as error:
        grip.stop(error)
    except Exception as error:  # a mistake of the program's own ends this run, and no other
        grip.stop(defect(error))
    finally:
        with haste:
            grip.let_go()


async def _move(grip: Grip) -> None:
    grip.commit()
    model = None
    while (step := plan(grip.held.state)) is not None:
        match step:
            case CallModel():
                model = model or await _opened(grip)
                if model is not None:
                    await call_model(grip, model, step)
                else:
                    grip.commit()  # somebody wants the run to end
            case UseTool():
                model = model or await _still_bound(grip)
                await use_tool(grip, step)
            case UseReads():
                model = model or await _still_bound(grip)
                await use_reads(grip, step)
            case _:
                grip.commit()  # nothing outside is wanted: a commit does it


async def _opened(grip: Grip) -> Model | None:
    """The model of the run, looked for; None where somebody wants the run to end meanwhile."""
    return await attend(grip.supplies.model(grip.held.model), grip.poke, grip.beat)


async def _still_bound(grip: Grip) -> Model | None:
    """The model of a run that was taken over before one of its calls, if it can be opened. Raises Conflict where it is
    reached in another way than the run was sealed with: then none of the calls is carried out."""
    try:
        model = await _opened(grip)
    except ForkwoodError:
        return None  # what cannot be opened now is not another: it is opened again when its reply is due
    if model is None:
        return None
    with grip.supplies.store.read() as tx:
        same_binding(manifests.get(tx, grip.held.state.manifest), model)
    return model


class Driving:
    """Who drives the runs of one store in this process. For one event loop; close it when done."""

    def __init__(self, supplies: Supplies) -> None:
        self._supplies = supplies
        self._driver: Driver | None = None
        self._grips: dict[Id, Grip] = {}
        self._tasks: dict[Id, asyncio.Task[None]] = {}
        self._owed: list[Held] = []
        """Runs that could not be let go of when their drivers stopped: the store took no write."""
        self._closed = False

    def start(self, run: Id) -> bool:
        """Drive RUN in the background; False where somebody drives it already, or it is over."""
        if run in self._tasks or self._closed:
            return False
        with self._supplies.store.write() as tx:
            for owed in self._owed:
                holding.release(tx, owed)
            held = self._taken(tx, run)
        self._owed.clear()
        if held is None:
            return False
        feed = Feed(self._supplies.store, run, self._ring)
        grip = self._grips[run] = Grip(self._supplies, held, feed, self._me().stand)
        task = self._tasks[run] = asyncio.ensure_future(drive(grip))
        task.add_done_callback(lambda done: self._forget(run, done))
        return True

    def cancel(self, run: Id, who: Who) -> Run:
        """End a run: its driver stops at once and keeps what came; where nobody drives it, it ends here and now."""
        with self._supplies.store.write() as tx:
            self.end(tx, run, who)
        self.poke(run)
        with self._supplies.store.read() as tx:
            return runs.row(tx, run)

    def end(self, tx: Tx, run: Id, who: Who) -> None:
        """What `cancel` commits, as part of a transaction; `poke` the run when that is done."""
        runs.ask_to_cancel(tx, run, who=who, now_ms=self._supplies.clock())
        if run not in self._tasks and (held := self._taken(tx, run)) is not None:
            holding.release(tx, advance(tx, self._supplies, held))

    def poke(self, run: Id) -> None:
        """Let the driver of RUN look at once, where that is this engine: another sees it within `limits.draft_ms`."""
        if run in self._grips:
            self._grips[run].poke.now()

    def is_driven(self, run: Id, driver: str | None) -> bool:
        """Whether a living driver has the run whose row names DRIVER, here or in another process."""
        return run in self._tasks or self._is_alive(driver)

    async def close(self) -> None:
        """Let go of every run: what came of their replies is in drafts, and anybody may drive them on."""
        self._closed = True
        tasks = [task for task in self._tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._driver is not None:
            self._driver.close()
            self._driver = None

    def _taken(self, tx: Tx, run: Id) -> Held | None:
        """RUN taken over by this engine; None where it is over or waits for a person, or a living driver has it.

        What it waits for may be overdue: then nobody can answer it any more, and the run goes on.
        """
        interactions.expire(tx, run, via=runs.details(tx, run).door, now_ms=self._supplies.clock())
        found = runs.details(tx, run)
        if found.status not in MOVING or self._is_alive(found.driver):
            return None
        self._me().stand()
        return take_over(tx, self._supplies, run, self._me().name)

    def _is_alive(self, driver: str | None) -> bool:
        """Whether DRIVER is another that lives. This engine knows what it drives itself."""
        mine = self._driver is not None and self._driver.name == driver
        return driver is not None and not mine and lives(self._supplies.drivers, driver)

    def _me(self) -> Driver:
        if self._driver is None:
            self._driver = Driver.start(self._supplies.drivers, self._supplies.new_id)
        return self._driver

    def _forget(self, run: Id, done: asyncio.Task[None]) -> None:
        """What a driver raised is told by whoever watches; where nobody does, the store says the same to the next."""
        self._tasks.pop(run, None)
        grip = self._grips.pop(run)
        if not done.cancelled() and isinstance(done.exception(), StoreUnusable):
            self._owed.append(grip.held)

    def _is_elsewhere(self, run: Id) -> bool:
        """Whether another living driver has the run, so that it is followed and not driven."""
        with self._supplies.store.read() as tx:
            return run not in self._tasks and self._is_alive(runs.details(tx, run).driver)

    def _moves(self, run: Id) -> bool:
        with self._supplies.store.read() as tx:
            return runs.row(tx, run).status in MOVING

    def _ring(self) -> None:
        """Something is new in a run that is driven here."""
