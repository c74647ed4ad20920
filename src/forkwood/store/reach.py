"""How far a node reaches: every leaf whose path holds it, in its own conversation and wherever it is carried."""

from __future__ import annotations

from forkwood.domain.ids import Id
from forkwood.store import nodes
from forkwood.store.db import Tx

_LEAVES = """WITH RECURSIVE below(seq) AS (
    VALUES (:node)
    UNION SELECT n.seq FROM below JOIN node n ON n.at_node = below.seq
  ) SELECT seq, conversation FROM node b WHERE seq IN below
    AND NOT EXISTS (SELECT 1 FROM node c WHERE c.at_node = b.seq AND c.at_cut = 0)"""


def of_node(tx: Tx, node: int) -> tuple[int, tuple[Id, ...]]:
    """How many branches hold NODE, and the ids of the conversations they are in, oldest first."""
    leaves: dict[int, int] = {}
    for start in (node, *(graft for _, graft in nodes.carriers(tx, node))):
        leaves.update(dict(tx.rows(_LEAVES, {"node": start})))
    ids = tx.rows(
        "SELECT id FROM conversation WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (str(sorted(set(leaves.values()))),),
    )
    return len(leaves), tuple(row[0].hex() for row in ids)
