"""Memories: named facts, version by version. A version never changes; a person decides about each once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Refused
from forkwood.domain.ids import Id
from forkwood.domain.memory import Memory, Proposal
from forkwood.store.db import Tx

_COLUMNS = """m.id, m.name, m.value, m.version, m.state, later.id, c.id, m.run, n.id, m.call, m.by, m.via,
  m.created_ms, m.decided_ms, m.purged"""
_FROM = """FROM memory m LEFT JOIN memory later ON later.seq = m.superseded_by
  LEFT JOIN conversation c ON c.seq = m.conversation LEFT JOIN node n ON n.seq = m.node"""
_NOW = "m.state = 'accepted' AND m.superseded_by IS NULL AND m.purged = 0"

_PROPOSE = """INSERT INTO memory (id, name, value, version, state, conversation, run, node, call, by, via, created_ms)
  VALUES (?, ?, ?, (SELECT coalesce(max(version), 0) + 1 FROM memory WHERE name = ?), 'proposed', ?, ?,
    (SELECT seq FROM node WHERE id = ?), ?, 'model', ?, ?)"""


def propose(tx: Tx, id: Id, proposal: Proposal, *, now_ms: int) -> Memory:
    """A new version of a fact, which a person has to accept. The same call of the same run proposes once.

    Raises LimitExceeded for a name or value that is too long and where too many wait, Refused for one that is empty.
    """
    found = _of_call(tx, proposal)
    if found is not None:
        return found
    _check(tx, proposal)
    tx.run(
        _PROPOSE,
        (
            bytes.fromhex(id), proposal.name, proposal.value, proposal.name, proposal.conversation,
            bytes.fromhex(proposal.run), bytes.fromhex(proposal.node), proposal.call, proposal.via, now_ms,
        ),
    )  # fmt: skip
    (made,) = _read(tx, "m.id = ?", (bytes.fromhex(id),))
    return made


def accepted(tx: Tx, *, limit: int = -1) -> list[Memory]:
    """The facts that count now, by name; the first LIMIT of them, or all."""
    return _read(tx, f"{_NOW} ORDER BY m.name LIMIT ?", (limit,))


def count_accepted(tx: Tx) -> int:
    """How many facts count now."""
    found: int = tx.value(f"SELECT count(*) FROM memory m WHERE {_NOW}")
    return found


def accepted_by_name(tx: Tx, name: str) -> Memory | None:
    """The fact of that NAME that counts now."""
    return next(iter(_read(tx, f"m.name = ? AND {_NOW}", (name,))), None)


def _of_call(tx: Tx, proposal: Proposal) -> Memory | None:
    return next(iter(_read(tx, "m.run = ? AND m.call = ?", (bytes.fromhex(proposal.run), proposal.call))), None)


def _read(tx: Tx, where: str, args: Sequence[Any]) -> list[Memory]:
    return [_memory(row) for row in tx.rows(f"SELECT {_COLUMNS} {_FROM} WHERE {where}", args)]


def _memory(row: tuple[Any, ...]) -> Memory:
    id_, name, value, version, state, later, conversation, run, node, call, by, via, created, decided, purged = row
    return Memory(
        id=id_.hex(),
        name=name,
        value=value,
        version=version,
        state=state,
        superseded_by=later and later.hex(),
        conversation=conversation and conversation.hex(),
        run=run and run.hex(),
        node=node and node.hex(),
        call=call,
        by=by,
        via=via,
        created_ms=created,
        decided_ms=decided,
        purged=bool(purged),
    )


def _check(tx: Tx, proposal: Proposal) -> None:
    if not proposal.name.strip() or not proposal.value.strip():
        raise Refused("a fact has a name and a value", hint="give both")
    _within("memory_name_characters_max", "the name", len(proposal.name), limits.memory_name_characters_max)
    _within("memory_value_characters_max", "the value", len(proposal.value), limits.memory_value_characters_max)
    waiting = tx.value("SELECT count(*) FROM memory WHERE state = 'proposed' AND purged = 0") + 1
    _within("memories_proposed_max", "proposals that wait for the person", waiting, limits.memories_proposed_max)


def _within(limit: str, what: str, got: int, bound: int) -> None:
    if got > bound:
        raise LimitExceeded(what, limit=limit, bound=bound, got=got)
