"""Using tools: a call is checked once more, announced in the log before its effect, carried out, and settled."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from msgspec import Struct

from forkwood.domain.errors import ForkwoodError, StoreUnusable
from forkwood.domain.message import Text, ToolCall
from forkwood.domain.run_event import CallAsked, CallJudged, CallSettled, CallStarted
from forkwood.domain.step import UseReads, UseTool, closing
from forkwood.domain.tool import Occasion, Tool, ToolOutcome, ToolSealed
from forkwood.engine import judging, results
from forkwood.engine.advance import calls_in_turn
from forkwood.engine.attend import attend
from forkwood.engine.grip import Grip
from forkwood.store import conversations, holding, manifests, nodes
from forkwood.store.db import Tx
from forkwood.store.holding import Held, Lost

CHANGED = "changed since it was asked"
SWITCHED_OFF = "this tool was switched off since it was asked"


class _Due(Struct, frozen=True):
    """A call that may run: as the reply has it, and by which tool."""

    call: ToolCall
    tool: Tool


async def use_tool(grip: Grip, step: UseTool) -> None:
    """One call: what a crash left of it is looked at first, and carried out is only what left nothing."""
    due, at = _due(grip, (step.call,))
    if not due:
        return
    found = await due[0].tool.inspect(due[0].call, at) if step.inspect else None
    if found is None:
        await _use(grip, due, at)
    else:
        _settle(grip, [(due[0].call, found)])


async def use_reads(grip: Grip, step: UseReads) -> None:
    """Several calls side by side; their results keep the order of the calls."""
    due, at = _due(grip, step.calls)
    if len(due) == len(step.calls):
        await _use(grip, due, at)


def _due(grip: Grip, calls: tuple[CallAsked, ...]) -> tuple[list[_Due], Occasion]:
    """CALLS with their tools; those whose tools are not what they were when they were asked are settled here."""
    with grip.supplies.store.read() as tx:
        asked = calls_in_turn(tx, grip.held)
        found = [(asked[one.call], _as_sealed(tx, grip, one.name)) for one in calls]
        at = Occasion(
            run=grip.held.run,
            conversation=grip.held.conversation,
            node=nodes.row(tx, grip.held.tip.node).id,
            door=grip.held.door,
        )
    changed = ToolOutcome(outcome="error", parts=(Text(text=CHANGED),))
    lapsed = [(call, changed) for call, tool in found if tool is None]
    if lapsed:
        _settle(grip, lapsed)
    return [_Due(call, tool) for call, tool in found if tool is not None], at


def _as_sealed(tx: Tx, grip: Grip, name: str) -> Tool | None:
    """The live tool of that NAME, where it still is what was sealed."""
    sealed = {tool.spec.name: tool for tool in manifests.get(tx, grip.held.state.manifest).tools}
    live = next((tool for tool in grip.supplies.tools.values() if tool.sealed.spec.name == name), None)
    return live if live is not None and live.sealed == sealed.get(name) else None


async def _use(grip: Grip, due: list[_Due], at: Occasion) -> None:
    if not _announced(grip, due):
        return
    found = await attend(_outcomes(grip, due, at), grip.poke, grip.beat) or []
    ended = zip((one.call for one in due), found, strict=False)
    _settle(grip, [(call, outcome) for call, outcome in ended if outcome is not None])


def _announced(grip: Grip, due: list[_Due]) -> bool:
    """Commit that the calls begin; False where somebody stopped the run meanwhile, or what let them run holds no more:
    nothing of them has happened."""
    with grip.supplies.store.write() as tx:
        held = grip.renewed(tx)
        stopped = held.state.stop is not None
        objections = [] if stopped else _objections(tx, grip, held, due)
        begins = [] if stopped or objections else [CallStarted(call=one.call.call) for one in due]
        for event in (*objections, *begins):
            held = holding.append(tx, held, event, now_ms=grip.supplies.clock())
        grip.settle(tx, held)
    grip.feed.catch_up()
    return bool(begins)


def _objections(tx: Tx, grip: Grip, held: Held, due: list[_Due]) -> list[CallSettled | CallJudged]:
    """What stands against carrying the calls out now, in the transaction in which they would begin."""
    policy, calls = judging.policy_now(tx, grip.supplies, held), {call.call: call for call in held.state.open_calls}
    off = conversations.row(tx, held.conversation).tools_off
    found: list[CallSettled | CallJudged] = []
    for one in due:
        sealed, name = one.tool.sealed, one.call.call
        if sealed.spec.name in off:
            found.append(closing(calls[name], "denied", SWITCHED_OFF))
        elif not judging.is_bound(held.state, name, sealed, one.call.arguments):
            found.append(closing(calls[name], "error", CHANGED))
        elif (anew := judging.judged_anew(calls[name], sealed, policy)) is not None:
            found.append(anew)
    return found


async def _outcomes(grip: Grip, due: list[_Due], at: Occasion) -> list[ToolOutcome | None]:
    """How calls side by side ended, when all have. One that is stopped may still say what it did by then: None where
    it says nothing. Raises what lets go of the run (Lost, StoreUnusable)."""
    tasks = [asyncio.ensure_future(_outcome(grip, one, at)) for one in due]
    with suppress(asyncio.CancelledError):  # the calls are stopped below: what they still give is worth more
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    for failure in ended:
        if isinstance(failure, Exception):
            raise failure
    return [None if isinstance(one, BaseException) else one for one in ended]


async def _outcome(grip: Grip, one: _Due, at: Occasion) -> ToolOutcome:
    try:
        grip.check()  # since the commit that announced it the process may have stood still
        async with asyncio.timeout(one.tool.sealed.seconds_max) as limit:
            return await one.tool.use(one.call, at)
    except (Lost, StoreUnusable):
        raise
    except TimeoutError as error:
        return _too_slow(one.tool.sealed) if limit.expired() else _broke(error)
    except ForkwoodError as error:
        return _failed(f"{error.message}. {error.hint}".strip())
    except Exception as error:  # a mistake of one tool is something the model reads, and the run goes on
        return _broke(error)


def _too_slow(tool: ToolSealed) -> ToolOutcome:
    """What was stopped in the middle may have done what it is for, unless it only reads."""
    words = f"stopped: it was not done after {tool.seconds_max:g} seconds"
    if tool.effect == "read":
        return _failed(words)
    return ToolOutcome(outcome="unknown", parts=(Text(text=f"{words}; how far it had come is not known"),))


def _broke(error: Exception) -> ToolOutcome:
    return _failed(f"the tool broke: {type(error).__name__}: {error}")


def _failed(words: str) -> ToolOutcome:
    return ToolOutcome(outcome="error", parts=(Text(text=words),))


def _settle(grip: Grip, outcomes: list[tuple[ToolCall, ToolOutcome]]) -> None:
    """Commit how calls ended, with the bytes of results that are too long for a model."""
    with grip.supplies.store.write() as tx:
        held = grip.renewed(tx)
        for call, outcome in outcomes:
            parts = grip.mask.parts(outcome.parts)
            settled = results.fitted(tx, held, CallSettled(call=call.call, outcome=outcome.outcome, parts=parts))
            held = holding.append(tx, held, settled, now_ms=grip.supplies.clock())
        grip.settle(tx, held)
    grip.feed.catch_up()
