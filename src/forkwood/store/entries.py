"""Entries: a path as a person meets it, each message with what could stand in its place, its marks and its notices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count, repeat
from typing import TypeAlias

import msgspec

from forkwood import wire
from forkwood.domain.event import NoticeGiven
from forkwood.domain.ids import Id
from forkwood.domain.tree import Entry, Node, Notice, Siblings, Spot
from forkwood.store import marks, nodes, walk
from forkwood.store.db import Tx

Place: TypeAlias = tuple[int, int]
Brought: TypeAlias = tuple[int, int]
"""A message that can stand somewhere, after the node that brought it there: their order is their age."""

_HANGING = walk.reading(nodes.HANGING)
_CARRIED = walk.reading(nodes.CARRIED)

# Where in a conversation something stands beside another: an index of branchings, nothing of what does not branch.
_CROWDED = "SELECT DISTINCT at_node, at_cut FROM node WHERE conversation = ? AND beside = 1 AND at_node IS NOT NULL"
_BROUGHT = "SELECT ifnull(c.at_node, 0), c.at_cut, c.seq, ifnull(c.first, c.seq), ifnull(f.id, c.id) FROM "
_FIRST = f"{_BROUGHT}node c LEFT JOIN node f ON f.seq = c.first WHERE c.conversation = ? AND c.at_node IS NULL"
_HERE = f"{_BROUGHT}node c LEFT JOIN node f ON f.seq = c.first WHERE c.at_node = ? AND c.at_cut = ?"
_AT_ALL = f"""{_BROUGHT}json_each(?) place CROSS JOIN node c ON c.at_node = place.value
  LEFT JOIN node f ON f.seq = c.first"""

_NOTICES = (
    "SELECT node, seq, payload FROM event WHERE kind = 'notice.given' AND node BETWEEN ? AND ? ORDER BY node, seq"
)
_notice = msgspec.json.Decoder(NoticeGiven).decode


def entries(tx: Tx, spot: Spot, *, hidden: bool = False) -> list[Entry]:
    """The path at a place, oldest first, each entry with its siblings and notices. HIDDEN: hidden ones too, flagged."""
    if spot.node == 0:
        return []
    path = _Path(tx, spot)
    crowd = path.crowd()
    others = [node for brought in crowd.values() for _, node in brought]
    unseen = marks.unseen(tx, path.seqs, (node.role for node in path.found), others=others)
    for index in [index for index, node in enumerate(path.found) if node.seq in unseen] if unseen else ():
        path.found[index] = msgspec.structs.replace(path.found[index], hidden=True)
    made = list(map(Entry, path.found, path.grafts, path.ats, path.siblings(crowd, unseen), _notices(tx, path.seqs)))
    return made if hidden or not unseen else [entry for entry in made if not entry.node.hidden]


def siblings(tx: Tx, before: Spot, conversation: int | None = None) -> list[int]:
    """The messages that can stand next after a place, by the age of the node that brought each; hidden ones left out.

    CONVERSATION says whose first messages are meant where the place is the empty path.
    """
    if before.node == 0:
        assert conversation is not None, "every conversation begins at the empty path"
        found = tx.rows(_FIRST, (conversation,))
    else:
        found = tx.rows(_HERE, (before.node, before.cut))
    brought = [(seq, node) for _, _, seq, node, _ in found]
    if before.cut:
        brought.append((before.node, walk.last(tx, Spot(before.node, before.cut - 1))))
    distinct = _by_age(brought)
    unseen = marks.hidden_now(tx, distinct)
    return [node for node in distinct if node not in unseen]


class _Path:
    """A path as it is read: its nodes, for each the graft it came through and the place before it."""

    def __init__(self, tx: Tx, spot: Spot) -> None:
        self._tx = tx
        self._names = nodes.Names(tx, {})
        self._conversation: int = tx.value("SELECT conversation FROM node WHERE seq = ?", (spot.node,))
        self._left: dict[int, tuple[int, int]] = {}
        """Of each graft: how many entries the path has where it leaves it, and the cut of that place."""
        self._hang: dict[int, int] = {}
        """Of each message that hangs on the path itself: its index."""
        self._ends: str | None = None
        self.found: list[Node] = []
        self.seqs: list[int] = []
        self.grafts: list[Id | None] = []
        self.ats: list[str | None] = []
        for stretch in walk.stretches(tx, spot, walk.size(tx, spot), _HANGING, _CARRIED):
            if stretch.graft is None:
                self._hanging(stretch.rows)
            else:
                self._carried(stretch.graft, stretch.left, stretch.rows)

    def _hanging(self, rows: Sequence[walk.Row]) -> None:
        found = self._names.hanging(rows, self._conversation, self._ends, len(self.found) + 1)
        seqs = [row[0] for row in rows]
        self.seqs += seqs
        self._hang.update(zip(seqs, count(len(self.found)), strict=False))
        self.found += found
        self.grafts += repeat(None, len(rows))
        self.ats += [node.at for node in found]
        self._ends = found[-1].id

    def _carried(self, graft: walk.Graft, left: int, rows: Sequence[walk.Row]) -> None:
        name = self._names.known[graft.node] = graft.id.hex()
        self.seqs += [row[0] for row in rows]
        self.found += self._names.carried(rows)
        self.grafts += repeat(name, len(rows))
        self.ats += [self._ends, *(f"{name}~{cut}" for cut in range(left + len(rows) - 1, left, -1))]
        self._ends = f"{name}~{left}" if left else name
        self._left[graft.node] = len(self.found), left

    def crowd(self) -> dict[int, list[Brought]]:
        """Everything that hangs where more than one thing can stand, by the index of the entry that stands there."""
        first = self._tx.rows(_FIRST, (self._conversation,))
        crowded = set(self._tx.rows(_CROWDED, (self._conversation,)))
        here = sorted({node for node, _ in crowded if node in self._hang or node in self._left})
        found = self._tx.rows(_AT_ALL, (wire.text(here),)) if here else []
        crowd: dict[int, list[Brought]] = {}
        for node, cut, bringer, brought, name in found + first if len(first) > 1 else found:
            index = self._after(node, cut)
            if 0 <= index < len(self.found):
                crowd.setdefault(index, []).append((bringer, brought))
                self._names.known.setdefault(brought, name.hex())
        for node, cut in crowded:
            index = self._after(node, cut) if cut else -1
            if 0 <= index < len(self.found):
                crowd[index].append((node, walk.last(self._tx, Spot(node, cut - 1))))
        return crowd

    def _after(self, node: int, cut: int) -> int:
        """The index of the entry that stands next after a place; -1 where the path does not go through it."""
        if node == 0:
            return 0
        if node in self._left:
            entries_before, leave = self._left[node]
            return entries_before - (cut - leave) if cut >= leave else -1
        return self._hang.get(node, -2) + 1

    def siblings(self, crowd: dict[int, list[Brought]], unseen: set[int]) -> list[Siblings]:
        """For each entry, where it stands among all that could stand there: nearly all stand alone."""
        made = list(map(Siblings, repeat(1), repeat(1), zip([node.id for node in self.found], strict=True)))
        alone = (index for index, node in enumerate(self.found) if node.seq in unseen) if unseen else ()
        for index in {*crowd, *alone}:
            node = self.found[index].seq
            seen = [seq for seq in _by_age(crowd.get(index) or [(node, node)]) if seq not in unseen]
            ids = tuple(map(self._names.id, seen))
            made[index] = Siblings(seen.index(node) + 1 if node not in unseen else 0, len(seen), ids)
        return made


def _by_age(brought: list[Brought]) -> list[int]:
    return list(dict.fromkeys(node for _, node in sorted(brought)))


def _notices(tx: Tx, seqs: Sequence[int]) -> Iterable[tuple[Notice, ...]]:
    """The notices of each node, in the order of SEQS."""
    given: dict[int, tuple[Notice, ...]] = {}
    for node, seq, payload in tx.rows(_NOTICES, (min(seqs), max(seqs))):
        notice = _notice(payload)
        given[node] = (*given.get(node, ()), Notice(seq=seq, what=notice.what, text=notice.text))
    return [given.get(seq, ()) for seq in seqs] if given else repeat((), len(seqs))
