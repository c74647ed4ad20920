"""Places as others meet them: the entries of a path with what stands beside each, and what a prompt is made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import msgspec

from forkwood.domain.errors import Misused
from forkwood.domain.event import NoticeGiven
from forkwood.domain.prompt import Said
from forkwood.domain.tree import Entry, Notice, Siblings, Spot
from forkwood.store import marks, nodes, walk
from forkwood.store.db import Tx
from forkwood.store.walk import Row, Step, canonical, last, prefix, size, steps

__all__ = [
    "Step", "canonical", "checked", "entries", "last", "prefix", "said", "siblings", "size", "standing", "steps",
]  # fmt: skip

_ENTRIES = walk.reading(nodes.COLUMNS)

# What else hangs where the nodes of a path hang; and inside a graft, all that hangs there.
_BESIDE = """WITH RECURSIVE up (seq) AS (
    VALUES (?) UNION ALL SELECT n.at_node FROM up CROSS JOIN node n ON n.seq = up.seq WHERE n.length > n.own
  ) SELECT c.at_node, c.at_cut, c.seq, ifnull(c.first, c.seq) FROM up CROSS JOIN node n ON n.seq = up.seq
    CROSS JOIN node c ON c.at_node = n.at_node AND c.at_cut = n.at_cut AND c.seq <> n.seq"""
_AT = "SELECT at_node, at_cut, seq, ifnull(first, seq) FROM node WHERE "
_FIRST = _AT + "conversation = ? AND at_node IS NULL"
_HERE = _AT + "at_node = ? AND at_cut = ?"
_INNER = _AT + "at_node = ? AND at_cut > 0"

_NOTICES = (
    "SELECT node, seq, payload FROM event WHERE kind = 'notice.given' AND node BETWEEN ? AND ? ORDER BY node, seq"
)

_GRAFT = "SELECT length, ifnull(graft_node, 0), ifnull(graft_cut, 0) FROM node WHERE seq = ?"

Brought: TypeAlias = tuple[int, int]
"""A message that can stand somewhere, after the node that brought it there."""

_parts = nodes.parts_of
_notice = msgspec.json.Decoder(NoticeGiven).decode


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
    """What the path at a place says, oldest first: no hidden messages (as of log number LOG; None: now) and no husks."""
    found = walk.messages(tx, spot)
    unseen = _unseen(tx, found, log)
    return [
        Said(id.hex(), role, _parts(parts))
        for node, id, role, parts in found
        if parts != walk.EMPTY_PARTS and node not in unseen
    ]


def entries(tx: Tx, spot: Spot, *, hidden: bool = False) -> list[Entry]:
    """The path at a place, oldest first, each entry with its siblings and notices. HIDDEN: hidden ones too, flagged."""
    stretches = walk.stretches(tx, spot, size(tx, spot), _ENTRIES)
    found = [row for _, rows in stretches for row in rows]
    if not found:
        return []
    beside = _beside(tx, spot, stretches)
    unseen = _unseen(tx, found, others=[node for others in beside.values() for _, node in others])
    notices = _notices(tx, found)
    names = nodes.Names(tx, {row[0]: row[1].hex() for row in found})
    made: list[Entry] = []
    for graft, at, at_cut, row in _placed(stretches):
        seq = row[0]
        if hidden or seq not in unseen:
            standing_next = _next(tx, beside, at, at_cut, graft or seq, seq)
            made.append(
                Entry(
                    node=names.node(row, seq in unseen),
                    graft=names.id(graft) if graft else None,
                    at=names.place(at, at_cut),
                    siblings=_counted(names, seq, standing_next, unseen),
                    notices=notices.get(seq, ()),
                )
            )
    return made


def siblings(tx: Tx, before: Spot, conversation: int | None = None) -> list[int]:
    """The messages that can stand next after a place, by the age of the node that brought each; hidden ones left out.

    CONVERSATION says whose first messages are meant where the place is the empty path.
    """
    if before.node == 0:
        assert conversation is not None, "every conversation begins at the empty path"
        found = tx.rows(_FIRST, (conversation,))
    else:
        found = tx.rows(_HERE, (before.node, before.cut))
    brought = [(seq, node) for _, _, seq, node in found]
    if before.cut:
        brought.append((before.node, last(tx, Spot(before.node, before.cut - 1))))
    distinct = _by_age(brought)
    unseen = marks.hidden_now(tx, distinct)
    return [node for node in distinct if node not in unseen]


def _placed(stretches: list[tuple[Row | None, list[Row]]]) -> Iterator[tuple[int, int, int, Row]]:
    """Each row with the graft it came through (0: none) and the place before it."""
    at, at_cut = 0, 0
    for graft, rows in stretches:
        if graft is None:
            for row in rows:
                yield 0, at, at_cut, row
                at, at_cut = row[0], 0
        else:
            seq, left = graft[0], graft[3] + len(rows)
            for row in rows:
                yield seq, at, at_cut, row
                left -= 1
                at, at_cut = seq, left


def _beside(tx: Tx, spot: Spot, stretches: list[tuple[Row | None, list[Row]]]) -> dict[tuple[int, int], list[Brought]]:
    """What else hangs at the places of a path: (the node that brought it, the message), by place."""
    found = tx.rows(_BESIDE, (spot.node,))
    first = tx.rows(_FIRST, (tx.value("SELECT conversation FROM node WHERE seq = ?", (spot.node,)),))
    for graft, _ in stretches:
        if graft is not None:
            found += tx.rows(_INNER, (graft[0],))
    beside: dict[tuple[int, int], list[Brought]] = {}
    for at_node, at_cut, seq, node in found + first if len(first) > 1 else found:
        beside.setdefault((at_node or 0, at_cut), []).append((seq, node))
    return beside


def _next(
    tx: Tx, beside: dict[tuple[int, int], list[Brought]], at: int, at_cut: int, bringer: int, node: int
) -> list[Brought]:
    """All that can stand where NODE stands, which BRINGER brought there."""
    brought = [*beside.get((at, at_cut), ()), (bringer, node)]
    if at_cut and bringer != at:
        brought.append((at, last(tx, Spot(at, at_cut - 1))))
    return brought


def _counted(names: nodes.Names, node: int, brought: list[Brought], unseen: set[int]) -> Siblings:
    seen = [seq for seq in _by_age(brought) if seq not in unseen]
    return Siblings(
        index=seen.index(node) + 1 if node not in unseen else 0,
        count=len(seen),
        ids=tuple(names.id(seq) for seq in seen),
    )


def _by_age(brought: list[Brought]) -> list[int]:
    return list(dict.fromkeys(node for _, node in sorted(brought)))


def _unseen(tx: Tx, found: Sequence[Row], log: int | None = None, others: Sequence[int] = ()) -> set[int]:
    """Which messages are hidden: those with a mark, and results whose reply, right before them, is hidden."""
    seqs = [row[0] for row in found]
    if not seqs:
        return set()
    low, high = min(seqs), max(seqs)
    if others:
        low, high = min(low, *others), max(high, *others)
    unseen = marks.hidden_between(tx, low, high) if log is None else marks.hidden_at(tx, log, low, high)
    if unseen:
        unseen |= {row[0] for reply, row in pairwise(found) if row[2] == "tool" and reply[0] in unseen}
    return unseen


def _notices(tx: Tx, found: Sequence[Row]) -> dict[int, tuple[Notice, ...]]:
    seqs = [row[0] for row in found]
    given: dict[int, tuple[Notice, ...]] = {}
    for node, seq, payload in tx.rows(_NOTICES, (min(seqs), max(seqs))):
        notice = _notice(payload)
        given[node] = (*given.get(node, ()), Notice(seq=seq, what=notice.what, text=notice.text))
    return given


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
