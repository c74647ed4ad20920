"""Verbs about runs: drive, resume, cancel. What a run does is the engine's; here it is begun, watched and ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from forkwood import wire
from forkwood.domain.act import RunResumed
from forkwood.domain.errors import Conflict
from forkwood.domain.ids import Id, ending
from forkwood.domain.response import Started
from forkwood.domain.run import ACTIVE, Run
from forkwood.domain.watch import Result, Seen
from forkwood.runtime import titling
from forkwood.runtime.acts import Acting, OpenAct, given_response
from forkwood.runtime.talking import open_runs, out_of_trash, response
from forkwood.store import names, nodes, places, receipts, runs
from forkwood.store.db import Tx


class Running(Acting):
    """drive, resume, cancel, abandoned."""

    async def drive(self, wanted: Sequence[Id]) -> AsyncGenerator[Seen]:
        """Drive runs that nobody drives and follow the others: deltas and events as they come, a Result for each.

        The first run's Result is the last item. Runs of the same conversations that nobody drives are driven along;
        they have no Result here. Cancelling the task that iterates ends the runs and keeps what came.
        """
        along = self.abandoned(wanted)
        driven = frozenset(wanted)
        async for seen in self.house.engine.drive([*wanted, *along]):
            if not isinstance(seen, Result) or seen.run in driven:
                yield seen
        if self.house.settings.title_by_model:
            await titling.retitle(self.house, wanted)

    def abandoned(self, beside: Sequence[Id]) -> list[Id]:
        """Runs at work that no living driver has, in the conversations of the runs BESIDE."""
        with self.house.store.read() as tx:
            here = {runs.details(tx, run).conversation for run in beside}
            found = [run for seq in sorted(here) for run in runs.active(tx, seq) if run not in beside]
            moving = [run for run in found if runs.row(tx, run).status != "waiting"]
        return [run for run in moving if not self.house.engine.is_driven(run)]

    def resume(self, run: str, *, key: str | None = None) -> Started:
        """Go on with a run: one that nobody drives is to be driven (`drive` does it); one that failed, was cancelled or
        whose last reply is partial gets a new run at its tip. Raises Conflict where there is nothing to go on with."""
        again = self._again(run)

        def do(tx: Tx) -> Started:
            old = runs.row(tx, names.run(tx, run))
            seq = runs.details(tx, old.id).conversation
            act = OpenAct(tx, self.house, seq)
            tip = runs.tip(tx, old.id)
            last = places.last(tx, tip)
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
