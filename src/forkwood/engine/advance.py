"""The steps that reach nowhere outside: asking, settling, keeping results, steering, ending. In a row: one commit."""

from __future__ import annotations

from forkwood.domain.ids import Id
from forkwood.domain.message import Origin, ToolCall, ToolResult
from forkwood.domain.plan import plan
from forkwood.domain.run import RunState
from forkwood.domain.run_event import InteractionClosed, ResultsKept, RunEnded
from forkwood.domain.step import Ask, CallModel, End, KeepResults, Settle, TakeSteers, UseReads, UseTool
from forkwood.engine import asking, results, succession
from forkwood.engine.supplies import Supplies
from forkwood.store import append, drafts, holding, nodes
from forkwood.store.db import Tx
from forkwood.store.holding import Held


def advance(tx: Tx, supplies: Supplies, held: Held) -> Held:
    """Do every step that needs no model, no tool and no person; HELD after them. What is overdue is closed first."""
    held = asking.expired(tx, supplies, held)
    while True:
        step = plan(held.state)
        match step:
            case None | CallModel() | UseTool() | UseReads():
                return held
            case Ask() | Settle() | KeepResults() | TakeSteers() | End():
                held = _done(tx, supplies, held, step)


def calls_in_turn(tx: Tx, held: Held) -> dict[str, ToolCall]:
    """The calls of the present turn as the reply at the tip has them, by id."""
    reply = nodes.row(tx, held.tip.node)
    return {part.call: part for part in reply.parts if isinstance(part, ToolCall)}


def _done(tx: Tx, supplies: Supplies, held: Held, step: Ask | Settle | KeepResults | TakeSteers | End) -> Held:
    now_ms = supplies.clock()
    match step:
        case Ask(asks=asks):
            calls = calls_in_turn(tx, held)
            for ask in asks:
                held = holding.append(tx, held, asking.opened(tx, supplies, held, ask, calls), now_ms=now_ms)
        case Settle(closings=closings, withdraw=withdraw):
            held = _withdrawn(tx, held, withdraw, now_ms)
            for closing in closings:
                held = holding.append(tx, held, results.fitted(tx, held, closing), now_ms=now_ms)
        case KeepResults(turn=turn):
            node = _results(tx, held, supplies.new_id(), now_ms)
            held = holding.append(tx, held, ResultsKept(turn=turn), now_ms=now_ms, node=node, by="tool")
        case TakeSteers(queued=queued):
            held = succession.take_steers(tx, supplies, held, queued)
        case End(status=status, error=error, withdraw=withdraw):
            held = _withdrawn(tx, held, withdraw, now_ms)
            drafts.clear(tx, held.run)
            held = holding.append(tx, held, RunEnded(status=status, error=error), now_ms=now_ms)
            succession.follow(tx, supplies, held)
    return held


def _withdrawn(tx: Tx, held: Held, interactions: tuple[Id, ...], now_ms: int) -> Held:
    for interaction in interactions:
        closed = InteractionClosed(interaction=interaction, status="withdrawn")
        held = holding.append(tx, held, closed, now_ms=now_ms)
    return held


def _results(tx: Tx, held: Held, name: Id, now_ms: int) -> int:
    return append.add_results(
        tx,
        id=name,
        at=held.tip,
        parts=results_of_turn(held.state),
        origin=Origin(by="tool", via=held.door, run=held.run),
        now_ms=now_ms,
    )


def results_of_turn(state: RunState) -> tuple[ToolResult, ...]:
    """How each call of the present turn ended, in the calls' order."""
    settled = {one.call: one for one in state.settled}
    return tuple(
        ToolResult(call=call.call, name=call.name, outcome=settled[call.call].outcome, parts=settled[call.call].parts)
        for call in state.calls
    )
