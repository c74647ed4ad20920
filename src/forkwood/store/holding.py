"""Driving a run, as the store sees it: who holds it, by a number that rises with each take-over. No clock, no lease.

Every commit of a driver begins with `renew`: it checks the number, and folds what others have added meanwhile.
"""

from __future__ import annotations

from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from forkwood.domain.act import Who
from forkwood.domain.errors import Conflict
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import By, Via
from forkwood.domain.run import RunState, apply, fold
from forkwood.domain.run_event import ReplyKept, ResultsKept, RunDriven, RunEvent, SteerTaken
from forkwood.domain.tree import Spot
from forkwood.store import conversations, log, runs
from forkwood.store.db import Tx


class Lost(Conflict):
    """Another driver has taken the run over: the one before commits nothing more."""


class Held(Struct, frozen=True, kw_only=True):
    """A run in the hands of its driver: its state after the event number SEEN."""

    run: Id
    conversation: int
    model: str
    leads: bool
    door: Via
    driver: str
    number: int
    state: RunState
    seen: int
    tip: Spot

    def who(self, by: By = "system") -> Who:
        """Who does what the driver does: through the door by which the run was opened."""
        return Who(by=by, via=self.door)


def hold(tx: Tx, run: Id, driver: str, now_ms: int) -> Held:
    """Take the run over for DRIVER. Whether another driver lives is for the caller to know.

    Raises Conflict where the run is over.
    """
    found = runs.details(tx, run)
    state = runs.state(tx, run)
    if state.ended:
        raise Conflict(
            f"run {ending(run)} is over: {state.ended.status}", hint="'forkwood retry NODE' starts a new one"
        )
    number = found.takeover + 1
    tx.run("UPDATE run SET driver = ?, takeover = ? WHERE id = ?", (driver, number, bytes.fromhex(run)))
    held = Held(
        run=run,
        conversation=found.conversation,
        model=found.model,
        leads=found.leads,
        door=found.door,
        driver=driver,
        number=number,
        state=state,
        seen=0,
        tip=found.tip,
    )
    return append(tx, held, RunDriven(driver=driver, number=number), now_ms=now_ms)


def renew(tx: Tx, held: Held) -> Held:
    """HELD with what others have added to the run since. Raises Lost where another driver has taken it over."""
    found = tx.one("SELECT driver, takeover FROM run WHERE id = ?", (bytes.fromhex(held.run),))
    if found != (held.driver, held.number):
        raise _lost(held.run)
    news = log.since(tx, held.run, held.seen)
    if not news:
        return held
    return replace(held, state=fold((event for _, event in news), held.state), seen=news[-1][0])


def append(tx: Tx, held: Held, event: RunEvent, *, now_ms: int, node: int | None = None, by: By = "system") -> Held:
    """Add EVENT to the run: the row follows, and with a reply, results or a steering message (NODE) the tip.

    The head follows the tip of a run that leads, and only while it stands there.
    """
    seq = log.write(tx, event, who=held.who(by), now_ms=now_ms, conversation=held.conversation, run=held.run, node=node)
    moved = node is not None and isinstance(event, ReplyKept | ResultsKept | SteerTaken)
    tip = Spot(node) if node is not None and moved else held.tip
    if tip != held.tip and held.leads and conversations.head(tx, held.conversation) == held.tip:
        conversations.move_head(tx, held.conversation, tip, now_ms)
    state = apply(held.state, event)
    runs.write_row(tx, held.run, state, tip, now_ms)
    if state.ended:
        release(tx, held)
    return replace(held, state=state, seen=seq, tip=tip)


def release(tx: Tx, held: Held) -> None:
    """Let go: anybody may drive the run now. Nothing where it was taken over already."""
    tx.run(
        "UPDATE run SET driver = NULL WHERE id = ? AND driver = ? AND takeover = ?",
        (bytes.fromhex(held.run), held.driver, held.number),
    )


def store_version(tx: Tx) -> int:
    """A number that changes when another connection has changed the store: the cheapest question there is."""
    return cast("int", tx.value("PRAGMA data_version"))


def _lost(run: Id) -> Lost:
    return Lost(f"run {ending(run)} was taken over by another process", hint="it goes on there", run=run)
