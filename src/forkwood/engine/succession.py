"""What comes after a turn or a run: messages that a person sent meanwhile become nodes at its tip, in their order.

All of it is part of the transaction in which the turn is due or the run has ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from forkwood.domain.act import Who
from forkwood.domain.errors import Conflict, ForkwoodError, LimitExceeded, Misused, NotFound, Refused
from forkwood.domain.event import NoticeGiven
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import Origin
from forkwood.domain.queued import Queued, QueueMoved
from forkwood.domain.run_event import SteerTaken, SteerWithdrawn
from forkwood.domain.tree import ROOT, Spot
from forkwood.engine.supplies import Supplies
from forkwood.store import append, conversations, holding, log, places, purge, queue, runs
from forkwood.store.db import Tx
from forkwood.store.holding import Held

UNSENDABLE = (Conflict, LimitExceeded, Misused, NotFound, Refused)
"""Why a message cannot stand where it waits for; whatever else goes wrong is wrong with the store."""


def take_steers(tx: Tx, supplies: Supplies, held: Held, queued: Sequence[Id]) -> Held:
    """Append what steers the run at its tip, in the order in which it was accepted; HELD with the tip behind it."""
    for name in queued:
        message, now_ms = queue.row(tx, name), supplies.clock()
        try:
            node = _appended(tx, supplies, held, message)
        except UNSENDABLE as error:
            held = holding.append(tx, held, SteerWithdrawn(queued=name), now_ms=now_ms)
            _set_aside(tx, supplies, held, name, error)
            continue
        queue.sent(tx, name, node, ())
        held = holding.append(tx, held, SteerTaken(queued=name), now_ms=now_ms, node=node, by=message.by)
    return held


def follow(tx: Tx, supplies: Supplies, held: Held) -> None:
    """The run is over: the next in its queue is sent at its tip, and the rest waits behind the first run that replies.

    Where nothing may begin the queue is held. A cancel has held what waited by then: what waits still was said after
    it, and what was held comes behind that. One that cannot be sent is held with a notice.
    """
    waiting = queue.behind(tx, held.run)
    if not waiting:
        return
    here, who, now_ms = held.conversation, held.who(), supplies.clock()
    if not _goes_on(tx, held):
        queue.hold(tx, waiting, behind=held.run, conversation=here, who=who, now_ms=now_ms)
        return
    for number, name in enumerate(waiting, 1):
        first = _sent(tx, supplies, held, name)
        if first is not None:
            queue.stand_behind(tx, waiting[number:], first, conversation=here, who=who, now_ms=now_ms)
            if held.state.cancelling:
                release(tx, here, held.tip, first, who=who, now_ms=now_ms)
            return


def release(tx: Tx, conversation: int, spot: Spot, run: Id, *, who: Who, now_ms: int) -> tuple[Id, ...]:
    """Somebody goes on at SPOT: what is held behind runs that led there waits behind RUN from now on. Their names."""
    going = tuple(one.id for one in queue.held(tx, conversation) if _led_to(tx, one.behind, spot))
    queue.stand_behind(tx, going, run, conversation=conversation, who=who, now_ms=now_ms)
    return going


def _led_to(tx: Tx, run: Id, spot: Spot) -> bool:
    """Whether the run that ended stands on the path to SPOT; one that damage has taken stands on any."""
    if not runs.exists(tx, run):
        return True
    tip = runs.tip(tx, run)
    return tip in {ROOT, spot} or places.standing(tx, spot, tip.node) is not None


def _goes_on(tx: Tx, held: Held) -> bool:
    """Whether anything may begin by itself behind a run that has ended."""
    return not purge.closing(tx, held.conversation) and not conversations.row(tx, held.conversation).hidden


def _sent(tx: Tx, supplies: Supplies, held: Held, name: Id) -> Id | None:
    """Send a message at the tip of the run; the first of the runs that reply. None where it cannot be sent."""
    message, now_ms = queue.row(tx, name), supplies.clock()
    try:
        node = _appended(tx, supplies, held, message)
    except UNSENDABLE as error:
        _set_aside(tx, supplies, held, name, error)
        return None
    if conversations.head(tx, held.conversation) == held.tip:
        conversations.move_head(tx, held.conversation, Spot(node), now_ms)
    opened = _opened(tx, supplies, held, message, node)
    queue.sent(tx, name, node, opened)
    moved = QueueMoved(queued=(name,), state="sent", behind=held.run, runs=opened)
    log.write(tx, moved, who=held.who(), now_ms=now_ms, conversation=held.conversation, run=held.run, node=node)
    return opened[0]


def _opened(tx: Tx, supplies: Supplies, held: Held, message: Queued, node: int) -> tuple[Id, ...]:
    """A run for each model that is to reply: those named with the message, else the conversation's, else the last."""
    models = message.models or (conversations.row(tx, held.conversation).model or held.model,)
    ids = tuple(supplies.new_id() for _ in models)
    client, key = queue.command(tx, message.id)
    for run, model in zip(ids, models, strict=True):
        runs.open(
            tx,
            id=run,
            conversation=held.conversation,
            place=Spot(node),
            model=model,
            leads=run == ids[0],
            who=Who(by=message.by, via=message.via),
            now_ms=supplies.clock(),
            client=client,
            key=key,
        )
    return ids


def _appended(tx: Tx, supplies: Supplies, held: Held, message: Queued) -> int:
    """The message as a node at the tip of the run. Raises one of UNSENDABLE."""
    return append.add_message(
        tx,
        id=supplies.new_id(),
        conversation=held.conversation,
        at=held.tip,
        role="user",
        parts=message.parts,
        origin=Origin(by=message.by, via=message.via),
        now_ms=supplies.clock(),
    )


def _set_aside(tx: Tx, supplies: Supplies, held: Held, name: Id, error: ForkwoodError) -> None:
    """Hold a message that cannot be sent, and say so at the tip of the run."""
    now_ms = supplies.clock()
    queue.hold(tx, [name], behind=held.run, conversation=held.conversation, who=held.who(), now_ms=now_ms)
    words = f"the queued message {ending(name)} could not be sent and is held: {error.message} (forkwood queue)"
    log.write(
        tx,
        NoticeGiven(what="queue", text=words),
        who=held.who(),
        now_ms=now_ms,
        conversation=held.conversation,
        run=held.run,
        node=held.tip.node or None,
    )
