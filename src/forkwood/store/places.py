"""Places as others meet them: what a path says, what stands on it and beside it, and where on it a message stands."""

from __future__ import annotations

from forkwood.domain.errors import Misused
from forkwood.domain.message import Role
from forkwood.domain.prompt import Said
from forkwood.domain.tree import Spot
from forkwood.store import marks, nodes, walk
from forkwood.store.db import Tx
from forkwood.store.entries import entries, siblings
from forkwood.store.walk import Step, canonical, last, prefix, size, steps

__all__ = [
    "Step", "canonical", "checked", "entries", "last", "prefix", "said", "siblings", "size", "standing", "steps",
]  # fmt: skip

_GRAFT = "SELECT length, ifnull(graft_node, 0), ifnull(graft_cut, 0) FROM node WHERE seq = ?"

_parts = nodes.parts_of


def checked(tx: Tx, node: int, cut: int) -> Spot:
    """The place that CUT names inside a node. Raises Misused where the node adds no more than CUT entries."""
    own = tx.value("SELECT own FROM node WHERE seq = ?", (node,))
    if own is None or not 0 <= cut < own:
        raise Misused(
            f"node #{node} adds {own or 0} entries: a place in it leaves out at most {max(0, (own or 0) - 1)}",
            hint="~N stands inside a carry, before its last N entries",
        )
    return canonical(tx, node, cut)


def standing(tx: Tx, spot: Spot, node: int) -> tuple[Spot, Spot] | None:
    """The places before and after a message where it stands on the path at SPOT, or None: found without reading the path."""
    row = tx.one("SELECT length, source_node FROM node WHERE seq = ?", (node,))
    if row is None or row[1] is not None:
        return None
    found = _position(tx, spot, node, row[0])
    return None if found is None else (prefix(tx, spot, found - 1), prefix(tx, spot, found))


def said(tx: Tx, spot: Spot, *, log: int | None = None) -> list[Said]:
    """What the path at a place says, oldest first: no husks, no hidden messages (as of log number LOG; None: now)."""
    met: list[tuple[int, Role]] = []
    found: list[Said] = []
    for _, rows in walk.stretches(tx, spot, size(tx, spot)):
        found += [Said(blob.hex(), role, _parts(parts)) for _, blob, role, parts in rows]
        met += [(row[0], row[2]) for row in rows]
    unseen = marks.unseen(tx, met, log)
    return [one for one, (seq, _) in zip(found, met, strict=True) if one.parts and seq not in unseen]


def _position(tx: Tx, spot: Spot, node: int, length: int) -> int | None:
    """How many entries the path at SPOT has up to NODE, which hangs at LENGTH; None where it is not on it.

    Where it hangs on the path itself one look tells; else it can only be inside one of the path's grafts.
    """
    work = [(spot, size(tx, spot), 0, 0)]
    while work:
        spot, whole, floor, shift = work.pop()
        if floor < length <= whole and prefix(tx, spot, length) == Spot(node):
            return length + shift
        work += _sources(tx, spot, floor, shift)
    return None


def _sources(tx: Tx, spot: Spot, floor: int, shift: int) -> list[tuple[Spot, int, int, int]]:
    """What the grafts of a path carry into it after its first FLOOR entries: (place, size, floor, shift) on paths of their own."""
    found = []
    graft, leave = _graft_at(tx, spot)
    while graft:
        row = tx.one(_GRAFT, (graft,))
        assert row is not None
        length, next_graft, next_leave = row
        if length - leave <= floor:
            break
        piece = walk.inside(tx, graft, leave, floor)
        found.append((piece.spot, piece.size, piece.size - piece.count, shift + length - leave - piece.size))
        graft, leave = next_graft, next_leave
    return found


def _graft_at(tx: Tx, spot: Spot) -> tuple[int, int]:
    """The last graft on the way to a place, and how many of its entries are left out there; (0, 0) without one."""
    row = tx.one("SELECT source_node, graft_node, graft_cut FROM node WHERE seq = ?", (spot.node,))
    if row is None:
        return 0, 0
    return (spot.node, spot.cut) if row[0] is not None else (row[1] or 0, row[2] or 0)
