"""Runs: a row is an index of the run's events, and the place where its driver is written."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from forkwood import wire
from forkwood.domain.act import Who
from forkwood.domain.errors import NotFound
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import Via
from forkwood.domain.model import Usage
from forkwood.domain.plan import plan, status_of
from forkwood.domain.run import MOVING, Run, RunState, apply, fold
from forkwood.domain.run_event import (
    CancelAsked,
    InteractionClosed,
    RunEnded,
    RunOpened,
    SteerAsked,
    SteerWithdrawn,
)
from forkwood.domain.step import End
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import log, nodes, queue, states
from forkwood.store.db import Tx
from forkwood.store.failures import damaged

_ROW = """SELECT r.id, c.id, f.id, r.from_cut, t.id, r.tip_cut, r.status, r.model, r.manifest, r.turns,
  r.input, r.output, r.cache_read, r.cache_write, r.reasoning, r.error
  FROM run r JOIN conversation c ON c.seq = r.conversation
  LEFT JOIN node f ON f.seq = r.from_node LEFT JOIN node t ON t.seq = r.tip_node"""
_ACTIVE_ROWS = f"SELECT id, tip_node, tip_cut FROM run WHERE {states.ACTIVE}"


AddedByOthers: TypeAlias = CancelAsked | InteractionClosed | RunEnded | SteerAsked | SteerWithdrawn
"""What others than its driver do to a run."""


class RunRow(Struct, frozen=True, kw_only=True):
    """A run as its row has it, for those who drive it. DOOR is the one it was opened through."""

    run: Id
    conversation: int
    start: Spot
    tip: Spot
    status: str
    model: str
    leads: bool
    driver: str | None
    takeover: int
    door: Via


def open(  # noqa: A001  (runs.open reads as what it is)
    tx: Tx,
    *,
    id: Id,
    conversation: int,
    place: Spot,
    model: str,
    leads: bool,
    who: Who,
    now_ms: int,
    client: str | None = None,
    key: str | None = None,
) -> int:
    """Begin a run at a place, queued: its row and its first event. Its seq. KEY of CLIENT: of the command that asks."""
    opened = RunOpened(place=nodes.spot_text(tx, place), model=model, leads=leads, client=client, key=key)
    seq = tx.insert(
        """INSERT INTO run (id, conversation, from_node, from_cut, tip_node, tip_cut, status, model, leads, created_ms,
           updated_ms) VALUES (?,?,?,?,?,?,'queued',?,?,?,?)""",
        (
            bytes.fromhex(id),
            conversation,
            place.node or None,
            place.cut,
            place.node or None,
            place.cut,
            model,
            leads,
            now_ms,
            now_ms,
        ),
    )
    log.write(tx, opened, who=who, now_ms=now_ms, conversation=conversation, run=id, node=place.node or None)
    return seq


def exists(tx: Tx, run: Id) -> bool:
    """Whether there is a run of that id: what only names one outlives its loss."""
    return tx.value("SELECT 1 FROM run WHERE id = ?", (bytes.fromhex(run),)) is not None


def takes_on(tx: Tx, run: Id) -> bool:
    """Whether what comes back into the queue behind RUN is sent when it ends: it is at work, and nobody wants its end.

    Raises as `state`.
    """
    now = state(tx, run)
    return now.ended is None and not now.cancelling


def row(tx: Tx, run: Id) -> Run:
    """The run. Raises NotFound."""
    found = tx.one(f"{_ROW} WHERE r.id = ?", (bytes.fromhex(run),))
    if found is None:
        raise _missing(run)
    return _run(found)


def listed(tx: Tx, conversation: int | None = None) -> list[Run]:
    """The runs of a conversation or (None) of all, newest first."""
    where, args = ("", ()) if conversation is None else (" WHERE r.conversation = ?", (conversation,))
    return [_run(found) for found in tx.rows(f"{_ROW}{where} ORDER BY r.seq DESC", args)]


def active(tx: Tx, conversation: int | None = None) -> list[Id]:
    """Runs that are not over, oldest first."""
    where, args = ("", ()) if conversation is None else (" AND conversation = ?", (conversation,))
    return [name.hex() for name, *_ in tx.rows(f"{_ACTIVE_ROWS}{where} ORDER BY seq", args)]


def moving(tx: Tx, conversation: int | None = None) -> list[RunRow]:
    """Runs that have something to do without a person, oldest first: driven, or left by a driver that is gone."""
    found = [details(tx, run) for run in active(tx, conversation)]
    return [run for run in found if run.status in MOVING]


def active_tips(tx: Tx) -> list[tuple[Id, Spot]]:
    """The runs that are not over, and where each stands: its path may not be changed under it."""
    rows = tx.rows(f"{_ACTIVE_ROWS} ORDER BY seq")
    return [(name.hex(), _spot(node, cut)) for name, node, cut in rows]


def active_at(tx: Tx, conversation: int, spot: Spot) -> Id | None:
    """The oldest run that is not over and whose tip is SPOT."""
    found = tx.value(
        f"{_ACTIVE_ROWS} AND conversation = ? AND tip_node IS ? AND tip_cut = ? ORDER BY seq",
        (conversation, spot.node or None, spot.cut),
    )
    return None if found is None else found.hex()


def leading_at(tx: Tx, conversation: int, spot: Spot) -> Id | None:
    """The newest run that leads the head and whose tip is SPOT, over or not."""
    found = tx.value(
        "SELECT id FROM run WHERE conversation = ? AND tip_node IS ? AND tip_cut = ? AND leads = 1 ORDER BY seq DESC",
        (conversation, spot.node or None, spot.cut),
    )
    return None if found is None else found.hex()


def tip(tx: Tx, run: Id) -> Spot:
    """Where the run stands: behind the last node it appended, or where it began."""
    return details(tx, run).tip


def details(tx: Tx, run: Id) -> RunRow:
    """What a driver must know of the run. Raises NotFound."""
    found = tx.one(
        """SELECT conversation, from_node, from_cut, tip_node, tip_cut, status, model, leads, driver, takeover,
           (SELECT via FROM event WHERE run = ?1 ORDER BY seq LIMIT 1) FROM run WHERE id = ?1""",
        (bytes.fromhex(run),),
    )
    if found is None:
        raise _missing(run)
    conversation, from_node, from_cut, tip_node, tip_cut, status, model, leads, driver, takeover, door = found
    return RunRow(
        run=run,
        conversation=conversation,
        start=_spot(from_node, from_cut),
        tip=_spot(tip_node, tip_cut),
        status=status,
        model=model,
        leads=bool(leads),
        driver=driver,
        takeover=takeover,
        door=door,
    )


def client(tx: Tx, run: Id) -> str | None:
    """Which client asked for the run, as far as that is known: a run may have been logged elsewhere."""
    opening = "SELECT payload ->> '$.client' FROM event WHERE run = ? AND kind = 'run.opened' ORDER BY seq LIMIT 1"
    found: str | None = tx.value(opening, (bytes.fromhex(run),))
    return found


def is_resumed(tx: Tx, run: Id) -> bool:
    """Whether a person had another run go on from where this one stopped."""
    resumed = """SELECT EXISTS (SELECT 1 FROM event WHERE conversation = (SELECT conversation FROM run WHERE id = ?)
      AND act = 1 AND kind = 'run.resumed' AND payload ->> '$.resumes' = ?)"""
    return bool(tx.value(resumed, (bytes.fromhex(run), run)))


def last_reply(tx: Tx, run: Id) -> int | None:
    """The node of the run's last reply; None where none was kept."""
    found: int | None = tx.value(
        "SELECT node FROM event WHERE run = ? AND kind = 'reply.kept' AND node IS NOT NULL ORDER BY seq DESC LIMIT 1",
        (bytes.fromhex(run),),
    )
    return found


