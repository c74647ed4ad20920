"""The queue: messages that were accepted while a run is at work, in the order in which they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.act import Who
from forkwood.domain.errors import LimitExceeded, NotFound
from forkwood.domain.ids import Id
from forkwood.domain.message import Part, text_of
from forkwood.domain.queued import Queued, QueueMoved
from forkwood.store import log, states
from forkwood.store.db import Tx

_ROW = """SELECT q.id, c.id, q.behind, q.steers, q.state, q.parts, q.models, n.id, q.runs, q.by, q.via, q.created_ms,
    NOT q.steers AND EXISTS (SELECT 1 FROM event e WHERE e.run = q.behind AND e.kind = 'steer.asked'
      AND e.payload ->> '$.queued' = lower(hex(q.id)))
  FROM queued q JOIN conversation c ON c.seq = q.conversation LEFT JOIN node n ON n.seq = q.node"""
_HELD = f"""(q.state = 'held' OR (q.state = 'waiting'
  AND q.behind NOT IN (SELECT id FROM run WHERE {states.ACTIVE})))"""
_IN_ORDER = "ORDER BY (SELECT seq FROM run r WHERE r.id = q.behind), q.steers DESC, q.position"
_COUNT = f"SELECT count(*) FROM queued WHERE conversation = ? AND {states.IN_QUEUE}"
_LAST = "SELECT coalesce(max(position), 0) + 1 FROM queued WHERE conversation = ?"
_FRONT = "SELECT coalesce(min(position), 0) FROM queued WHERE behind = ? AND state = 'waiting' AND steers = 0"


def add(
    tx: Tx,
    *,
    id: Id,
    conversation: int,
    behind: Id,
    steers: bool,
    parts: tuple[Part, ...],
    models: Sequence[str],
    who: Who,
    now_ms: int,
    client: str | None = None,
    key: str | None = None,
) -> None:
    """Let a message wait behind a run, last of all there. Raises LimitExceeded where too many wait already."""
    check_room(tx, conversation)
    tx.run(
        f"""INSERT INTO queued (id, conversation, behind, position, steers, state, parts, models, by, via, client, key,
              created_ms) VALUES (?, ?, ?, ({_LAST}), ?, 'waiting', ?, ?, ?, ?, ?, ?, ?)""",
        (
            bytes.fromhex(id), conversation, bytes.fromhex(behind), conversation, steers, wire.text(parts),
            wire.text(tuple(models)), who.by, who.via, client, key, now_ms,
        ),
    )  # fmt: skip


def command(tx: Tx, id: Id) -> tuple[str | None, str | None]:
    """The client of the command that queued a message, and the key it carried; where they are known."""
    client, key = tx.one("SELECT client, key FROM queued WHERE id = ?", (bytes.fromhex(id),)) or (None, None)
    return client, key


def check_room(tx: Tx, conversation: int) -> None:
    """Raises LimitExceeded where too many messages wait already."""
    waiting = tx.value(_COUNT, (conversation,)) + 1
    if waiting > limits.queue_max:
        raise LimitExceeded(
            "messages that wait in this conversation",
            limit="queue_max",
            bound=limits.queue_max,
            got=waiting,
            hint="forkwood queue lists them, forkwood queue --remove ID takes one out; or wait for the reply",
        )


def row(tx: Tx, id: Id) -> Queued:
    """The message, whatever became of it. Raises NotFound."""
    found = tx.one(f"{_ROW} WHERE q.id = ?", (bytes.fromhex(id),))
    if found is None:
        raise NotFound(f"no queued message is named {id}", hint="forkwood queue lists those that wait", name=id)
    return _queued(found)


def listed(tx: Tx, conversation: int) -> list[Queued]:
    """What waits or is held in a conversation, in the order in which it comes."""
    return [
        _queued(one)
        for one in tx.rows(f"{_ROW} WHERE q.conversation = ? AND {states.IN_QUEUE} {_IN_ORDER}", (conversation,))
    ]


def behind(tx: Tx, run: Id) -> list[Id]:
    """What waits for the end of a run, in order. What steered it and came too late is at the front from now on."""
    steers = tx.rows(
        "SELECT seq FROM queued WHERE behind = ? AND state = 'waiting' AND steers = 1 ORDER BY position", (_key(run),)
    )
    front: int = tx.value(_FRONT, (_key(run),))
    for number, (seq,) in enumerate(steers):
        position = front - len(steers) + number
        tx.run("UPDATE queued SET steers = 0, position = ? WHERE seq = ?", (position, seq))
    rows = tx.rows("SELECT id FROM queued WHERE behind = ? AND state = 'waiting' ORDER BY position", (_key(run),))
    return [name.hex() for (name,) in rows]


def held(tx: Tx, conversation: int) -> list[Queued]:
    """What is held in a conversation, in order; also what waits for a run that damage has taken: nothing sends it."""
    rows = tx.rows(f"{_ROW} WHERE q.conversation = ? AND {_HELD} {_IN_ORDER}", (conversation,))
    return [_queued(one) for one in rows]


def started_by(tx: Tx, run: Id) -> list[Id]:
    """The runs that began when RUN ended: those that reply to what was sent from behind it."""
    rows = tx.rows(
        "SELECT runs FROM queued WHERE behind = ? AND state = 'sent' AND steers = 0 ORDER BY position", (_key(run),)
    )
    return [name for (runs,) in rows for name in wire.decode(runs, tuple[Id, ...])]


def sent(tx: Tx, id: Id, node: int, runs: Sequence[Id]) -> None:
    """The message is NODE now, and RUNS reply to it. Its words stand there alone from now on."""
    tx.run(
        "UPDATE queued SET state = 'sent', node = ?, runs = ?, parts = '[]' WHERE id = ?",
        (node, wire.text(tuple(runs)), bytes.fromhex(id)),
    )


def remove(tx: Tx, id: Id) -> None:
    """The message comes no more. Its words are kept."""
    tx.run("UPDATE queued SET state = 'removed' WHERE id = ?", (bytes.fromhex(id),))


def put_back(tx: Tx, id: Id, *, waits: bool) -> None:
    """A message that was removed is in the queue again, where it stood: to wait for its run, or held."""
    tx.run("UPDATE queued SET state = ? WHERE id = ?", ("waiting" if waits else "held", bytes.fromhex(id)))


def write_parts(tx: Tx, id: Id, parts: tuple[Part, ...]) -> None:
    """Let a message in the queue say PARTS."""
    tx.run("UPDATE queued SET parts = ? WHERE id = ?", (wire.text(parts), bytes.fromhex(id)))


def hold(tx: Tx, ids: Sequence[Id], *, behind: Id, conversation: int, who: Who, now_ms: int) -> None:
    """They wait for a person now: nothing sends them before somebody goes on there."""
    moved = QueueMoved(queued=tuple(ids), state="held", behind=behind)
    _move(tx, moved, conversation=conversation, who=who, now_ms=now_ms)


def stand_behind(tx: Tx, ids: Sequence[Id], run: Id, *, conversation: int, who: Who, now_ms: int) -> None:
    """They wait for another run now, in their order."""
    moved = QueueMoved(queued=tuple(ids), state="waiting", behind=run)
    _move(tx, moved, conversation=conversation, who=who, now_ms=now_ms)


def run_over(tx: Tx, run: Id, *, conversation: int, who: Who, now_ms: int) -> None:
    """RUN has ended, or is asked to, and nothing of what waits behind it follows by itself: it is held."""
    hold(tx, behind(tx, run), behind=run, conversation=conversation, who=who, now_ms=now_ms)


def _move(tx: Tx, moved: QueueMoved, *, conversation: int, who: Who, now_ms: int) -> None:
    if not moved.queued:
        return
    tx.connection.executemany(
        "UPDATE queued SET state = ?, behind = ? WHERE id = ?",
        ((moved.state, _key(moved.behind), bytes.fromhex(one)) for one in moved.queued),
    )
    log.write(tx, moved, who=who, now_ms=now_ms, conversation=conversation, run=moved.behind)


def _key(run: Id) -> bytes:
    return bytes.fromhex(run)


def _queued(found: tuple[Any, ...]) -> Queued:
    id_, conversation, run, steers, state, spelled, models, node, runs, by, via, created_ms, steered = found
    parts = wire.decode(spelled, tuple[Part, ...])
    return Queued(
        id=id_.hex(),
        conversation=conversation.hex(),
        behind=run.hex(),
        steers=bool(steers),
        state=state,
        text=text_of(parts),
        parts=parts,
        models=wire.decode(models, tuple[str, ...]),
        node=node and node.hex(),
        runs=wire.decode(runs, tuple[Id, ...]),
        by=by,
        via=via,
        created_ms=created_ms,
        steered=bool(steered),
    )
