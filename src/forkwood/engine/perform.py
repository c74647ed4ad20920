"""Calling the model: a turn is prepared, announced in the log, sent, streamed and kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import cast

from msgspec.structs import replace

from forkwood.domain.errors import ForkwoodError, ProviderFailed, StoreUnusable
from forkwood.domain.message import PartialReason
from forkwood.domain.model import Delta, Model, Reply, Try
from forkwood.domain.run_event import RunEvent, RunSealed, TryFailed, TurnStarted
from forkwood.domain.step import CallModel
from forkwood.engine import trying
from forkwood.engine.attend import attend
from forkwood.engine.grip import Grip
from forkwood.engine.keep import keep_reply
from forkwood.engine.leaving import Leaving
from forkwood.engine.mishaps import defect
from forkwood.engine.prepare import Prepared, prepare
from forkwood.engine.room import made_room
from forkwood.store import drafts, manifests
from forkwood.store.db import Tx
from forkwood.store.holding import Held, Lost


async def call_model(grip: Grip, model: Model, step: CallModel) -> None:
    """One turn: prepared, announced, sent, streamed, kept. What cannot go on raises; what came by then is kept."""
    ready = prepare(grip.supplies, grip.held, model, step)
    if await made_room(grip, model, ready) or not grip.begin(lambda tx, held: _announced(tx, held, step, ready)):
        return
    grip.begin_draft()
    try:
        await _take_turn(grip, model, ready, step.turn)
    except (Lost, StoreUnusable):
        raise
    except Exception as error:  # whatever it is, what has come by then must not go with it
        if not grip.feed.flight:
            raise
        broken = error if isinstance(error, ForkwoodError) else defect(error)
        keep_reply(grip, step.turn, _so_far(grip, "error", broken.message), ready)
    grip.begin_draft()
    grip.feed.catch_up()


async def _take_turn(grip: Grip, model: Model, ready: Prepared, turn: int) -> None:
    reply = await attend(_tries(grip, model, ready, turn), grip.poke, grip.beat)
    if reply is None and grip.held.state.cancelling:
        reply = _so_far(grip, "cancelled")
    if reply is None:
        return  # the last failed try is in the log, and what follows from it
    if turn == 1:
        reply = replace(reply, notices=(*model.unsent(ready.manifest.parameters), *reply.notices))
    keep_reply(grip, turn, reply, ready)


def _announced(tx: Tx, held: Held, step: CallModel, ready: Prepared) -> Iterator[RunEvent]:
    """The turn begins: what it is sealed with, where that is new, and how its prompt was made."""
    digest = manifests.put(tx, ready.manifest)
    if digest != held.state.manifest:
        yield RunSealed(manifest=digest, rounds_max=ready.manifest.limits.rounds_max)
    yield TurnStarted(turn=step.turn, recipe=ready.recipe, estimate=ready.estimate)


async def _tries(grip: Grip, model: Model, ready: Prepared, turn: int) -> Reply | None:
    """The reply; None where none is due: somebody stopped the run, or the last failed try says why."""
    while grip.check():
        attempt = Try(turn=turn - 1, number=grip.held.state.tries + 1)
        try:
            return await _listen(grip, model.stream(ready.request, attempt))
        except ProviderFailed as failure:
            if grip.feed.flight:
                return _so_far(grip, "error", failure.message)
            failed = _failed(grip, model, failure, ready, turn)
        grip.commit(failed)
        if failed.wait_ms is None:
            return None
        await asyncio.sleep(failed.wait_ms / 1000)
    return None


async def _listen(grip: Grip, stream: AsyncIterator[Delta | Reply]) -> Reply:
    """Hear STREAM out. Leaving it in any way closes its connection."""
    hear = grip.hear
    async with Leaving(cast("AsyncGenerator[Delta | Reply]", stream)) as coming:
        async for item in coming:
            if type(item) is Reply:
                grip.hear_out()
                return grip.mask.reply(item)
            hear(cast("Delta", item))
    return _so_far(grip, "cut", "the stream ended without its end")


def _so_far(grip: Grip, partial: PartialReason, error: str | None = None) -> Reply:
    """What came of a reply that has no end of its own."""
    grip.hear_out()
    return grip.mask.reply(Reply(parts=drafts.assembled(grip.feed.flight), partial=partial, error=error))


def _failed(grip: Grip, model: Model, failure: ProviderFailed, ready: Prepared, turn: int) -> TryFailed:
    state = grip.held.state
    failed = trying.judged(grip, model, failure, number=state.waits + 1, hint=_hint(failure, ready))
    return TryFailed(
        turn=turn,
        number=state.tries + 1,
        wait_ms=None if failed.wait is None else round(failed.wait * 1000),
        next_key=failed.next_key,
        **failed.kept,
    )


def _hint(failure: ProviderFailed, ready: Prepared) -> str:
    """What works instead. Many a local server takes no tools and says so only when it gets some."""
    tools = () if ready.recipe.tools_withdrawn else ready.manifest.tools
    if not tools or "tool" not in failure.message.lower():
        return failure.hint
    switches = ",".join(f"-{tool.spec.name}" for tool in tools)
    return "; ".join(filter(None, (failure.hint, f"'forkwood set tools {switches}' sends this model no tools")))