def state(tx: Tx, run: Id) -> RunState:
    """The run as its events tell it. Raises StoreUnusable where some of them are missing: they make no run."""
    try:
        return fold(log.of_run(tx, run))
    except AssertionError as error:  # the machine's own word for what cannot follow
        raise damaged(f"what is kept of run {ending(run)} cannot have happened") from error


def ask_to_cancel(tx: Tx, run: Id, *, who: Who, now_ms: int) -> bool:
    """Somebody wants the run to end; False where it is over or asked already.

    A run nobody has begun ends here. Any other is ended by its driver, or by whoever takes it over. What waits behind
    it is held from now on, so that what is said before it has ended comes next.
    """
    now, found = state(tx, run), details(tx, run)
    if now.ended:
        return False
    queue.run_over(tx, run, conversation=found.conversation, who=who, now_ms=now_ms)
    if now.cancelling:
        return False
    step = plan(add(tx, run, CancelAsked(), who=who, now_ms=now_ms))
    if found.driver is None and isinstance(step, End):
        add(tx, run, RunEnded(status=step.status, error=step.error), who=who, now_ms=now_ms)
    return True


def add(tx: Tx, run: Id, event: AddedByOthers, *, who: Who, now_ms: int) -> RunState:
    """Add what somebody did to a run without driving it; its driver folds it at its next commit. The state after.

    What waited behind a run that ends so is held.
    """
    found = details(tx, run)
    now = apply(state(tx, run), event)
    log.write(tx, event, who=who, now_ms=now_ms, conversation=found.conversation, run=run)
    write_row(tx, run, now, found.tip, now_ms)
    if now.ended:
        queue.run_over(tx, run, conversation=found.conversation, who=who, now_ms=now_ms)
    return now


