"""How far messages reach: every leaf whose path holds one, in its own conversation and wherever it is carried."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from forkwood import wire
from forkwood.domain.ids import Id
from forkwood.domain.tree import Spot
from forkwood.store import grafts, walk
from forkwood.store.db import Tx

# What hangs below places; each is given as the node it ends with and the highest cut that belongs to it.
_HELD = """WITH RECURSIVE start (seq, cut) AS (SELECT value ->> 0, value ->> 1 FROM json_each(?)), below (seq) AS (
    SELECT n.seq FROM start s CROSS JOIN node n ON n.at_node = s.seq AND n.at_cut <= s.cut
    UNION SELECT n.seq FROM below b CROSS JOIN node n ON n.at_node = b.seq
  ) """
_LEAVES = f"""{_HELD} SELECT n.seq, n.conversation FROM (SELECT seq FROM start UNION SELECT seq FROM below) h
  CROSS JOIN node n ON n.seq = h.seq WHERE NOT EXISTS (SELECT 1 FROM node c WHERE c.at_node = n.seq AND c.at_cut = 0)"""
_RUNS = f"""{_HELD} SELECT r.id FROM run r WHERE r.from_node IN (SELECT seq FROM below)
  OR EXISTS (SELECT 1 FROM start s WHERE s.seq = r.from_node AND r.from_cut <= s.cut)"""

Holders = Mapping[int, int]
"""Nodes that add a message to the paths through them, each with the highest cut that still leaves it one."""


class Carrier(Struct, frozen=True, kw_only=True):
    """A graft that carries some of the messages asked for: which, and the highest cut that still leaves it one."""

    graft: int
    conversation: int
    nodes: frozenset[int]
    cut: int


def carriers(tx: Tx, nodes: Collection[int]) -> Iterator[Carrier]:
    """Every graft that carries one of NODES, straight or through other grafts, oldest first."""
    wanted = frozenset(nodes)
    rows = tx.rows("SELECT seq, conversation, own FROM node WHERE source_node IS NOT NULL ORDER BY seq")
    for graft, conversation, own in rows if wanted else ():
        carried = [row[0] for row in walk.messages(tx, Spot(graft), own, walk.BARE)]
        found = wanted.intersection(carried)
        if found:
            first = next(index for index, node in enumerate(carried) if node in found)
            yield Carrier(graft=graft, conversation=conversation, nodes=found, cut=own - 1 - first)


def holders(tx: Tx, nodes: Collection[int]) -> Holders:
    """What adds one of NODES to a path: they themselves, and the grafts that carry them."""
    return {**dict.fromkeys(nodes, 0), **{found.graft: found.cut for found in carriers(tx, nodes)}}


def of_nodes(tx: Tx, nodes: Collection[int]) -> tuple[int, tuple[Id, ...]]:
    """How many branches hold one of NODES, and the ids of the conversations they are in, oldest first."""
    return _leaves(tx, holders(tx, nodes))


def of_node(tx: Tx, node: int) -> tuple[int, tuple[Id, ...]]:
    """As `of_nodes`, for one message: no graft is read but those that carry it."""
    carried = {graft: _cut_behind(tx, graft, node) for _, graft in grafts.carriers(tx, node)}
    return _leaves(tx, {node: 0, **carried})


def runs_over(tx: Tx, held: Holders) -> frozenset[bytes]:
    """The ids of the runs that began on a path which one of HELD adds to: their prompts held the message."""
    return frozenset(row[0] for row in tx.rows(_RUNS, (_spelled(held),)))


def under_run(tx: Tx, run: Id, tip: Spot) -> set[int]:
    """The messages that a run at TIP has on its path, and all it has appended anywhere."""
    path = walk.messages(tx, tip, query=walk.BARE)
    return {row[0] for row in (*path, *tx.rows("SELECT seq FROM node WHERE run = ?", (bytes.fromhex(run),)))}


def messages_of(tx: Tx, conversation: int) -> set[int]:
    """The messages that were appended in a conversation."""
    rows = tx.rows("SELECT seq FROM node WHERE conversation = ? AND source_node IS NULL", (conversation,))
    return {row[0] for row in rows}


def conversations_of(tx: Tx, nodes: Collection[int]) -> set[int]:
    """The conversations that NODES were appended in."""
    rows = tx.rows(
        "SELECT DISTINCT conversation FROM node WHERE seq IN (SELECT value FROM json_each(?))",
        (wire.text(sorted(nodes)),),
    )
    return {row[0] for row in rows}


def ids_of(tx: Tx, nodes: Collection[int]) -> tuple[Id, ...]:
    """The ids of NODES, by age."""
    rows = tx.rows(
        "SELECT id FROM node WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq", (wire.text(sorted(nodes)),)
    )
    return tuple(row[0].hex() for row in rows)


def _leaves(tx: Tx, held: Holders) -> tuple[int, tuple[Id, ...]]:
    leaves = dict(tx.rows(_LEAVES, (_spelled(held),)))
    ids = tx.rows(
        "SELECT id FROM conversation WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (wire.text(sorted(set(leaves.values()))),),
    )
    return len(leaves), tuple(row[0].hex() for row in ids)


def _cut_behind(tx: Tx, graft: int, node: int) -> int:
    """How much can be cut off a graft that carries NODE before it goes too."""
    own = int(tx.value("SELECT own FROM node WHERE seq = ?", (graft,)))
    carried = [row[0] for row in walk.messages(tx, Spot(graft), own, walk.BARE)]
    return own - 1 - carried.index(node)


def _spelled(held: Holders) -> str:
    return wire.text(sorted(held.items()))
