"""Taking a run over: what its last driver left is put in order in the transaction that names the new one.

Tool calls need nothing here: the fold of the take-over tells which had begun (`domain/run`). A model call in flight
leaves its draft: what came becomes a partial node, and the call is made again beside it.
"""

from __future__ import annotations

from forkwood.domain.event import NoticeGiven
from forkwood.domain.ids import Id
from forkwood.domain.message import Part, PartialReason
from forkwood.domain.run_event import ReplyInterrupted, ReplyKept
from forkwood.engine.keep import add_reply
from forkwood.engine.supplies import Supplies
from forkwood.store import conversations, drafts, holding, log, runs
from forkwood.store.db import Tx
from forkwood.store.holding import Held


def take_over(tx: Tx, supplies: Supplies, run: Id, driver: str) -> Held:
    """Hold RUN for DRIVER. Raises Conflict where it is over. Whether its last driver lives is the caller's to know."""
    was_calling = runs.state(tx, run).calling
    held = holding.hold(tx, run, driver, supplies.clock())
    if was_calling:
        held = _keep_draft(tx, supplies, held)
    return held


def _keep_draft(tx: Tx, supplies: Supplies, held: Held) -> Held:
    parts, turn, now_ms = drafts.parts(tx, held.run), held.state.turns + 1, supplies.clock()
    drafts.clear(tx, held.run)
    if parts and held.state.cancelling:  # nobody wants the call to be made again: what came is the reply
        node = _partial(tx, supplies, held, parts, "cancelled")
        conversations.count_reply(tx, held.conversation, None, None, now_ms)
        kept = ReplyKept(turn=turn, usage=None, cost=None, finish=None, partial="cancelled")
        return holding.append(tx, held, kept, now_ms=now_ms, node=node, by="model")
    found = _partial(tx, supplies, held, parts, "interrupted") if parts else None
    return holding.append(tx, held, ReplyInterrupted(turn=turn), now_ms=now_ms, node=found, by="model")


def _partial(tx: Tx, supplies: Supplies, held: Held, parts: tuple[Part, ...], why: PartialReason) -> int:
    node = add_reply(tx, supplies, held, parts, partial=why)
    words = "this reply is not whole: its process ended while it came in"
    log.write(
        tx,
        NoticeGiven(what="recovered", text=words),
        who=held.who(),
        now_ms=supplies.clock(),
        conversation=held.conversation,
        run=held.run,
        node=node,
    )
    return node
