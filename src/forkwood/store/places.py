"""Places as others meet them: the one that a cut names, what the path there says, and where on it a message stands."""

from __future__ import annotations

from forkwood.domain.errors import Misused
from forkwood.domain.prompt import Said
from forkwood.domain.tree import Spot
from forkwood.store import marks, nodes, walk
from forkwood.store.db import Tx

_parts = nodes.parts_of
_MODELS = walk.reading("n.seq, n.model")
_NEAR = 8
"""How many entries are looked at first, and how many times as many next."""


def checked(tx: Tx, node: int, cut: int) -> Spot:
    """The place that CUT names inside a node. Raises Misused where the node adds no more than CUT entries."""
    own = tx.value("SELECT own FROM node WHERE seq = ?", (node,))
    if own is None or not 0 <= cut < own:
        raise Misused(
            f"node #{node} adds {own or 0} entries: a place in it leaves out at most {max(0, (own or 0) - 1)}",
            hint="~N stands inside a carry, before its last N entries",
        )
    return walk.canonical(tx, node, cut)


def standing(tx: Tx, spot: Spot, node: int) -> tuple[Spot, Spot] | None:
    """The places before and after a message on the path at SPOT, or None: found without reading the path."""
    row = tx.one("SELECT length, source_node FROM node WHERE seq = ?", (node,))
    if row is None or row[1] is not None:
        return None
    found = _position(tx, spot, node, row[0])
    return None if found is None else (walk.prefix(tx, spot, found - 1), walk.prefix(tx, spot, found))


def said(tx: Tx, spot: Spot, *, log: int | None = None) -> list[Said]:
    """What the path at a place says, oldest first: no husks, no hidden messages (as of log number LOG; None: now)."""
    if marks.any_below(tx, spot.node, log):
        rows = walk.messages(tx, spot)
        unseen = marks.unseen(tx, [row[0] for row in rows], [row[2] for row in rows], log=log)
        return _said([row for row in rows if row[0] not in unseen])
    found: list[Said] = []
    for stretch in walk.stretches(tx, spot):
        found += _said(stretch.rows)
    return found


def last_model(tx: Tx, spot: Spot) -> str | None:
    """The model of the last reply on the path at a place; None where no model has spoken there."""
    whole, count = walk.size(tx, spot), _NEAR
    while True:
        rows = walk.messages(tx, spot, min(count, whole), _MODELS)
        found: str | None = next((model for _, model in reversed(rows) if model), None)
        if found or count >= whole:
            return found
        count *= _NEAR


def _said(rows: list[walk.Row]) -> list[Said]:
    return [Said(blob.hex(), role, _parts(parts)) for _, blob, role, parts in rows if parts != walk.EMPTY_PARTS]


def _position(tx: Tx, spot: Spot, node: int, length: int) -> int | None:
    """How many entries the path at SPOT has up to NODE, which hangs at LENGTH; None where it is not on it.

    Where it hangs on the path itself one look tells; else it can only be inside one of the path's grafts.
    """
    work = [(spot, walk.size(tx, spot), 0, 0)]
    while work:
        end, whole, floor, shift = work.pop()
        near: walk.Near = {}
        if floor < length <= whole and walk.prefix(tx, end, length) == Spot(node):
            return length + shift
        while (met := walk.last_graft(tx, end, near)) and met.upto > floor:
            begin = max(met.begin, floor)
            work.append(
                (met.source, met.source_size, met.source_size - (met.upto - begin), shift + met.upto - met.source_size)
            )
            end = met.hangs
    return None
