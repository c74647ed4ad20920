"""Memories: named facts, version by version. A version never changes; a person decides about each once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.act import Who
from forkwood.domain.errors import Conflict, LimitExceeded, NotFound, Refused
from forkwood.domain.event import Event
from forkwood.domain.ids import Id, ending
from forkwood.domain.memory import Decision, Fact, Memory, MemoryDecided, MemoryProposed, MemoryState, Proposal
from forkwood.store import log
from forkwood.store.db import Tx

_COLUMNS = """m.id, m.name, m.value, m.version, m.state, later.id, c.id, m.run, n.id, m.call, m.by, m.via,
  m.created_ms, m.decided_ms, m.purged"""
_FROM = """FROM memory m LEFT JOIN memory later ON later.seq = m.superseded_by
  LEFT JOIN conversation c ON c.seq = m.conversation LEFT JOIN node n ON n.seq = m.node"""
_COUNTS = "m.state = 'accepted' AND m.superseded_by IS NULL"
_NOW = f"{_COUNTS} AND m.purged = 0 AND m.value <> ''"
_BY_AGE = "ORDER BY m.decided_ms, m.seq"
"""By when they came to count, oldest first: a prompt's beginning stays as it was where one more is accepted."""

_PROPOSE = """INSERT INTO memory (id, name, value, version, state, conversation, run, node, call, by, via, created_ms)
  VALUES (?, ?, ?, (SELECT coalesce(max(version), 0) + 1 FROM memory WHERE name = ?), 'proposed', ?, ?,
    (SELECT seq FROM node WHERE id = ?), ?, 'model', ?, ?)"""

_STATE = """INSERT INTO memory (id, name, value, version, state, by, via, created_ms)
  VALUES (?, ?, ?, (SELECT coalesce(max(version), 0) + 1 FROM memory WHERE name = ?), 'proposed', ?, ?, ?)"""
_AMONG = "(SELECT unhex(value) FROM json_each(?))"

_COMES_FROM = """(m.node IN (SELECT value FROM json_each(:nodes))
  OR m.conversation IN (SELECT value FROM json_each(:conversations)))"""
_READERS = """WITH held (digest) AS (SELECT DISTINCT f.digest FROM manifest f, json_each(f.body, '$.memories') m
    WHERE f.body <> 'null' AND m.value IN (SELECT value FROM json_each(?)))
  SELECT id FROM run WHERE manifest IN held
  UNION SELECT run FROM event WHERE kind = 'run.sealed' AND payload ->> '$.manifest' IN held"""

LISTED = "forkwood memory lists what is remembered and what waits for you"


def propose(tx: Tx, id: Id, proposal: Proposal, *, now_ms: int) -> Memory:
    """A new version of a fact, which a person has to accept. The same call of the same reply proposes once, and what
    waits for the person already is not proposed again.

    Raises LimitExceeded for a name or value that is too long and where too many wait, Refused for one that is empty.
    """
    found = _of_call(tx, proposal) or _waiting(tx, proposal)
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
    made = row(tx, id)
    log.write(
        tx,
        MemoryProposed(memory=id),
        who=Who(by="model", via=proposal.via),
        now_ms=now_ms,
        conversation=proposal.conversation,
        run=proposal.run,
        node=tx.value("SELECT node FROM memory WHERE id = ?", (bytes.fromhex(id),)),
    )
    return made


def state_fact(tx: Tx, id: Id, fact: Fact, *, who: Who, now_ms: int) -> Memory:
    """A new version of a fact, by a person: it counts from now on, and what counted until then is superseded.

    Raises as `propose`; NotFound where a fact that there is not is to be forgotten.
    """
    before = accepted_by_name(tx, fact.name)
    if not fact.value and before is None:
        raise NotFound(f"nothing is remembered under the name '{fact.name}'", hint=LISTED, name=fact.name)
    _check_words(fact.name, fact.value or "forgotten")
    tx.run(_STATE, (bytes.fromhex(id), fact.name, fact.value, fact.name, who.by, fact.via, now_ms))
    log.write(tx, MemoryProposed(memory=id), who=who, now_ms=now_ms)
    return _accept(tx, row(tx, id), who=who, now_ms=now_ms)


