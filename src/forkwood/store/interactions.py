"""Interactions, out of the log: each is the event that opened it and, once it is over, the one that closed it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from forkwood import wire
from forkwood.domain.act import Who
from forkwood.domain.errors import NotFound
from forkwood.domain.ids import Id
from forkwood.domain.interaction import Answer, CallShown, Interaction, answers_to, shown
from forkwood.domain.message import ToolCall, Via
from forkwood.domain.run_event import InteractionClosed, InteractionOpened, ReplyKept
from forkwood.store import nodes, runs
from forkwood.store.db import Tx

_EITHER = "kind IN ('interaction.opened', 'interaction.closed')"
_NAME = "payload ->> '$.interaction'"
_ROW = f"""SELECT o.seq, o.run, c.id, o.payload, d.payload, d.by, d.via, d.at_ms FROM event o
  JOIN conversation c ON c.seq = o.conversation
  LEFT JOIN event d ON d.{_EITHER} AND d.kind = 'interaction.closed' AND d.{_NAME} = o.{_NAME}
  WHERE o.{_EITHER} AND o.kind = 'interaction.opened'"""
_ONE = f"{_ROW} AND o.{_NAME} = ?"
_OF_RUN = f"{_ROW} AND o.run = ?"
_REPLY = """SELECT node, payload FROM event WHERE run = ? AND kind = 'reply.kept' AND seq < ?
  ORDER BY seq DESC LIMIT 1"""
_GO_ON = f"""SELECT 1 FROM event d JOIN run r ON r.id = d.run
  JOIN event o ON o.{_EITHER} AND o.kind = 'interaction.opened' AND o.{_NAME} = d.{_NAME}
  WHERE d.conversation = ? AND d.kind = 'interaction.closed' AND d.payload ->> '$.answer' = 'go-on' AND r.model = ?
    AND o.payload ->> '$.sort' = 'doubt' LIMIT 1"""


def row(tx: Tx, interaction: Id) -> Interaction:
    """The interaction, open or closed. Raises NotFound."""
    found = tx.one(_ONE, (interaction,))
    if found is None:
        raise NotFound(
            f"there is no interaction {interaction}",
            hint="'forkwood pending' lists what waits",
            interaction=interaction,
        )
    return _interaction(tx, found)


def pending(tx: Tx, conversation: int | None = None) -> list[Interaction]:
    """What waits for a person in a conversation or (None) in all, oldest first."""
    found = [row for run in runs.active(tx, conversation) for row in _open(tx, run)]
    return [_interaction(tx, row) for row in sorted(found, key=lambda row: row[0])]


def of_turn(tx: Tx, run: Id, after: int, until: int) -> list[Interaction]:
    """The interactions of a run that were opened behind AFTER and no later than UNTIL, log numbers, oldest first."""
    rows = tx.rows(f"{_OF_RUN} AND o.seq > ? AND o.seq <= ? ORDER BY o.seq", (bytes.fromhex(run), after, until))
    return [_interaction(tx, found) for found in rows]


def close(tx: Tx, asked: Interaction, answer: Answer, *, grant: Id | None, who: Who, now_ms: int) -> None:
    """A person has answered. The interaction is open."""
    closed = InteractionClosed(interaction=asked.id, status="answered", answer=answer, grant=grant)
    runs.add(tx, asked.run, closed, who=who, now_ms=now_ms)


def overdue(tx: Tx, now_ms: int, conversation: int | None = None) -> list[Id]:
    """The runs with an interaction whose time is over and that nobody has closed yet, oldest first."""
    return [run for run in runs.active(tx, conversation) if is_late(tx, run, now_ms)]


def is_late(tx: Tx, run: Id, now_ms: int) -> bool:
    """Whether the run has an interaction whose time is over and that nobody has closed yet."""
    return bool(_late(tx, run, now_ms))


def expire(tx: Tx, run: Id, *, via: Via, now_ms: int) -> None:
    """Close what is overdue in a run: nobody can answer it any more."""
    for interaction in _late(tx, run, now_ms):
        closed = InteractionClosed(interaction=interaction, status="expired")
        runs.add(tx, run, closed, who=Who(by="system", via=via), now_ms=now_ms)


def may_go_on(tx: Tx, conversation: int, model: str) -> bool:
    """Whether a person said in this conversation that replies of MODEL to a prompt that was cut count."""
    return tx.value(_GO_ON, (conversation, model)) is not None


def _open(tx: Tx, run: Id) -> list[tuple[Any, ...]]:
    return tx.rows(f"{_OF_RUN} AND d.seq IS NULL ORDER BY o.seq", (bytes.fromhex(run),))


def _late(tx: Tx, run: Id, now_ms: int) -> list[Id]:
    rows = tx.rows(
        f"{_OF_RUN} AND d.seq IS NULL AND o.payload ->> '$.expires_ms' <= ? ORDER BY o.seq",
        (bytes.fromhex(run), now_ms),
    )
    return [wire.decode(row[3], InteractionOpened).interaction for row in rows]


class _Call(Struct, frozen=True):
    name: str
    arguments: dict[str, Any] | str


def _interaction(tx: Tx, found: tuple[Any, ...]) -> Interaction:
    seq, run, conversation, text, closing, by, via, at_ms = found
    opened = wire.decode(text, InteractionOpened)
    closed = None if closing is None else wire.decode(closing, InteractionClosed)
    by_person = closed is not None and closed.status == "answered"
    call = None if opened.call is None else _call(tx, run, seq, opened.call)
    return Interaction(
        id=opened.interaction,
        kind=opened.sort,
        run=run.hex(),
        conversation=conversation.hex(),
        status="open" if closed is None else closed.status,
        call=None if call is None else _shown(call, opened.hash),
        questions=opened.questions or None,
        about=opened.about,
        answers=answers_to(opened.sort, opened.call),
        answer=None if closed is None else closed.answer,
        grant=None if closed is None else closed.grant,
        by=by if by_person else None,
        via=via if by_person else None,
        answered_ms=at_ms if by_person else None,
        expires_ms=opened.expires_ms,
    )


def _shown(call: _Call, binding: str | None) -> CallShown:
    return CallShown(name=call.name, arguments=call.arguments, shown=shown(call.name, call.arguments), hash=binding)


def _call(tx: Tx, run: bytes, before: int, name: str) -> _Call | None:
    """The call as its reply has it; of one that was purged the tool alone."""
    found = tx.one(_REPLY, (run, before))
    if found is None:
        return None
    node, kept = found[0], wire.decode(found[1], ReplyKept)
    parts = () if node is None else nodes.row(tx, node).parts
    for part in parts:
        if isinstance(part, ToolCall) and part.call == name:
            return _Call(part.name, part.arguments)
    asked = next((call for call in kept.calls if call.call == name), None)
    return None if asked is None else _Call(asked.name, "")
