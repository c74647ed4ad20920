"""Verbs about runs: drive, resume, cancel. What a run does is the engine's; here it is begun, watched and ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from forkwood import wire
from forkwood.domain.act import RunResumed
from forkwood.domain.errors import Conflict
from forkwood.domain.ids import Id, ending
from forkwood.domain.response import Started
from forkwood.domain.run import ACTIVE, Run
from forkwood.domain.watch import Seen
from forkwood.runtime import driven, naming, titling
from forkwood.runtime.acts import Acting, OpenAct, given_response
from forkwood.runtime.talking import open_runs, out_of_trash, response
from forkwood.store import names, nodes, receipts, runs, walk
from forkwood.store.db import Tx


class Running(Acting):
    """drive, settle, left, resume, cancel."""

    async def drive(self, wanted: Sequence[Id]) -> AsyncGenerator[Seen]:
        """Drive runs that nobody drives and follow the others: deltas and events as they come, a Result for each.

        The first run's Result is the last item. Cancelling the task that iterates ends the runs and keeps what came.
        """
        async for seen in self.house.engine.drive(wanted):
            yield seen
        if self.house.settings.title_by_model:
            await titling.retitle(self.house, wanted)

    async def settle(self, conversation: str | None = None, *, key: str | None = None) -> AsyncGenerator[Seen]:
        """Drive what was left at work in a conversation (None: the current one), before something new is said there.

        One run after the other, oldest first, each as `drive` does it: its Result ends it. Cancelling the task that
        iterates ends the run that is shown; those behind it stay as they were left. Nothing comes where KEY was used
        already: the command that carries it is answered from its receipt, and what it began is its own to drive.
        Raises NotFound where there is no such conversation.
        """
        for run in () if key is not None and self._is_used(key) else self.left(conversation):
            async with aclosing(self.drive([run])) as items:
                async for seen in items:
                    yield seen

    def left(self, conversation: str | None = None) -> list[Id]:
        """The runs of a conversation (None: the current one) that are at work and that no living driver has."""
        with self.house.store.read() as tx:
            return driven.left(tx, self.house, naming.conversation(tx, conversation))

    def _is_used(self, key: str) -> bool:
        with self.house.store.read() as tx:
            return receipts.find(tx, self.house.settings.client, key) is not None

    def resume(self, run: str, *, key: str | None = None) -> Started:
        """Go on with a run: one that nobody drives is to be driven (`drive` does it); one that failed, was cancelled or
        whose last reply is partial gets a new run at its tip. Raises Conflict where there is nothing to go on with."""
        again = self._again(run)

        def do(tx: Tx) -> Started:
            old = runs.row(tx, names.run(tx, run))
            seq = runs.details(tx, old.id).conversation
            act = OpenAct(tx, self.house, seq)
            tip = runs.tip(tx, old.id)
            last = walk.last(tx, tip)
            if old.status in ACTIVE:
                return response(act, last, (old.id,))
            if old.status == "done" and not (last and nodes.row(tx, last).partial):
                raise Conflict(
                    f"run {ending(old.id)} is done, and its reply is whole",
                    hint="forkwood retry NODE asks for another reply, forkwood send goes on",
                    run=old.id,
                )
            out_of_trash(act)
            started = open_runs(act, tip, [again or old.model])
            act.record(RunResumed, node=last or None, resumes=old.id, runs=started)
            return response(act, last, started)

        return self._once("resume", {"run": run}, Started, do, key=key)

    def _again(self, run: str) -> str:
        """The model of a run, known still. Raises NotFound."""
        with self.house.store.read() as tx:
            return runs.row(tx, names.run(tx, run)).model

    def cancel(self, run: str, *, key: str | None = None) -> Run:
        """End a run, whoever drives it: what came of its reply is kept. No-op where it is over."""
        fingerprint, client = wire.digest(["cancel", {"run": run}]), self.house.settings.client
        with self.house.store.read() as tx:
            name = names.run(tx, run)
            given = None if key is None else receipts.find(tx, client, key)
            if given is not None and key is not None:
                return runs.row(tx, wire.decode(given_response(given, key, fingerprint), str))
        ended = self.house.engine.cancel(name, self.house.who)
        if key is not None:
            with self.house.store.write() as tx:
                receipts.give(tx, client, key, "cancel", fingerprint, wire.encode(name), self.house.clock())
        return ended