def decide(tx: Tx, id: Id, decision: Decision, *, who: Who, now_ms: int) -> Memory:
    """Accept or reject a proposal; the same again is fine. An accepted one supersedes what counted until then.

    Raises Conflict where it was decided otherwise or a later version counts, NotFound where its words were purged,
    LimitExceeded where too many facts count.
    """
    memory = row(tx, id)
    if memory.purged:
        raise NotFound(f"what memory {ending(id)} said was purged", hint=LISTED, memory=id)
    if memory.state == decision:
        return memory
    if memory.state != "proposed":
        raise Conflict(f"memory {ending(id)} was {memory.state} already", hint=_anew(memory), memory=id)
    if decision == "accepted":
        return _accept(tx, memory, who=who, now_ms=now_ms)
    return _decided(tx, memory, decision, None, who=who, now_ms=now_ms)


def row(tx: Tx, id: Id) -> Memory:
    """The version of that id. Raises NotFound."""
    found = _read(tx, "m.id = ?", (bytes.fromhex(id),))
    if not found:
        raise NotFound(f"there is no memory {id}", hint=LISTED, memory=id)
    return found[0]


def of_ids(tx: Tx, ids: Sequence[Id]) -> list[Memory]:
    """The versions of these ids, in this order. Raises NotFound for one that is not there."""
    if not ids:
        return []
    found = {one.id: one for one in _read(tx, f"m.id IN {_AMONG}", (wire.text(ids),))}
    lost = next((id for id in ids if id not in found), None)
    if lost is not None:
        raise NotFound(f"there is no memory {lost}", hint=LISTED, memory=lost)
    return [found[id] for id in ids]


def listed(tx: Tx, *, name: str | None = None, state: MemoryState | None = None) -> list[Memory]:
    """What waits for a person and what counts, or every version in STATE; of one NAME or of all; the newest first."""
    here = f"(m.state = 'proposed' OR ({_NOW}))" if state is None else "m.state = :state"
    named = "" if name is None else " AND m.name = :name"
    given = {"name": name, "state": state}
    return _read(tx, f"m.purged = 0 AND {here}{named} ORDER BY m.seq DESC", given)


def versions(tx: Tx, name: str) -> list[Memory]:
    """Every version of the fact of that NAME, oldest first."""
    return _read(tx, "m.name = ? ORDER BY m.version", (name,))


def decision(tx: Tx, id: Id) -> Event | None:
    """The event by which a version was accepted or rejected; None while it waits."""
    sql = "SELECT max(seq) FROM event WHERE kind = 'memory.decided' AND payload ->> '$.memory' = ?"
    seq = tx.value(sql, (id,))
    return None if seq is None else log.event(tx, seq)


def in_use(tx: Tx) -> tuple[Id, ...]:
    """The ids of the facts that count now, by when they came to count."""
    return tuple(id.hex() for (id,) in tx.rows(f"SELECT m.id FROM memory m WHERE {_NOW} {_BY_AGE}"))


def are_standing(tx: Tx, ids: Sequence[Id]) -> bool:
    """Whether all of these are there and say what they said."""
    return not ids or tx.value(
        f"SELECT count(*) FROM memory m WHERE m.purged = 0 AND m.id IN {_AMONG}", (wire.text(ids),)
    ) == len(ids)


def is_any_purged(tx: Tx, ids: Sequence[Id]) -> bool:
    """Whether a purge has taken the words of one of these."""
    return bool(ids) and bool(
        tx.value(f"SELECT 1 FROM memory m WHERE m.purged = 1 AND m.id IN {_AMONG}", (wire.text(ids),))
    )


def coming_from(tx: Tx, nodes: Collection[int], conversations: Collection[int]) -> list[Id]:
    """The versions that were proposed in one of these messages, or in one of these conversations."""
    rows = tx.rows(f"SELECT m.id FROM memory m WHERE {_COMES_FROM}", _spelled(nodes, conversations))
    return [id.hex() for (id,) in rows]


def readers(tx: Tx, ids: Sequence[Id]) -> frozenset[bytes]:
    """The runs whose prompts held one of these."""
    return frozenset(run for (run,) in tx.rows(_READERS, (wire.text(ids),))) if ids else frozenset()


def forget(tx: Tx, nodes: Collection[int], conversations: Collection[int]) -> None:
    """Leave husks of what comes from there: only a purge may. A name of our own tells them apart."""
    tx.run(
        f"""UPDATE memory AS m SET name = '#' || m.seq, value = '', call = NULL, purged = 1 WHERE {_COMES_FROM}""",
        _spelled(nodes, conversations),
    )