def write_row(tx: Tx, run: Id, now: RunState, tip: Spot, now_ms: int) -> None:
    """Bring the row up to what its events say."""
    tx.run(
        """UPDATE run SET tip_node = ?, tip_cut = ?, status = ?, manifest = ?, turns = ?, input = ?, output = ?,
           cache_read = ?, cache_write = ?, reasoning = ?, error = ?, updated_ms = max(updated_ms, ?) WHERE id = ?""",
        (*_derived(now, tip), now_ms, bytes.fromhex(run)),
    )


def rebuilt(tx: Tx, run: Id) -> tuple[RunState, Spot]:
    """State and tip of a run from its events alone."""
    return state(tx, run), _tip_from_events(tx, run)


def differing(tx: Tx) -> list[Id]:
    """Runs whose rows are not what their events say: for doctor."""
    rows = tx.rows(
        """SELECT id, tip_node, tip_cut, status, manifest, turns, input, output, cache_read, cache_write, reasoning,
           error FROM run ORDER BY seq"""
    )
    return [name.hex() for name, *columns in rows if tuple(columns) != _derived(*rebuilt(tx, name.hex()))]


def repair(tx: Tx, run: Id, now_ms: int) -> None:
    """Make the row what the run's events say."""
    now, tip = rebuilt(tx, run)
    write_row(tx, run, now, tip, now_ms)


def _derived(now: RunState, tip: Spot) -> tuple[Any, ...]:
    used, error = now.usage, now.ended.error if now.ended else None
    return (
        tip.node or None,
        tip.cut,
        status_of(now),
        now.manifest,
        now.turns,
        used.input,
        used.output,
        used.cache_read,
        used.cache_write,
        used.reasoning,
        None if error is None else wire.text(error),
    )


def _tip_from_events(tx: Tx, run: Id) -> Spot:
    found = tx.value(
        """SELECT node FROM event WHERE run = ? AND kind IN ('reply.kept', 'results.kept', 'steer.taken')
           AND node IS NOT NULL ORDER BY seq DESC LIMIT 1""",
        (bytes.fromhex(run),),
    )
    return details(tx, run).start if found is None else Spot(found)


def _run(found: tuple[Any, ...]) -> Run:
    (name, conversation, from_id, from_cut, tip_id, tip_cut, status, model, manifest, turns, read, written, cache_read,
     cache_write, reasoning, error) = found  # fmt: skip
    return Run(
        id=name.hex(),
        conversation=conversation.hex(),
        start=None if from_id is None else nodes.place_text(from_id, from_cut),
        tip=None if tip_id is None else nodes.place_text(tip_id, tip_cut),
        status=status,
        model=model,
        manifest=manifest,
        turns=turns,
        usage=Usage(input=read, output=written, cache_read=cache_read, cache_write=cache_write, reasoning=reasoning),
        error=None if error is None else wire.decode(error, dict[str, Any]),
    )


def _spot(node: int | None, cut: int) -> Spot:
    return ROOT if node is None else Spot(node, cut)


def _missing(run: Id) -> NotFound:
    return NotFound(f"there is no run {run}", hint="'forkwood runs' lists them", run=run)
