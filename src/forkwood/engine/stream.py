"""The one stream of a store: its events by their numbers, none missed and none twice, and the scraps of replies in
flight beside them. What a watcher does not fetch waits in the store, not in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from forkwood.domain import limits
from forkwood.domain.event import Event
from forkwood.domain.ids import Id
from forkwood.domain.message import Part, Text, Thinking
from forkwood.domain.model import Delta, DeltaKind
from forkwood.domain.run import ACTIVE
from forkwood.domain.watch import DeltaSeen, EventSeen
from forkwood.engine.live import scrap, seen
from forkwood.store import drafts, log, names, nodes, runs
from forkwood.store.db import Store, Tx

_KEEPS = frozenset({"reply.kept", "reply.interrupted"})
_CLEARS = _KEEPS | {"turn.started", "run.ended"}
"""Events after which nothing that was told before is still coming."""


class Stream:
    """What happens in a store behind the event number AFTER: in all of it, in one conversation, or in one run.

    FLIGHT gives what has come of a reply that this process hears, None for a run that is not driven here. Of a reply
    of which a scrap was told the rest is told too, before the event that keeps it; scraps that a slow watcher missed
    come as one. Of a reply that came between two looks there are none.
    """

    def __init__(
        self,
        store: Store,
        flight: Callable[[Id], Sequence[Delta] | None],
        *,
        after: int,
        conversation: int | None = None,
        run: Id | None = None,
    ) -> None:
        self._store = store
        self._flight = flight
        self._conversation = conversation
        self._run = run
        self._coming: dict[Id, _Coming] = {}
        self.after = after
        self.over = False
        """Whether nothing can come any more: the one run that is watched has ended, and all of it was told."""

    def look(self) -> list[DeltaSeen | EventSeen]:
        """What is new, oldest first: events, at most `limits.watch_events_max`; scraps where no event waits behind."""
        with self._store.read() as tx:
            found = self._events(tx)
            told = [item for event in found for item in self._told(tx, event)]
            if len(found) == limits.watch_events_max:
                return told
            working = self._working(tx)
            self.over = self._run is not None and not working
            return [*told, *(item for run in working for item in self._scraps(tx, run))]

    def _events(self, tx: Tx) -> list[Event]:
        if self._run is not None:
            return log.events_of_run(tx, self._run, after=self.after)[: limits.watch_events_max]
        return log.events(tx, after=self.after, limit=limits.watch_events_max, conversation=self._conversation)

    def _working(self, tx: Tx) -> list[Id]:
        if self._run is None:
            return runs.active(tx, self._conversation)
        return [self._run] if runs.row(tx, self._run).status in ACTIVE else []

    def _told(self, tx: Tx, event: Event) -> Iterator[DeltaSeen | EventSeen]:
        """EVENT, and before it the rest of the reply that it keeps."""
        self.after = event.seq
        if event.run is not None and event.kind in _CLEARS:
            coming = self._coming.pop(event.run, None)
            if coming is not None and event.kind in _KEEPS and event.node is not None:
                parts = nodes.row(tx, names.node(tx, event.node)).parts
                yield from (scrap(event.run, delta) for delta in coming.rest(parts))
        yield seen(event)

    def _scraps(self, tx: Tx, run: Id) -> Iterator[DeltaSeen]:
        """What has come of the reply of RUN since the last look."""
        flight = self._flight(run)
        coming = self._coming.setdefault(run, _Coming(heard_here=flight is not None))
        if coming.heard_here != (flight is not None):
            return  # somebody else hears it now: what follows is told when it is kept
        new = coming.drafted(tx, run) if flight is None else coming.flown(flight)
        yield from (scrap(run, delta) for delta in coming.told(new))


class _Coming:
    """One reply in flight, as far as it was told."""

    def __init__(self, *, heard_here: bool) -> None:
        self.heard_here = heard_here
        self._taken = 0
        self._scrap = (0, -1)
        self._pieces: dict[int, list[str]] = {}
        self._kinds: dict[int, DeltaKind] = {}

    def flown(self, flight: Sequence[Delta]) -> list[Delta]:
        """What is new of a reply that this process hears."""
        new, self._taken = flight[self._taken :], len(flight)
        return drafts.merged(new)

    def drafted(self, tx: Tx, run: Id) -> list[Delta]:
        """What is new of a reply that another process hears."""
        found: list[Delta] = []
        for turn, number, deltas in drafts.since(tx, run, *self._scrap):
            self._scrap = (turn, number)
            found += deltas
        return drafts.merged(found)

    def told(self, deltas: list[Delta]) -> list[Delta]:
        """DELTAS, remembered."""
        for delta in deltas:
            self._pieces.setdefault(delta.index, []).append(delta.text)
            self._kinds[delta.index] = delta.kind
        return deltas

    def rest(self, parts: Sequence[Part]) -> Iterator[Delta]:
        """What was not told of the reply that is kept as PARTS; nothing where nothing was told, or another thing."""
        if not self._pieces:
            return
        places = [index for index in sorted(self._kinds) if self._kinds[index] != "tool_call"]
        for at, part in enumerate(part for part in parts if isinstance(part, Text | Thinking)):
            index = places[at] if at < len(places) else max(self._kinds) + 1 + at - len(places)
            before = "".join(self._pieces.get(index, ()))
            if part.text.startswith(before) and len(part.text) > len(before):
                kind: DeltaKind = "text" if isinstance(part, Text) else "thinking"
                yield Delta(index=index, kind=kind, text=part.text[len(before) :])