def _spelled(nodes: Collection[int], conversations: Collection[int]) -> dict[str, str]:
    return {"nodes": wire.text(sorted(nodes)), "conversations": wire.text(sorted(conversations))}


def accepted(tx: Tx, *, limit: int = -1) -> list[Memory]:
    """The facts that count now, by name; the first LIMIT of them, or all."""
    return _read(tx, f"{_NOW} ORDER BY m.name LIMIT ?", (limit,))


def count_accepted(tx: Tx) -> int:
    """How many facts count now."""
    return cast("int", tx.value(f"SELECT count(*) FROM memory m WHERE {_NOW}"))


def accepted_by_name(tx: Tx, name: str) -> Memory | None:
    """The fact of that NAME that counts now."""
    return next(iter(_read(tx, f"m.name = ? AND {_NOW}", (name,))), None)


def _accept(tx: Tx, memory: Memory, *, who: Who, now_ms: int) -> Memory:
    before = next(iter(_read(tx, f"m.name = ? AND {_COUNTS}", (memory.name,))), None)
    if before is not None and before.version > memory.version:
        raise Conflict(
            f"a later version of '{memory.name}' counts already: version {before.version}",
            hint=_anew(memory),
            memory=memory.id,
        )
    if memory.value and (before is None or not before.value):
        _within("memories_accepted_max", "facts that count", count_accepted(tx) + 1, limits.memories_accepted_max)
    return _decided(tx, memory, "accepted", before, who=who, now_ms=now_ms)


def _decided(tx: Tx, memory: Memory, decision: Decision, before: Memory | None, *, who: Who, now_ms: int) -> Memory:
    id = bytes.fromhex(memory.id)
    tx.run("UPDATE memory SET state = ?, decided_ms = ? WHERE id = ?", (decision, now_ms, id))
    if before is not None:
        supersede = "UPDATE memory SET superseded_by = (SELECT seq FROM memory WHERE id = ?) WHERE id = ?"
        tx.run(supersede, (id, bytes.fromhex(before.id)))
    made = MemoryDecided(memory=memory.id, decision=decision, supersedes=None if before is None else before.id)
    log.write(tx, made, who=who, now_ms=now_ms)
    return row(tx, memory.id)


def _anew(memory: Memory) -> str:
    return f"forkwood memory --add '{memory.name}' VALUE states it anew; --history '{memory.name}' shows every version"


def _of_call(tx: Tx, proposal: Proposal) -> Memory | None:
    named = bytes.fromhex(proposal.run), bytes.fromhex(proposal.node), proposal.call
    same = "m.run = ? AND m.node = (SELECT seq FROM node WHERE id = ?) AND m.call = ?"
    return next(iter(_read(tx, same, named)), None)


def _waiting(tx: Tx, proposal: Proposal) -> Memory | None:
    same = "m.name = ? AND m.value = ? AND m.state = 'proposed' AND m.purged = 0"
    return next(iter(_read(tx, same, (proposal.name, proposal.value))), None)


def _read(tx: Tx, where: str, args: Sequence[Any] | dict[str, Any]) -> list[Memory]:
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
    _check_words(proposal.name, proposal.value)
    waiting = tx.value("SELECT count(*) FROM memory WHERE state = 'proposed' AND purged = 0") + 1
    _within("memories_proposed_max", "proposals that wait for the person", waiting, limits.memories_proposed_max)


def _check_words(name: str, value: str) -> None:
    if not name.strip() or not value.strip():
        raise Refused("a fact has a name and a value", hint="give both")
    _within("memory_name_characters_max", "the name", len(name), limits.memory_name_characters_max)
    _within("memory_value_characters_max", "the value", len(value), limits.memory_value_characters_max)


_ROOM = {
    "memory_name_characters_max": "a short name, and what is to be remembered as the value",
    "memory_value_characters_max": "state it shorter, or as several facts of names of their own",
    "memories_proposed_max": "a person decides some first: forkwood memory lists them",
    "memories_accepted_max": "'forkwood memory --forget NAME' lets one be forgotten",
}
"""What makes room, by the limit that was met."""


def _within(limit: str, what: str, got: int, bound: int) -> None:
    if got > bound:
        raise LimitExceeded(what, limit=limit, bound=bound, got=got, hint=_ROOM[limit])
