"""Entries: a path as a person meets it, each message with what could stand in its place, its marks and its notices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count, repeat
from typing import Any, TypeAlias

import msgspec

from forkwood import wire
from forkwood.domain.event import NoticeGiven
from forkwood.domain.ids import Id
from forkwood.domain.tree import Entry, Node, Notice, Siblings, Spot
from forkwood.store import marks, nodes, walk
from forkwood.store.db import Tx

RawSpot: TypeAlias = tuple[int, int]
"""A place as its row has it: looked up by the thousand, where a Spot costs more to hash."""

Brought: TypeAlias = tuple[int, int]
"""A message that can stand somewhere, after the node that brought it there: their order is their age."""

RAW_ROOT: RawSpot = (0, 0)

_HANGING = walk.reading(nodes.HANGING)
_CARRIED = walk.reading(nodes.CARRIED)

# Where in a conversation something stands beside another: an index of branchings, nothing of what does not branch.
_CROWDED = "SELECT DISTINCT ifnull(at_node, 0), at_cut FROM node WHERE conversation = ? AND beside = 1"
_HOME = f"""SELECT c.seq, c.id, EXISTS (SELECT 1 FROM node b WHERE b.conversation = c.seq AND b.beside = 1), {walk.TOP}
  FROM node n JOIN conversation c ON c.seq = n.conversation WHERE n.seq = ?"""
_BROUGHT = "SELECT ifnull(c.at_node, 0), c.at_cut, c.seq, ifnull(c.first, c.seq), ifnull(f.id, c.id) FROM "
_FIRST = f"{_BROUGHT}node c LEFT JOIN node f ON f.seq = c.first WHERE c.conversation = ? AND c.at_node IS NULL"
_HERE = f"{_BROUGHT}node c LEFT JOIN node f ON f.seq = c.first WHERE c.at_node = ? AND c.at_cut = ?"
_AT_ALL = f"""{_BROUGHT}json_each(?) place CROSS JOIN node c ON c.at_node = place.value
  LEFT JOIN node f ON f.seq = c.first"""

_ANY_NOTICE = "SELECT 1 FROM event WHERE kind = 'notice.given' AND node <= ? LIMIT 1"
_NOTICES = """SELECT node, seq, payload FROM event WHERE kind = 'notice.given' AND node BETWEEN ? AND ?
  ORDER BY node, seq LIMIT ?"""
_NOTICES_OF_EACH = """SELECT e.node, e.seq, e.payload FROM json_each(?) place
  CROSS JOIN event e ON e.node = place.value AND e.kind = 'notice.given' ORDER BY e.node, e.seq"""
_notice = msgspec.json.Decoder(NoticeGiven).decode


def entries(tx: Tx, spot: Spot, *, hidden: bool = False) -> list[Entry]:
    """The path at a place, oldest first, each entry with its siblings and notices. HIDDEN: hidden ones too, flagged."""
    if spot.node == 0:
        return []
    path = _Path(tx, spot)
    crowd = path.crowd()
    beside = [node for brought in crowd.values() for _, node in brought]
    unseen = marks.unseen(tx, path.seqs, (node.role for node in path.found), beside)
    for index in [index for index, seq in enumerate(path.seqs) if seq in unseen] if unseen else ():
        path.found[index] = msgspec.structs.replace(path.found[index], hidden=True)
    usual: list[Iterable[Any]] = [path.found, path.ats, path.siblings(crowd, unseen)]
    notices = _notices(tx, path.seqs, spot.node)
    if path.has_grafts or notices:
        usual += [path.grafts, notices or repeat(())]
    made = list(map(Entry, *usual))
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
    above = walk.last(tx, before)
    unseen = (marks.unseen(tx, (above, node), (None, walk.role_of(tx, node))) for node in distinct)
    hidden = set[int]().union(*unseen)
    return [node for node in distinct if node not in hidden]


class _Path:
    """A path as it is read: its nodes, for each the graft it came through and the place before it."""

    def __init__(self, tx: Tx, spot: Spot) -> None:
        self._tx = tx
        top = tx.one(_HOME, (spot.node,))
        if top is None:
            raise walk.broken(spot)
        self._conversation, home, self._branches, length, grafts = top
        self._names = nodes.Names(tx, {}, {self._conversation: home.hex()})
        self._straight: list[tuple[int, Sequence[int]]] = []
        """The messages that hang on the path itself, by the index at which each row of them begins."""
        self._left: dict[int, tuple[int, int]] = {}
        """Of each graft: how many entries the path has where it leaves it, and the cut of that place."""
        self._ends: str | None = None
        self.found: list[Node] = []
        self.seqs: list[int] = []
        self.ids: list[Id] = []
        self.grafts: list[Id | None] = []
        self.ats: list[str | None] = []
        whole = walk.Span(spot, length - spot.cut, length - spot.cut)
        for stretch in walk.read_span(tx, whole, _HANGING, _CARRIED, grafts=bool(grafts)):
            columns = list(zip(*stretch.rows, strict=True))
            ids = [blob.hex() for blob in columns[1]]
            if stretch.graft is None:
                self._hanging(columns, ids)
            else:
                self._carried(columns, ids, stretch.graft, stretch.left)
            self.seqs += columns[0]
            self.ids += ids

    def _hanging(self, columns: nodes.Columns, ids: list[Id]) -> None:
        start = len(self.ids)
        ats = [self._ends, *ids[:-1]]
        self._straight.append((start, columns[0]))
        self.found += self._names.hanging(columns, ids, self._conversation, ats, start + 1)
        self.grafts += repeat(None, len(ids))
        self.ats += ats
        self._ends = ids[-1]

    def _carried(self, columns: nodes.Columns, ids: list[Id], graft: walk.GraftName, left: int) -> None:
        name = self._names.known[graft.node] = graft.id.hex()
        self.found += self._names.carried(columns, ids)
        self.grafts += repeat(name, len(ids))
        self.ats += [self._ends, *(f"{name}~{cut}" for cut in range(left + len(ids) - 1, left, -1))]
        self._ends = f"{name}~{left}" if left else name
        self._left[graft.node] = len(self.found), left

    @property
    def has_grafts(self) -> bool:
        """Whether anything on the path came through a graft."""
        return bool(self._left)

    def crowd(self) -> dict[int, list[Brought]]:
        """Everything that hangs where more than one thing can stand, by the index of the entry that stands there."""
        crowd: dict[int, list[Brought]] = {}
        if not self._branches:
            return crowd
        crowded = self._tx.rows(_CROWDED, (self._conversation,))
        first = self._tx.rows(_FIRST, (self._conversation,)) if RAW_ROOT in crowded else []
        after = self._afters(crowded)
        here = list(dict.fromkeys([place[0] for place in after]))
        known = self._names.known
        for start, seqs in self._straight:  # those that were carried are known already
            known.update(zip(seqs, self.ids[start : start + len(seqs)], strict=True))
        for node, cut, bringer, brought, name in self._tx.rows(_AT_ALL, (wire.text(here),)) + first:
            index = after.get((node, cut))
            if index is not None:
                crowd.setdefault(index, []).append((bringer, brought))
                if brought not in known:
                    known[brought] = name.hex()
        for (node, cut), index in after.items():
            if cut:
                crowd[index].append((node, walk.last(self._tx, Spot(node, cut - 1))))
        return crowd

    def _afters(self, spots: Sequence[RawSpot]) -> dict[RawSpot, int]:
        """The index of the entry that stands next after each of SPOTS that the path has."""
        hang: dict[int, int] = {}
        for start, seqs in self._straight:
            hang.update(zip(seqs, count(start + 1), strict=False))
        after: dict[RawSpot, int] = {RAW_ROOT: 0} if RAW_ROOT in spots else {}
        for node, cut in spots:
            if node in hang:
                after[node, cut] = hang[node]
            elif node in self._left:
                entries_before, leave = self._left[node]
                if cut >= leave:
                    after[node, cut] = entries_before - (cut - leave)
        return {place: index for place, index in after.items() if index < len(self.seqs)}

    def siblings(self, crowd: dict[int, list[Brought]], unseen: set[int]) -> list[Siblings]:
        """For each entry, where it stands among all that could stand there: nearly all stand alone."""
        made = list(map(Siblings, zip(self.ids, strict=True)))
        for index, brought in crowd.items():
            made[index] = self._counted(self.seqs[index], brought, unseen)
        for index in [index for index, seq in enumerate(self.seqs) if seq in unseen] if unseen else ():
            made[index] = self._counted(self.seqs[index], crowd.get(index, []), unseen)
        return made

    def _counted(self, node: int, brought: list[Brought], unseen: set[int]) -> Siblings:
        seen = _by_age(brought)
        if unseen:
            seen = [seq for seq in seen if seq not in unseen]
        ids = tuple([self._names.id(seq) for seq in seen])
        return Siblings(ids, 0 if node in unseen else seen.index(node) + 1, len(seen))


def _by_age(brought: list[Brought]) -> list[int]:
    return list(dict.fromkeys([node for _, node in sorted(brought)]))


def _notices(tx: Tx, seqs: Sequence[int], newest: int) -> list[tuple[Notice, ...]]:
    """The notices of each node, in the order of SEQS, none above NEWEST; an empty list where there are none at all.

    They are read from where SEQS lie, or one by one where others have more there.
    """
    if tx.value(_ANY_NOTICE, (newest,)) is None:
        return []
    rows = tx.rows(_NOTICES, (min(seqs), newest, len(seqs) + 1))
    if len(rows) > len(seqs):
        rows = tx.rows(_NOTICES_OF_EACH, (wire.text(seqs),))
    here = set(seqs)
    given: dict[int, tuple[Notice, ...]] = {}
    for node, seq, payload in rows:
        if node not in here:
            continue
        notice = _notice(payload)
        given[node] = (*given.get(node, ()), Notice(seq=seq, what=notice.what, text=notice.text))
    return [given.get(seq, ()) for seq in seqs]
