"""Grants: a person's yes beforehand. They are given, hold, and end once; both ends are log numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forkwood.domain.act import Who
from forkwood.domain.errors import NotFound
from forkwood.domain.event import GrantGiven, GrantRevoked
from forkwood.domain.ids import Id
from forkwood.domain.policy import Grant
from forkwood.domain.response import GrantHeld
from forkwood.store import log, states
from forkwood.store.db import Tx
from forkwood.store.problem import Problem

_ROW = """SELECT g.id, g.tool, g.scope, g.holds_for, g.hash, c.id, g.since, g.until, g.created_ms
  FROM granted g JOIN conversation c ON c.seq = g.conversation"""
_HOLDING = f"""{_ROW} WHERE g.until IS NULL AND g.holds_for IN (?, ?) ORDER BY g.seq"""
_REVISION = "SELECT max(max(since, ifnull(until, 0))) FROM granted WHERE conversation = ?"
_NOW = f"""{_ROW} WHERE g.until IS NULL AND c.purged = 0 AND (g.scope <> 'run'
  OR EXISTS (SELECT 1 FROM run r WHERE r.id = unhex(g.holds_for)
    AND {states.ACTIVE}))"""

_TOLD = """WITH ended (id, until) AS (
    SELECT payload ->> '$.grant', min(seq) FROM event WHERE kind = 'grant.revoked' GROUP BY 1
  ) SELECT g.payload ->> '$.grant' AS id, g.payload ->> '$.tool' AS tool, g.payload ->> '$.scope' AS scope,
    g.payload ->> '$.of' AS holds_for, g.payload ->> '$.hash' AS hash, g.conversation, g.seq AS since, e.until, g.at_ms
  FROM event g LEFT JOIN ended e ON e.id = g.payload ->> '$.grant' WHERE g.kind = 'grant.given'"""
_KEPT = (
    """SELECT lower(hex(id)) AS id, tool, scope, holds_for, hash, conversation, since, until, created_ms FROM granted"""
)
_DIFFERING = f"""SELECT id FROM (SELECT * FROM ({_TOLD}) EXCEPT {_KEPT})
  UNION SELECT id FROM ({_KEPT} EXCEPT SELECT * FROM ({_TOLD})) ORDER BY 1"""


def give(tx: Tx, grant: Grant, *, conversation: int, who: Who, now_ms: int) -> Id:
    """Let GRANT, given in that conversation, hold from now on; its id. Where the same holds already: the id of that."""
    already = next((one for one in _holding(tx, grant.of, grant.of) if _is_same(one, grant)), None)
    if already is not None:
        return already.id
    given = GrantGiven(grant=grant.id, tool=grant.tool, scope=grant.scope, of=grant.of, hash=grant.hash)
    since = log.write(tx, given, who=who, now_ms=now_ms, conversation=conversation)
    tx.run(
        """INSERT INTO granted (id, tool, scope, holds_for, hash, conversation, since, created_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        (bytes.fromhex(grant.id), grant.tool, grant.scope, grant.of, grant.hash, conversation, since, now_ms),
    )
    return grant.id


def revoke(tx: Tx, grant: Id, *, who: Who, now_ms: int) -> GrantHeld:
    """End the grant; no-op where it has ended. Raises NotFound."""
    found = row(tx, grant)
    if found.until is None:
        conversation = tx.value("SELECT conversation FROM granted WHERE id = ?", (bytes.fromhex(grant),))
        until = log.write(tx, GrantRevoked(grant=grant), who=who, now_ms=now_ms, conversation=conversation)
        tx.run("UPDATE granted SET until = ? WHERE id = ?", (until, bytes.fromhex(grant)))
    return row(tx, grant)


def holding(tx: Tx, *, run: Id, conversation: int) -> tuple[tuple[Grant, ...], int]:
    """The grants that hold for a run of a conversation, oldest first; the log number of the last change there."""
    name = tx.value("SELECT lower(hex(id)) FROM conversation WHERE seq = ?", (conversation,))
    revision = tx.value(_REVISION, (conversation,))
    found = () if revision is None else _holding(tx, run, name)
    grants = (Grant(id=one.id, tool=one.tool, scope=one.scope, of=one.of, hash=one.hash) for one in found)
    return tuple(grants), revision or 0


def listed(tx: Tx, conversation: int | None = None) -> list[GrantHeld]:
    """The grants that hold in a conversation or (None) in all, newest first. One for a run ends with its run."""
    where, args = ("", ()) if conversation is None else (" AND g.conversation = ?", (conversation,))
    return [_held(found) for found in tx.rows(f"{_NOW}{where} ORDER BY g.seq DESC", args)]


def row(tx: Tx, grant: Id) -> GrantHeld:
    """The grant, whether it holds or not. Raises NotFound."""
    found = tx.one(f"{_ROW} WHERE g.id = ?", (bytes.fromhex(grant),))
    if found is None:
        raise NotFound(f"there is no grant {grant}", hint="'forkwood grants' lists those that hold", grant=grant)
    return _held(found)


def checked(tx: Tx) -> Iterator[Problem]:
    """Every grant is what a person's act in the log says: none holds that nobody gave."""
    for (name,) in tx.each(_DIFFERING):
        yield Problem(kind="grant", message=f"grant {name} is not what the log says of it", mendable=True)


def rebuild(tx: Tx) -> None:
    """Make the grants anew from the log: what it does not tell lets nothing run."""
    tx.run("DELETE FROM granted")
    tx.run(
        f"""INSERT INTO granted (id, tool, scope, holds_for, hash, conversation, since, until, created_ms)
            SELECT unhex(id), tool, scope, holds_for, hash, conversation, since, until, at_ms FROM ({_TOLD})
            ORDER BY since"""
    )


def _holding(tx: Tx, one: Id, other: Id) -> list[GrantHeld]:
    return [_held(found) for found in tx.rows(_HOLDING, (one, other))]


def _is_same(one: GrantHeld, other: Grant) -> bool:
    return (one.tool, one.scope, one.of, one.hash) == (other.tool, other.scope, other.of, other.hash)


def _held(found: tuple[Any, ...]) -> GrantHeld:
    name, tool, scope, of, content, conversation, since, until, created_ms = found
    return GrantHeld(
        id=name.hex(),
        tool=tool,
        scope=scope,
        of=of,
        hash=content,
        conversation=conversation.hex(),
        since=since,
        until=until,
        created_ms=created_ms,
    )
