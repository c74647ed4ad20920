"""Before a turn: whether its prompt stays within its budget, and a summary where it does not. Twice at most."""

from __future__ import annotations

import asyncio
from math import ceil
from typing import assert_never

from msgspec import Struct

from forkwood.domain import budget, limits
from forkwood.domain.budget import Budget
from forkwood.domain.errors import LimitExceeded, ProviderFailed
from forkwood.domain.model import Model, Try
from forkwood.domain.run_event import SummaryBegun, SummaryFailed
from forkwood.engine import summarize, trying
from forkwood.engine.attend import attend
from forkwood.engine.grip import Grip
from forkwood.engine.leaving import heard
from forkwood.engine.mask import Mask
from forkwood.engine.prepare import Prepared
from forkwood.engine.summarize import Summed, Wanted
from forkwood.store import conversations, counted, holding, log


class Passed(Struct, frozen=True, kw_only=True):
    """A prompt of ESTIMATE tokens, corrected, has passed its BUDGET."""

    estimate: int
    budget: Budget


async def made_room(grip: Grip, model: Model, ready: Prepared) -> bool:
    """Whether a summary was tried for the turn that is READY: then it is to be prepared anew.

    Raises LimitExceeded where none helps, and where `limits.summary_tries_max` were tried; ProviderFailed where the
    model cannot be asked at all.
    """
    passed = _passed(grip, ready)
    if passed is None:
        return False
    if grip.held.state.summary_tries >= limits.summary_tries_max:
        raise _tried_enough(grip, passed)
    with grip.supplies.store.read() as tx:
        found = summarize.sources(tx, grip.held.tip, ready.manifest, grip.held.conversation)
    wanted = summarize.wanted_for_room(found, model, passed.estimate)
    begun = SummaryBegun(
        covers=len(wanted.said), model=grip.held.model, estimate=passed.estimate, budget=passed.budget.tokens
    )
    if grip.begin(lambda *_: (begun,)):
        await _try(grip, model, wanted)
    return True


def _passed(grip: Grip, ready: Prepared) -> Passed | None:
    room = budget.budget_of(ready.manifest)
    if room is None or ready.estimate * limits.estimate_ratio_max <= room.tokens:
        return None  # whatever was counted of earlier prompts, this one fits
    with grip.supplies.store.read() as tx:
        ratio = budget.correction(counted.newest(tx, grip.held.conversation, grip.held.model))
    estimate = ceil(ready.estimate * ratio)
    return Passed(estimate=estimate, budget=room) if estimate > room.tokens else None


async def _try(grip: Grip, model: Model, wanted: Wanted) -> None:
    """Ask once, and commit what comes of it. A cancelled one leaves nothing."""
    state = grip.held.state
    mask = Mask(grip.supplies.secrets)
    mask.begin()
    attempt = Try(turn=state.turns, number=state.summary_tries + 1)
    try:
        reply = await attend(heard(model.stream(wanted.request, attempt)), grip.poke, grip.beat)
    except ProviderFailed as failure:
        await _failed(grip, model, failure)
        return
    if reply is not None:
        _keep(grip, wanted, summarize.judged(mask.reply(reply), wanted, grip.supplies.new_id()))


def _keep(grip: Grip, wanted: Wanted, came: Summed | SummaryFailed) -> None:
    with grip.supplies.store.write() as tx:
        held, now_ms = grip.renewed(tx), grip.supplies.clock()
        match came:
            case Summed(event=event):
                summarize.keep(tx, held.conversation, came, wanted, now_ms=now_ms)
                held = holding.append(tx, held, event, now_ms=now_ms, by="model")
            case SummaryFailed(usage=usage, cost=cost):
                conversations.count_reply(tx, held.conversation, usage, cost, now_ms, turns=0)
                held = holding.append(tx, held, came, now_ms=now_ms)
            case _:
                assert_never(came)
        grip.settle(tx, held)
    grip.feed.catch_up()


async def _failed(grip: Grip, model: Model, failure: ProviderFailed) -> None:
    """Commit the failure. What a second try cannot mend is raised at once; before that one a moment is waited."""
    number = grip.held.state.summary_tries + 1
    failed = trying.judged(grip, model, failure, number=number, hint=failure.hint)
    grip.commit(SummaryFailed(**failed.kept))
    if failed.wait is None:
        raise failure
    if number < limits.summary_tries_max:
        await attend(asyncio.sleep(failed.wait), grip.poke, grip.beat)


def _tried_enough(grip: Grip, passed: Passed) -> LimitExceeded:
    """What is said when no further summary is tried: with what went wrong last, where something did."""
    with grip.supplies.store.read() as tx:
        tries = [one for one in log.of_run(tx, grip.held.run) if isinstance(one, SummaryFailed)]
    last = f" (the last failed: {tries[-1].message})" if tries else ""
    because = f"after {limits.summary_tries_max} summaries{last} still too long: the prompt"
    return summarize.too_long(because, passed.budget, passed.estimate)
