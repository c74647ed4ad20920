"""The engine: it drives runs and shows to whoever watches what they do, whichever process drives them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from typing import Any, Self

from forkwood.domain import limits
from forkwood.domain.act import Who
from forkwood.domain.ids import Id
from forkwood.domain.message import Via
from forkwood.domain.model import Delta
from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen
from forkwood.engine.drive import Driving
from forkwood.engine.live import Follower, Watcher, result
from forkwood.engine.stream import Stream
from forkwood.engine.supplies import Supplies
from forkwood.store import log, queue, runs
from forkwood.store.holding import Lost


class Engine(Driving):
    """Drives runs and shows them, whoever drives them. For one event loop; close it when done."""

    def __init__(self, supplies: Supplies) -> None:
        super().__init__(supplies)
        self._onlookers: list[Watcher] = []

    async def drive(self, wanted: Sequence[Id], *, after: int | None = None) -> AsyncGenerator[Seen]:
        """Drive runs that nobody drives, follow the others; everything they do as it comes (events behind AFTER; None:
        from now on), a Result for each, the first run's last. What the queue starts behind one that was driven here is
        driven too: its Results come before those of the runs that were WANTED.

        Cancelling the task that iterates cancels the runs: what came of their replies is kept. Leaving the iterator in
        another way leaves them at work. Raises what drives them raises: StoreUnusable, NotFound.
        """
        watcher, start = Watcher(), self._newest() if after is None else after
        names, queued = list(dict.fromkeys(wanted)), list[Id]()
        async with _Shown(watcher, [self._move_on(run, watcher, start, queued) for run in names]) as items:
            try:
                async for item in items:
                    yield item
            except asyncio.CancelledError:
                await self._cancelled([*names, *queued])
                raise
        for run in [*queued, *names[1:], *names[:1]]:
            yield self._result(run)

    async def watch(self, run: Id, *, after: int = 0) -> AsyncGenerator[Seen]:
        """What a run does, whoever drives it: every event behind AFTER, deltas as they come, a Result when it stops."""
        watcher = Watcher()
        async with _Shown(watcher, [self._look(run, watcher, after)]) as items:
            async for item in items:
                yield item
        yield self._result(run)

    async def stream(
        self, after: int, *, conversation: int | None = None, run: Id | None = None
    ) -> AsyncGenerator[DeltaSeen | EventSeen]:
        """All that happens in the store behind AFTER, whoever does it: see `Stream`. Ends where RUN has ended, else
        never, but when this engine is closed."""
        watcher = Watcher()
        stream = Stream(self._supplies.store, self._flight, after=after, conversation=conversation, run=run)
        self._onlookers.append(watcher)
        try:
            while not self._closed:
                found = stream.look()
                for item in found:
                    yield item
                if stream.over:
                    return
                if not found:
                    await watcher.rest_for(limits.watch_ms / 1000)
        finally:
            self._onlookers.remove(watcher)

    async def _move_on(self, run: Id, watcher: Watcher, after: int, queued: list[Id]) -> None:
        """As `_move`; where RUN was driven here, so is what the queue starts behind it, added to QUEUED."""
        if not await self._move(run, watcher, after):
            return
        with self._supplies.store.read() as tx:
            started = queue.started_by(tx, run)
        queued += started
        await asyncio.gather(*(self._move_on(one, watcher, after, queued) for one in started))

    async def _move(self, run: Id, watcher: Watcher, after: int) -> bool:
        """Until RUN stops moving: driven here where it can be, followed elsewhere; taken over should its driver die.
        Whether it was driven here."""
        driven = False
        while not self._closed:
            driven = self.start(run) or run in self._tasks or driven
            after = await self._see(run, watcher, after, lambda: not self._is_elsewhere(run))
            if not self._moves(run):
                break
        return driven

    async def _look(self, run: Id, watcher: Watcher, after: int) -> None:
        """Until RUN stops moving, whoever drives it."""
        while not self._closed:
            after = await self._see(run, watcher, after, lambda: run in self._tasks or self._closed)
            if not self._moves(run):
                return

    async def _see(self, run: Id, watcher: Watcher, after: int, over: Callable[[], bool]) -> int:
        """Show WATCHER the run: from its feed where it is driven here, else from the store until it stops or OVER.

        The number of the last event that was shown.
        """
        grip, task = self._grips.get(run), self._tasks.get(run)
        if grip is None or task is None:
            follower = Follower(self._supplies.store, run, watcher, after)
            await follower.until(over)
            return follower.after
        grip.feed.join(watcher, after)
        try:
            await asyncio.wait({task})
        finally:
            grip.feed.catch_up()
            grip.feed.leave(watcher)
        if not task.cancelled() and (failure := task.exception()) is not None and not isinstance(failure, Lost):
            raise failure
        return grip.feed.shown

    async def _cancelled(self, wanted: list[Id]) -> None:
        """The person wants them to end: they do, and what came is kept."""
        for run in wanted:
            self.cancel(run, Who(by="user", via=self._door(run)))
        mine = [self._tasks[run] for run in wanted if run in self._tasks]
        if mine:
            await asyncio.wait(mine)

    def _flight(self, run: Id) -> Sequence[Delta] | None:
        """What has come of the reply of a run that is driven here; None of any other."""
        return self._grips[run].feed.flight if run in self._grips else None

    def _newest(self) -> int:
        with self._supplies.store.read() as tx:
            return log.newest(tx)

    def _door(self, run: Id) -> Via:
        with self._supplies.store.read() as tx:
            return runs.details(tx, run).door

    def _result(self, run: Id) -> Result:
        with self._supplies.store.read() as tx:
            return result(tx, run)

    def _ring(self) -> None:
        for watcher in self._onlookers:
            watcher.wake()


class _Shown:
    """What WATCHER is shown while MOVERS are at work; they are stopped and awaited on leaving.

    No generators: a loop that ends closes all of them at once, and one within another is then closed twice.
    """

    def __init__(self, watcher: Watcher, movers: Iterable[Coroutine[Any, Any, object]]) -> None:
        self._watcher = watcher
        self._movers = movers
        self._tasks: list[asyncio.Task[object]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.ensure_future(mover) for mover in self._movers]
        for task in self._tasks:
            task.add_done_callback(lambda _: self._watcher.wake())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Seen:
        """The next thing that is shown, until every one of MOVERS is done. Raises what they raise."""
        while (item := self._watcher.take()) is None:
            for task in self._tasks:
                if task.done() and not task.cancelled() and (failure := task.exception()) is not None:
                    raise failure
            if all(task.done() for task in self._tasks):
                raise StopAsyncIteration
            await self._watcher.rest()
        return item
