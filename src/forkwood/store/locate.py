"""Where on a path a node stands, found without reading it all: by its length if it hangs there, else in grafts."""

from __future__ import annotations

from msgspec import Struct

from forkwood.domain.tree import Spot
from forkwood.store import nodes, places
from forkwood.store.db import Tx

_PLAIN = """WITH RECURSIVE up(seq, leave) AS (
    VALUES (:node, :cut)
    UNION ALL SELECT n.at_node, n.at_cut FROM up JOIN node n ON n.seq = up.seq WHERE n.length > :length
  ) SELECT 1 FROM up WHERE seq = :wanted AND leave = 0"""


class Located(Struct, frozen=True):
    """The places before and after an entry; of a tool group's members, before and after the group."""

    before: Spot
    after: Spot


def entry(tx: Tx, path: Spot, node: int) -> Located | None:
    """Where NODE stands on the path of PATH, or None. Reads no further down than where the node could hang itself."""
    if path.node == 0:
        return None
    return _hanging(tx, path, node) or _carried(tx, path, node)


def _hanging(tx: Tx, path: Spot, node: int) -> Located | None:
    length = tx.value("SELECT length FROM node WHERE seq = ? AND source_node IS NULL", (node,))
    if length is None:
        return None
    args = {"node": path.node, "cut": path.cut, "length": length, "wanted": node}
    if tx.value(_PLAIN, args) is None:
        return None
    group = nodes.group(tx, node)
    return Located(nodes.hangs_at(tx, group[0]), places.canonical(tx, group[-1], 0))


def _carried(tx: Tx, path: Spot, node: int) -> Located | None:
    wanted = set(nodes.group(tx, node))
    found = [step for step in places.steps(tx, path) if step.node in wanted]
    if not any(step.node == node for step in found):
        return None
    return Located(found[0].before, found[-1].after)
