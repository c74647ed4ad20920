"""The log: what was done, in numbered events, for ever. Audit trail, live feed and crash record in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from forkwood import wire
from forkwood.domain.act import Act, Who
from forkwood.domain.event import KINDS, PAYLOADS, RUN_KINDS, Event
from forkwood.domain.ids import Id
from forkwood.domain.run_event import RunEvent
from forkwood.store.db import Tx

_EVENT = """SELECT e.seq, e.at_ms, e.kind, c.id, e.run, n.id, e.by, e.via, e.payload FROM event e
  LEFT JOIN conversation c ON c.seq = e.conversation LEFT JOIN node n ON n.seq = e.node"""


def write(
    tx: Tx,
    payload: msgspec.Struct,
    *,
    who: Who,
    now_ms: int,
    conversation: int | None = None,
    run: Id | None = None,
    node: int | None = None,
) -> int:
    """Add an event; its seq. CONVERSATION and NODE are seqs. The kind follows from the payload's type."""
    return tx.insert(
        "INSERT INTO event (at_ms, kind, conversation, run, node, by, via, act, payload) VALUES (?,?,?,?,?,?,?,?,?)",
        (
            now_ms,
            KINDS[type(payload)],
            conversation,
            None if run is None else bytes.fromhex(run),
            node,
            who.by,
            who.via,
            isinstance(payload, Act),
            wire.text(payload),
        ),
    )


def newest(tx: Tx) -> int:
    """The log number as of now: the highest seq, 0 in an empty log."""
    return cast("int", tx.value("SELECT ifnull(max(seq), 0) FROM event"))


def behind_last(tx: Tx, count: int, conversation: int | None = None) -> int:
    """The log number behind which the newest COUNT events stand, of one conversation or of all; 0: those are all."""
    where, args = ("", ()) if conversation is None else ("WHERE conversation = ?", (conversation,))
    found = tx.value(f"SELECT (SELECT seq FROM event {where} ORDER BY seq DESC LIMIT 1 OFFSET ?)", (*args, count))
    return cast("int", found or 0)


def events(tx: Tx, *, after: int, limit: int, conversation: int | None = None) -> list[Event]:
    """Up to LIMIT events with a seq above AFTER, oldest first."""
    where, args = " WHERE e.seq > ?", [after]
    if conversation is not None:
        where, args = where + " AND e.conversation = ?", [after, conversation]
    return [_event(row) for row in tx.rows(f"{_EVENT}{where} ORDER BY e.seq LIMIT ?", (*args, limit))]


def event(tx: Tx, seq: int) -> Event | None:
    """One event by its seq."""
    row = tx.one(f"{_EVENT} WHERE e.seq = ?", (seq,))
    return None if row is None else _event(row)


def of_run(tx: Tx, run: Id) -> list[RunEvent]:
    """What happened in a run, in order: what the run machine folds."""
    return [event for _, event in since(tx, run, 0)]


def since(tx: Tx, run: Id, after: int) -> list[tuple[int, RunEvent]]:
    """What happened in a run behind the log number AFTER, each with its own number: what the run machine folds."""
    rows = tx.rows(
        "SELECT seq, kind, payload FROM event WHERE run = ? AND seq > ? ORDER BY seq", (bytes.fromhex(run), after)
    )
    return [(seq, cast("RunEvent", payload_of(kind, text))) for seq, kind, text in rows if kind in RUN_KINDS]


def events_of_run(tx: Tx, run: Id, *, after: int) -> list[Event]:
    """What happened in a run behind the log number AFTER, oldest first: what its watchers see."""
    rows = tx.rows(f"{_EVENT} WHERE e.run = ? AND e.seq > ? ORDER BY e.seq", (bytes.fromhex(run), after))
    return [_event(row) for row in rows]


def acts(tx: Tx, conversation: int) -> Iterator[tuple[int, str, Act]]:
    """The acts of a conversation, newest first: (seq, kind, payload). Read as far as the caller goes."""
    rows = tx.connection.execute(
        "SELECT seq, kind, payload FROM event WHERE conversation = ? AND act = 1 ORDER BY seq DESC", (conversation,)
    )
    for seq, kind, text in rows:
        yield seq, kind, cast("Act", payload_of(kind, text))


def payload_of(kind: str, text: str) -> msgspec.Struct:
    """The payload that TEXT spells for an event of KIND. Raises msgspec.ValidationError where there is no such kind."""
    shape = PAYLOADS.get(kind)
    if shape is None:
        raise msgspec.ValidationError(f"an event of the unknown kind {kind}")
    return wire.decode(text, shape)


def _event(row: tuple[Any, ...]) -> Event:
    seq, at_ms, kind, conversation, run, node, by, via, payload = row
    return Event(
        seq=seq,
        at_ms=at_ms,
        kind=kind,
        conversation=conversation.hex() if conversation else None,
        run=run.hex() if run else None,
        node=node.hex() if node else None,
        by=by,
        via=via,
        payload=wire.decode(payload, dict),
    )
