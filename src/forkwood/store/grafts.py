"""Grafts: carrying the last entries of one path to another place by a single row, and who carries a message."""

from __future__ import annotations

from collections import deque

from forkwood import wire
from forkwood.domain.errors import Refused
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import Origin, Part, calls_of
from forkwood.domain.tree import Spot
from forkwood.store import append, walk
from forkwood.store.db import Tx

_PEELED = 4
"""How many messages above a graft's place may be newer than its source before both paths are read to compare them."""

_EQUAL = "SELECT seq FROM node WHERE source_node = ? AND source_cut = ? AND own = ? AND "
_EQUAL_HERE = f"{_EQUAL}at_node = ? AND at_cut = ?"
_EQUAL_FIRST = f"{_EQUAL}at_node IS NULL AND conversation = ?"

_BELOW = """WITH RECURSIVE down (seq) AS (
  SELECT seq FROM node WHERE at_node = :node AND at_cut <= :cut
  UNION ALL SELECT n.seq FROM down JOIN node n ON n.at_node = down.seq
) """

# Every graft whose source lies at or below a place: what is carried ends there, and may reach up to it.
_TAKERS = f"""{_BELOW}SELECT g.seq, g.conversation, s.length - g.source_cut, g.own, g.length FROM (
    SELECT g.seq FROM node g WHERE g.source_node = :node AND g.source_cut <= :cut
    UNION ALL SELECT g.seq FROM down CROSS JOIN node g ON g.source_node = down.seq
  ) found CROSS JOIN node g ON g.seq = found.seq JOIN node s ON s.seq = g.source_node"""


def add_graft(
    tx: Tx, *, id: Id, conversation: int, at: Spot, source: Spot, count: int, origin: Origin, now_ms: int
) -> tuple[int, bool]:
    """Append one graft of the last COUNT entries at SOURCE; its seq, and True. An equal one that hangs there already is
    given back with False.

    A source that ends between a reply and its results takes the results along. Raises Refused for a graft of nothing,
    of results without their reply, or of a message that stands on the path already (named in the facts), and
    LimitExceeded for too long a path.
    """
    source, count = _whole_groups(tx, source, count)
    if not 1 <= count <= walk.size(tx, source):
        raise Refused(
            f"{count} entries cannot be carried from a path of {walk.size(tx, source)}",
            hint="carry at least one message",
        )
    first = walk.last(tx, walk.prefix(tx, source, walk.size(tx, source) - count + 1))
    if walk.role_of(tx, first) is None:
        raise walk.broken(source)
    at = _where(tx, at, first)
    straight = _flattened(tx, source, count)
    where, place = (_EQUAL_HERE, (at.node, at.cut)) if at.node else (_EQUAL_FIRST, (conversation,))
    equal = tx.value(where, (straight.node, straight.cut, count, *place))
    if equal is not None:
        return equal, False
    _refuse_twice(tx, at, source, count)
    content = append.Content(id=id, origin=origin, now_ms=now_ms, source=straight, first=first, own=count)
    return append.insert(tx, conversation, at, content), True


def carriers(tx: Tx, node: int) -> list[tuple[int, int]]:
    """Every graft that carries a message, straight or through other grafts, as (conversation, graft), oldest first."""
    length = tx.value("SELECT length FROM node WHERE seq = ?", (node,))
    found: dict[int, int] = {}
    work = deque([(Spot(node), length)])
    while work:
        spot, position = work.popleft()
        for graft, conversation, size, own, whole in tx.rows(_TAKERS, {"node": spot.node, "cut": spot.cut}):
            after = size - position
            if after < own and graft not in found:
                found[graft] = conversation
                work.append((Spot(graft, after), whole - after))
    return sorted(((conversation, graft) for graft, conversation in found.items()), key=lambda pair: pair[1])


def _whole_groups(tx: Tx, source: Spot, count: int) -> tuple[Spot, int]:
    exact = walk.spelled(tx, source.node, source.cut)
    behind = walk.behind_results(tx, exact)
    return behind, count if behind == exact else count + 1


def _where(tx: Tx, at: Spot, first: int) -> Spot:
    """AT in its one spelling. Results hang right behind their reply, or a new version of it with the same calls."""
    exact = walk.spelled(tx, at.node, at.cut) if at.node else at
    if walk.role_of(tx, first) != "tool":
        return walk.behind_results(tx, exact)
    reply = walk.last(tx, exact)
    if not reply or _calls(tx, reply) != _calls(tx, tx.value("SELECT at_node FROM node WHERE seq = ?", (first,))):
        raise Refused(
            "results cannot be carried without the reply that asked for them",
            hint="carry from the reply on",
            node=_id(tx, first),
        )
    return exact


def _calls(tx: Tx, node: int) -> list[str]:
    parts = wire.decode(tx.value("SELECT parts FROM node WHERE seq = ?", (node,)), tuple[Part, ...])
    return [part.call for part in calls_of(parts)]


def _flattened(tx: Tx, source: Spot, count: int) -> Spot:
    """Where what is carried was first carried from: a graft that lies inside another points at that one's source."""
    while True:
        row = tx.one("SELECT source_node, source_cut, own FROM node WHERE seq = ?", (source.node,))
        assert row is not None
        if row[0] is None or count > row[2] - source.cut:
            return source
        inner = Spot(row[0], row[1])
        source = walk.prefix(tx, inner, walk.size(tx, inner) - source.cut)


def _refuse_twice(tx: Tx, at: Spot, source: Spot, count: int) -> None:
    if _is_of_one_path(tx, at, walk.prefix(tx, source, walk.size(tx, source) - count), source):
        return
    here = {row[0] for row in walk.messages(tx, at, query=walk.BARE)}
    for row in walk.messages(tx, source, count, walk.BARE):
        if row[0] in here:
            name = _id(tx, row[0])
            raise Refused(
                f"{ending(name)} stands on that path already: a path never holds a message twice",
                hint="carry it onto a place before it, or carry only what is new there",
                node=name,
            )


def _is_of_one_path(tx: Tx, at: Spot, before: Spot, source: Spot) -> bool:
    """Whether AT is known to share nothing with what stands between BEFORE and SOURCE on one path, without reading it.

    So it is where AT stands on that path, not after BEFORE, but for messages newer than all of it: what nothing on the
    path can hold or carry. Every keep, drop and fork is of this kind.
    """
    for _ in range(_PEELED):
        size = walk.size(tx, at)
        if size <= walk.size(tx, before) and walk.prefix(tx, before, size) == at:
            return True
        row = tx.one("SELECT at_node, at_cut FROM node WHERE seq = ? AND source_node IS NULL", (at.node,))
        if row is None or at.node <= source.node:
            return False
        at = Spot(row[0] or 0, row[1])
    return False


def _id(tx: Tx, node: int) -> Id:
    return bytes(tx.value("SELECT id FROM node WHERE seq = ?", (node,))).hex()
