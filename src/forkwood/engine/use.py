"""Using tools: a call is checked once more, announced in the log before its effect, carried out, and settled."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from forkwood.domain.errors import ForkwoodError, StoreUnusable
from forkwood.domain.message import Text, ToolCall
from forkwood.domain.run_event import CallAsked, CallSettled, CallStarted
from forkwood.domain.step import UseReads, UseTool
from forkwood.domain.tool import Occasion, Tool, ToolOutcome
from forkwood.engine.advance import calls_in_turn
from forkwood.engine.attend import attend
from forkwood.engine.grip import Grip
from forkwood.store import manifests, nodes
from forkwood.store.db import Tx
from forkwood.store.holding import Lost

CHANGED = "changed since it was asked"


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
        grip.commit(_settled(grip, due[0].call, found))


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
    lapsed = [_settled(grip, call, changed) for call, tool in found if tool is None]
    if lapsed:
        grip.commit(*lapsed)
    return [_Due(call, tool) for call, tool in found if tool is not None], at


def _as_sealed(tx: Tx, grip: Grip, name: str) -> Tool | None:
    """The live tool of that NAME, where it still is what was sealed."""
    assert grip.held.state.manifest is not None
    sealed = {tool.spec.name: tool for tool in manifests.get(tx, grip.held.state.manifest).tools}
    live = next((tool for tool in grip.supplies.tools.values() if tool.sealed.spec.name == name), None)
    return live if live is not None and live.sealed == sealed.get(name) else None


async def _use(grip: Grip, due: list[_Due], at: Occasion) -> None:
    grip.commit(*(CallStarted(call=one.call.call) for one in due))
    if grip.held.state.stop is not None:
        return
    found = await attend(_outcomes(due, at), grip.poke, grip.beat)
    if found is None:
        grip.commit()
    else:
        grip.commit(*(_settled(grip, one.call, outcome) for one, outcome in zip(due, found, strict=True)))


async def _outcomes(due: list[_Due], at: Occasion) -> list[ToolOutcome]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_outcome(one, at)) for one in due]
    return [task.result() for task in tasks]


async def _outcome(one: _Due, at: Occasion) -> ToolOutcome:
    try:
        return await one.tool.use(one.call, at)
    except (Lost, StoreUnusable):
        raise
    except ForkwoodError as error:
        return _failed(f"{error.message}. {error.hint}".strip())
    except Exception as error:  # a mistake of one tool is something the model reads, and the run goes on
        return _failed(f"the tool broke: {type(error).__name__}: {error}")


def _failed(words: str) -> ToolOutcome:
    return ToolOutcome(outcome="error", parts=(Text(text=words),))


def _settled(grip: Grip, call: ToolCall, found: ToolOutcome) -> CallSettled:
    return CallSettled(call=call.call, outcome=found.outcome, parts=grip.mask.parts(found.parts))
