"""Watching runs: who drives one feeds its watchers; where another process does, the store is looked at now and then.

Events are never missed: a watcher who has seen up to a number gets every later one, in order. Deltas may be left out
where a watcher does not fetch them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import asdict

from forkwood.domain import limits
from forkwood.domain.event import Event
from forkwood.domain.ids import Id
from forkwood.domain.model import Delta
from forkwood.domain.run import MOVING
from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen
from forkwood.store import drafts, holding, log, nodes, runs
from forkwood.store.db import Store, Tx


class Watcher:
    """One who watches: what has come and is not fetched yet. For one consumer."""

    def __init__(self) -> None:
        self._items: deque[Seen] = deque()
        self._deltas = 0
        self._waiting: asyncio.Future[None] | None = None

    def see(self, item: Seen) -> None:
        """Add ITEM; a delta only where not too many wait already."""
        if type(item) is DeltaSeen:
            if self._deltas >= limits.watch_deltas_max:
                return
            self._deltas += 1
        self._items.append(item)
        self.wake()

    def wake(self) -> None:
        """Let the consumer look again, even where nothing has come."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def take(self) -> Seen | None:
        """The oldest item; None where there is none."""
        if not self._items:
            return None
        item = self._items.popleft()
        self._deltas -= type(item) is DeltaSeen
        return item

    async def rest(self) -> None:
        """Until something has come, or `wake` is called."""
        if not self._items:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting

    async def rest_for(self, seconds: float) -> None:
        """As `rest`, but no longer than SECONDS."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.rest()


class Feed:
    """What the driver of one run tells its watchers. `flight` holds the deltas of the reply that is coming in."""

    def __init__(self, store: Store, run: Id, ring: Callable[[], None] = lambda: None) -> None:
        self._store = store
        self._watchers: list[Watcher] = []
        self._ring = ring
        """Called when something is new: for those who watch more than this run."""
        self.run = run
        self.shown = 0
        """The number of the last event that watchers were told of."""
        self.flight: list[Delta] = []

    def join(self, watcher: Watcher, after: int) -> None:
        """From now on WATCHER sees all; first the events behind AFTER, and the reply in flight so far."""
        self.catch_up()
        if not self._watchers:
            self.shown = max(self.shown, after)
        with self._store.read() as tx:
            found = log.events_of_run(tx, self.run, after=after)
        for event in found:
            if event.seq <= self.shown or not self._watchers:
                self.shown = max(self.shown, event.seq)
                watcher.see(seen(event))
        for delta in drafts.merged(self.flight):
            watcher.see(scrap(self.run, delta))
        self._watchers.append(watcher)

    def leave(self, watcher: Watcher) -> None:
        """WATCHER has seen enough."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    def delta(self, delta: Delta) -> None:
        """A scrap has come."""
        self.flight.append(delta)
        self._ring()
        if self._watchers:
            item = scrap(self.run, delta)
            for watcher in self._watchers:
                watcher.see(item)

    def catch_up(self) -> None:
        """Something was committed: tell the events that are new."""
        self._ring()
        if not self._watchers:
            return
        with self._store.read() as tx:
            found = log.events_of_run(tx, self.run, after=self.shown)
        for event in found:
            self.shown = event.seq
            for watcher in self._watchers:
                watcher.see(seen(event))


class Follower:
    """Watches a run that another process drives, by looking at the store."""

    def __init__(self, store: Store, run: Id, watcher: Watcher, after: int) -> None:
        self._store = store
        self._run = run
        self._watcher = watcher
        self._version = -1
        self._scrap = (0, -1)
        self.after = after

    async def until(self, over: Callable[[], bool]) -> None:
        """Tell what happens, until the run stops moving or OVER says so. Nothing is read while nothing changes."""
        while self.look() and not over():  # noqa: ASYNC110  (what is waited for happens in another process)
            await asyncio.sleep(limits.watch_ms / 1000)

    def look(self) -> bool:
        """Tell what is new; False where the run does not move any more."""
        with self._store.read() as tx:
            version = holding.store_version(tx)
            if version != self._version:
                self._version = version
                self._tell(tx)
            return runs.row(tx, self._run).status in MOVING

    def _tell(self, tx: Tx) -> None:
        for event in log.events_of_run(tx, self._run, after=self.after):
            self.after = event.seq
            self._watcher.see(seen(event))
            if event.kind == "reply.interrupted":
                self._scrap = (0, -1)  # it is asked for again, and its draft begins anew
        for turn, n, deltas in drafts.since(tx, self._run, *self._scrap):  # a draft is always of the newest turn
            self._scrap = (turn, n)
            for delta in deltas:
                self._watcher.see(scrap(self._run, delta))


def seen(event: Event) -> EventSeen:
    """EVENT as a line of a watch."""
    return EventSeen(**asdict(event))


def scrap(run: Id, delta: Delta) -> DeltaSeen:
    """DELTA as a line of a watch."""
    return DeltaSeen(run=run, part=delta.kind, index=delta.index, text=delta.text)


def result(tx: Tx, run: Id) -> Result:
    """How the run stands now, with its last reply."""
    row = runs.row(tx, run)
    reply = runs.last_reply(tx, run)
    node = None if reply is None else nodes.row(tx, reply)
    return Result(
        run=run,
        status=row.status,
        node=None if node is None else node.id,
        text="" if node is None else node.text,
        usage=row.usage,
        error=row.error,
    )
