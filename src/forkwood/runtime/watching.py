"""Watching: all that is done, by whichever process, as one numbered stream with the scraps of replies beside it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from forkwood.domain.watch import DeltaSeen, EventSeen
from forkwood.runtime import naming
from forkwood.runtime.reading import checked_after
from forkwood.runtime.verbs import Verbs
from forkwood.store import log, names


class Watching(Verbs):
    """watch, behind_last."""

    async def watch(
        self, after: int | None = 0, *, conversation: str | None = None, run: str | None = None
    ) -> AsyncGenerator[DeltaSeen | EventSeen]:
        """Every event behind the log number AFTER (None: from now on), in order, each once, and between them the
        deltas of the replies in flight; also of runs that begin later, and of those that other processes drive.

        Of the whole store, of one conversation, or of one run: that ends with the run, the others never. A watcher who
        is slow misses no event; what he was too slow for of a reply comes as one delta. Raises NotFound, Misused.
        """
        with self.house.store.read() as tx:
            start = log.newest(tx) if after is None else checked_after(after)
            here = None if conversation is None else naming.conversation(tx, conversation)
            only = None if run is None else names.run(tx, run)
        async with aclosing(self.house.engine.stream(start, conversation=here, run=only)) as items:
            async for item in items:
                yield item

    def behind_last(self, count: int, *, conversation: str | None = None) -> int:
        """The log number behind which the newest COUNT events stand, of one conversation or (None) of all: where one
        begins to watch who wants to see a little of what was. Raises NotFound."""
        with self.house.store.read() as tx:
            here = None if conversation is None else naming.conversation(tx, conversation)
            return log.behind_last(tx, count, here)
