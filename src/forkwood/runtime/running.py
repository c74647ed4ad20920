"""Verbs about runs: drive, settle, resume, cancel. What a run does is the engine's; it is begun and ended here."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from msgspec.structs import replace

from forkwood.domain.act import RunResumed
from forkwood.domain.errors import Conflict
from forkwood.domain.ids import Id, ending
from forkwood.domain.response import Started
from forkwood.domain.run import ACTIVE, Run
from forkwood.domain.watch import Result, Seen
from forkwood.runtime import driven, naming, queueing
from forkwood.runtime.acts import Acting, OpenAct
from forkwood.runtime.talking import open_runs, out_of_trash, response
from forkwood.store import nodes, runs, walk
from forkwood.store.db import Tx


class Running(Acting):
    """drive, settle, was_done, going_on, partial, resume, cancel."""

    async def drive(self, wanted: Sequence[Id]) -> AsyncGenerator[Seen]:
        """Drive runs that nobody drives and follow the others: deltas and events as they come, a Result for each.

        The first run's Result is the last item. Cancelling the task that iterates ends the runs and keeps what came.
        """
        from forkwood.runtime import titling

        async with aclosing(self.house.engine.drive(wanted)) as items:
            async for seen in items:
                if isinstance(seen, Result) and self.house.settings.title_by_model:
                    told = await titling.retitle(self.house, seen.run)
                    if told is not None:
                        yield told
                yield seen

    async def settle(self, conversation: str | None = None, *, key: str | None = None) -> AsyncGenerator[Seen]:
        """Drive what was left at work in a conversation (None: the current one), before something new is said there.

        One run after the other, oldest first, each as `drive` does it: its Result ends it. Cancelling the task that
        iterates ends the run that is shown; those behind it stay as they were left. Nothing comes where KEY was used
        already: the command that carries it is answered from its receipt, and what it began is its own to drive.
        Raises NotFound where there is no such conversation.
        """
        if self._receipt(key) is not None:
            return
        with self.house.store.read() as tx:
            left = driven.left(tx, self.house, naming.conversation(tx, conversation))
        for run in left:
            async with aclosing(self.drive([run])) as items:
                async for seen in items:
                    yield seen

    def was_done(self, key: str) -> bool:
        """Whether a command with KEY has come before, done or still at work. Raises Misused or LimitExceeded for what
        can be no key."""
        return self._receipt(key) is not None

    def going_on(self, begun: Sequence[Id]) -> tuple[Id, ...]:
        """What is to be driven when a person goes on with runs of one conversation: the runs that have BEGUN, then what
        else was left at work there, oldest first."""
        with self.house.store.read() as tx:
            here = {runs.details(tx, run).conversation for run in begun}
            left = [run for conversation in here for run in driven.left(tx, self.house, conversation)]
        return tuple(dict.fromkeys((*begun, *left)))

    def partial(self, found: Sequence[Id]) -> frozenset[Id]:
        """Those of the runs FOUND whose last reply is partial: `resume` goes on with it."""
        with self.house.store.read() as tx:
            return frozenset(run for run in found if _is_partial(tx, run))

    def resume(self, run: str | None = None, *, conversation: str | None = None, key: str | None = None) -> Started:
        """Go on with a run: one that nobody drives is to be driven (`drive` does it); one that failed, was cancelled or
        whose last reply is partial gets a new run at its tip. None: the newest of the conversation that can go on.

        Raises NotFound, Conflict where there is nothing to go on with.
        """

        def do(tx: Tx) -> Started:
            old = runs.row(tx, naming.run(tx, conversation, run, lambda one: _can_go_on(tx, one)))
            act = OpenAct(tx, self.house, runs.details(tx, old.id).conversation, key)
            tip = runs.tip(tx, old.id)
            last = walk.last(tx, tip)
            if old.status in ACTIVE:
                return response(act, last, (old.id,))
            if old.status == "done" and not _is_partial(tx, old.id):
                raise Conflict(
                    f"run {ending(old.id)} is done, and its reply is whole",
                    hint="forkwood retry NODE asks for another reply, forkwood send goes on",
                    run=old.id,
                )
            out_of_trash(act)
            started = open_runs(act, tip, [old.model])
            going = queueing.released(act, tip, started[0])
            act.record(RunResumed, node=last or None, resumes=old.id, runs=started)
            return replace(response(act, last, started), released=going)

        return self._once("resume", _arguments(run, conversation), Started, do, key=key)

    def cancel(self, run: str | None = None, *, conversation: str | None = None, key: str | None = None) -> Run:
        """End a run, whoever drives it: what came of its reply is kept. No-op where it is over. None: the newest of the
        conversation that is at work. Raises NotFound.

        The same again, by the same KEY, gives the run as it stands by then.
        """

        def do(tx: Tx) -> Id:
            name = naming.run(tx, conversation, run, lambda one: one.status in ACTIVE)
            self.house.engine.end(tx, name, self.house.who)
            return name

        name = self._once("cancel", _arguments(run, conversation), Id, do, key=key)
        self.house.engine.poke(name)
        with self.house.store.read() as tx:
            return runs.row(tx, name)


def _is_partial(tx: Tx, run: Id) -> bool:
    last = walk.last(tx, runs.tip(tx, run))
    return bool(last) and nodes.row(tx, last).partial


def _can_go_on(tx: Tx, run: Run) -> bool:
    """Whether who names no run may mean this one: at work, or stopped or cut short and nobody went on from it."""
    if run.status in ACTIVE:
        return True
    if run.status == "done":
        tip = runs.tip(tx, run.id)
        return _is_partial(tx, run.id) and nodes.leaf_below(tx, tip) == tip
    return not runs.is_resumed(tx, run.id)


def _arguments(run: str | None, conversation: str | None) -> dict[str, Any]:
    """What a receipt remembers of which run was meant: its name, or where the newest was looked for."""
    return {"run": run} if run is not None else {"run": None, "conversation": conversation}
