"""Runs among rescued rows: each is what the events that are left make of it, and over where its own were lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from forkwood import wire
from forkwood.domain.act import Who
from forkwood.domain.ids import Id
from forkwood.domain.plan import status_of
from forkwood.domain.run import RunState, apply
from forkwood.domain.run_event import InteractionClosed, RunEnded, RunEvent
from forkwood.domain.step import closing
from forkwood.store import log, queue, runs
from forkwood.store.aside import Aside
from forkwood.store.db import Tx

_LOST_RUNS = """INSERT INTO run (id, conversation, from_node, from_cut, tip_node, tip_cut, status, model, leads,
    created_ms, updated_ms)
  SELECT e.run, e.conversation, n.seq, cut, n.seq, cut, 'queued', e.payload ->> '$.model', e.payload ->> '$.leads',
    e.at_ms, e.at_ms
  FROM (SELECT *, iif(instr(payload ->> '$.place', '~'), CAST(substr(payload ->> '$.place', 34) AS INTEGER), 0) AS cut
      FROM event WHERE kind = 'run.opened') e
  LEFT JOIN node n ON n.id = unhex(substr(e.payload ->> '$.place', 1, 32))
  WHERE length(e.run) = 16 AND e.run NOT IN (SELECT id FROM run) AND e.conversation IN (SELECT seq FROM conversation)
    AND (e.payload ->> '$.place' IS NULL OR cut BETWEEN 0 AND n.own - 1) GROUP BY e.run ORDER BY e.seq"""

_LOST = {
    "kind": "store",
    "reason": "damaged",
    "message": "how this run went on was lost when the store was damaged",
    "hint": "'forkwood retry NODE' asks again",
}


class Left(Struct, frozen=True):
    """A run as its row has it, where the row is left: an index of the events it had."""

    name: bytes
    conversation: int
    status: str
    turns: int
    takeover: int
    error: str | None


def settle(tx: Tx, aside: Aside, *, all_events: bool, now_ms: int, who: Who) -> None:
    """Make the rows of lost runs anew; take out events that cannot follow one another; end runs that lost some.

    A run that is whole goes on as it was: its row says what its events say, or is lost and ALL_EVENTS are there.
    """
    known = {name for (name,) in tx.rows("SELECT id FROM run")}
    tx.run(_LOST_RUNS)
    system = Who(by="system", via=who.via)
    for found in tx.rows("SELECT id, conversation, status, turns, takeover, error FROM run ORDER BY seq"):
        run = Left(*found)
        state, any_left = _told(tx, run.name, aside)
        is_whole = _is_whole(run, state) if run.name in known else all_events
        if state.ended is None and not (any_left and is_whole):
            for event in _ending(run, state):
                log.write(tx, event, who=system, now_ms=now_ms, conversation=run.conversation, run=run.name.hex())
            tx.run("UPDATE run SET driver = NULL WHERE id = ?", (run.name,))
            queue.run_over(tx, run.name.hex(), conversation=run.conversation, who=system, now_ms=now_ms)
    for name in runs.differing(tx):
        runs.repair(tx, name, 0)


def _told(tx: Tx, run: bytes, aside: Aside) -> tuple[RunState, bool]:
    """What the events of RUN make of it, without those that cannot have come after the others; whether any is left."""
    state, any_left = RunState(), False
    for seq, event in log.since(tx, run.hex(), 0):
        try:
            state, any_left = apply(state, event), True
        except AssertionError:  # the machine's own word for what cannot follow
            row = tx.one("SELECT at_ms, kind, conversation, node, payload FROM event WHERE seq = ?", (seq,))
            aside.row("event", _named(seq, run.hex(), row or ()), "events of its run before it are lost")
            tx.run("DELETE FROM event WHERE seq = ?", (seq,))
    return state, any_left


def _named(seq: int, run: Id, row: tuple[Any, ...]) -> dict[str, Any]:
    return {"seq": seq, "run": run, **dict(zip(("at_ms", "kind", "conversation", "node", "payload"), row, strict=True))}


def _is_whole(run: Left, state: RunState) -> bool:
    return (run.status, run.turns, run.takeover) == (status_of(state), state.turns, state.takeover)


def _ending(run: Left, state: RunState) -> Iterator[RunEvent]:
    """How a run ends whose events are lost: as its row says, or failed; no call and no question stays open."""
    for call in state.open_calls:
        yield closing(call, "unknown", "how this went was lost when the store was damaged")
    for interaction in state.open_interactions:
        yield InteractionClosed(interaction=interaction, status="withdrawn")
    match run.status:
        case "done" | "failed" | "cancelled":
            yield RunEnded(
                status=run.status, error=None if run.error is None else wire.decode(run.error, dict[str, Any])
            )
        case _:
            yield RunEnded(status="failed", error=_LOST)
