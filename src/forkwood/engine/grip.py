"""A driver's grip on one run: its commits, its draft, its beat. `Lost` says that the run is another's now."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError
from forkwood.domain.model import Delta
from forkwood.domain.run_event import RunEvent, RunStopped
from forkwood.engine.advance import advance
from forkwood.engine.attend import Poke
from forkwood.engine.live import Feed
from forkwood.engine.mask import Mask
from forkwood.engine.mishaps import told
from forkwood.engine.supplies import Supplies
from forkwood.store import drafts, holding
from forkwood.store.db import Tx
from forkwood.store.holding import Held


class Grip:
    """`held` is the run as of its driver's last look; `poke` makes the driver look at once."""

    def __init__(self, supplies: Supplies, held: Held, feed: Feed, stand: Callable[[], bool] = lambda: False) -> None:
        """STAND makes sure that others see that the driver lives, and says whether they may have thought otherwise."""
        self.supplies = supplies
        self._stand = stand
        self.held = held
        self.feed = feed
        self.poke = Poke()
        self._version = -1
        self._unsaved = 0
        self._saved = 0
        self._scraps = 0
        self.mask = Mask(supplies.secrets)

    def renewed(self, tx: Tx) -> Held:
        """The run as of now, in a transaction that adds to it. Raises Lost.

        The driver's lock stands by then: whoever looks from this commit on leaves the run alone.
        """
        self._stand()
        return holding.renew(tx, self.held)

    def commit(self, *events: RunEvent) -> None:
        """Add EVENTS, and do at once what follows from them without model, tool or person. Raises Lost."""
        with self.supplies.store.write() as tx:
            held = self.renewed(tx)
            for event in events:
                held = holding.append(tx, held, event, now_ms=self.supplies.clock())
            self.settle(tx, held)
        self.feed.catch_up()

    def begin(self, announce: Callable[[Tx, Held], Iterable[RunEvent]]) -> bool:
        """Commit what ANNOUNCE gives before something outside begins. Raises Lost.

        False where somebody stopped or steered the run meanwhile: what follows from that is done instead.
        """
        with self.supplies.store.write() as tx:
            held = self.renewed(tx)
            if held.state.stop is not None or held.state.steers:
                self.settle(tx, held)
                return False
            now_ms = self.supplies.clock()
            for event in announce(tx, held):
                held = holding.append(tx, held, event, now_ms=now_ms)
            self.held = held
        self.feed.catch_up()
        return True

    def stop(self, error: ForkwoodError) -> None:
        """The run cannot go on: it ends failed, by ERROR. Raises Lost."""
        self.commit(RunStopped(error=self.mask.facts(told(error))))

    def settle(self, tx: Tx, held: Held) -> None:
        """What follows from the events that HELD has seen."""
        self.held = advance(tx, self.supplies, held)

    def check(self) -> bool:
        """The moment before an effect: whether nobody wants the run to end. Raises Lost."""
        with self.supplies.store.read() as tx:
            self.held = self.renewed(tx)
        return self.held.state.stop is None

    def beat(self) -> bool:
        """Save the draft and see what others did to the run: whether somebody wants it to end. Raises Lost."""
        if self._stand():
            self.poke.is_due = True
        if self._unsaved:
            self.save_draft()
        else:
            with self.supplies.store.read() as tx:
                version = holding.store_version(tx)
                if version != self._version or self.poke.is_due:
                    self._version, self.poke.is_due = version, False
                    self.held = holding.renew(tx, self.held)
        return self.held.state.cancelling

    def begin_draft(self) -> None:
        """A reply is about to come in."""
        self.feed.flight = []
        self._unsaved = self._saved = self._scraps = 0
        self.mask.begin()

    def hear(self, delta: Delta) -> None:
        """A scrap of the reply has come."""
        for ready in self.mask.heard(delta):
            self._tell(ready)

    def hear_out(self) -> None:
        """No further scrap comes: what was held back for what might follow is told."""
        for held in self.mask.rest():
            self._tell(held)

    def _tell(self, delta: Delta) -> None:
        self.feed.delta(delta)
        text = delta.text
        self._unsaved += len(text) if text.isascii() else len(text.encode())
        if self._unsaved >= limits.draft_bytes:
            self.save_draft()

    def save_draft(self) -> None:
        """Write what has come since the last time."""
        flight = self.feed.flight
        with self.supplies.store.write() as tx:
            self.held = holding.renew(tx, self.held)
            scraps = drafts.merged(flight[self._saved :])
            drafts.append(tx, self.held.run, self.held.state.turns + 1, self._scraps, scraps)
        self._scraps, self._unsaved, self._saved = self._scraps + 1, 0, len(flight)

    def let_go(self) -> None:
        """Save what came; anybody may drive the run now. One that is over is nobody's already."""
        if self.held.state.ended:
            return
        self.hear_out()
        if self._unsaved:
            self.save_draft()
        with self.supplies.store.write() as tx:
            holding.release(tx, self.held)
