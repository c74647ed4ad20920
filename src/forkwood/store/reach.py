"""How far a node reaches: every leaf whose path holds it, in its own conversation and wherever it is carried."""

from __future__ import annotations

from collections.abc import Collection

from forkwood import wire
from forkwood.domain.ids import Id
from forkwood.store import grafts
from forkwood.store.db import Tx

_LEAVES = """WITH RECURSIVE below(seq) AS (
    VALUES (:node)
    UNION SELECT n.seq FROM below JOIN node n ON n.at_node = below.seq
  ) SELECT seq, conversation FROM node b WHERE seq IN below
    AND NOT EXISTS (SELECT 1 FROM node c WHERE c.at_node = b.seq AND c.at_cut = 0)"""


def of_node(tx: Tx, node: int) -> tuple[int, tuple[Id, ...]]:
    """How many branches hold NODE, and the ids of the conversations they are in, oldest first."""
    leaves: dict[int, int] = {}
    for start in (node, *(graft for _, graft in grafts.carriers(tx, node))):
        leaves.update(dict(tx.rows(_LEAVES, {"node": start})))
    ids = tx.rows(
        "SELECT id FROM conversation WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (wire.text(sorted(set(leaves.values()))),),
    )
    return len(leaves), tuple(row[0].hex() for row in ids)


def messages_of(tx: Tx, conversation: int) -> set[int]:
    """The messages that were appended in a conversation."""
    return {row[0] for row in tx.rows("SELECT seq FROM node WHERE conversation = ?", (conversation,))}


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
