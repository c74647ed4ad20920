"""Nodes: one by one, in lists, by conversation; their versions, groups and leaves. `append` and `grafts` add them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import repeat
from typing import Any, TypeAlias, cast

import msgspec

from forkwood.domain.conversation import Leaf
from forkwood.domain.errors import NotFound
from forkwood.domain.ids import Id
from forkwood.domain.message import Origin, Part, Text, text_of
from forkwood.domain.tree import Node, Spot
from forkwood.store import marks, walk
from forkwood.store.db import Tx
from forkwood.store.failures import damaged

HANGING = "n.seq, n.id, n.role, n.parts, n.by, n.via, n.run, n.model, n.revises, n.partial, n.created_ms"
"""Columns of a node that is met where it hangs: the path tells the rest."""
CARRIED = f"{HANGING}, n.conversation, n.length, n.at_node, n.at_cut"
"""Columns of a node that is met anywhere else."""
_ROW = f"SELECT {CARRIED}, n.source_node, n.source_cut, n.own FROM node n"

_REVISES = HANGING.split(", ").index("n.revises")

Columns: TypeAlias = Sequence[Sequence[Any]]
"""Rows turned by a quarter: for each column its values."""

_VERSIONS = """WITH RECURSIVE back (seq) AS (
  VALUES (?) UNION ALL SELECT n.revises FROM back JOIN node n ON n.seq = back.seq WHERE n.revises IS NOT NULL
), forth (seq) AS (
  SELECT min(seq) FROM back UNION ALL SELECT n.seq FROM forth JOIN node n ON n.revises = forth.seq
) SELECT seq FROM forth"""

_LEAVES = """ FROM node n WHERE n.conversation = ?
  AND NOT EXISTS (SELECT 1 FROM node c WHERE c.at_node = n.seq AND c.at_cut = 0)"""

_NEWEST_BELOW = """WITH RECURSIVE down (seq) AS (
  SELECT seq FROM node WHERE at_node = :node AND at_cut <= :cut
  UNION ALL SELECT n.seq FROM down JOIN node n ON n.at_node = down.seq
) SELECT max(seq) FROM down"""

_PREVIEWED = 4
"""How many entries from its end on a leaf is searched for words to show it by."""

parts_of = msgspec.json.Decoder(tuple[Part, ...]).decode
"""The parts that a row's JSON spells."""


def row(tx: Tx, seq: int) -> Node:
    """One node. Raises NotFound."""
    found = rows(tx, (seq,))
    if not found:
        raise NotFound(f"there is no node #{seq}", hint="forkwood tree lists the nodes of a conversation")
    return found[0]


def rows(tx: Tx, seqs: Iterable[int]) -> list[Node]:
    """Nodes in the order of their SEQS; those that do not exist are left out."""
    found = (tx.one(f"{_ROW} WHERE n.seq = ?", (seq,)) for seq in seqs)
    return _nodes(tx, [found_row for found_row in found if found_row is not None])


def of_conversation(tx: Tx, seq: int) -> list[Node]:
    """A conversation's own nodes by seq: grafts too, hidden ones flagged."""
    return _nodes(tx, tx.rows(f"{_ROW} WHERE n.conversation = ? ORDER BY n.seq", (seq,)))


def hidden(tx: Tx, conversation: int | None = None) -> list[Node]:
    """The messages that are hidden now, of one conversation or of all, by seq."""
    query = f"{_ROW} JOIN mark m ON m.node = n.seq AND m.until IS NULL"
    if conversation is None:
        return _nodes(tx, tx.rows(f"{query} ORDER BY n.seq"))
    return _nodes(tx, tx.rows(f"{query} WHERE n.conversation = ? ORDER BY n.seq", (conversation,)))


def versions(tx: Tx, seq: int) -> list[Node]:
    """Every version of a message, oldest first, whichever of them SEQ is."""
    return rows(tx, sorted(found for (found,) in tx.rows(_VERSIONS, (seq,)) if found is not None))


def group(tx: Tx, seq: int) -> tuple[int, ...]:
    """The node, or the tool group it belongs to where it was appended: the reply with its calls, and the node with
    their results, which stand behind a new version of a reply too. On a path `locate` tells which reply is meant."""
    found = tx.one("SELECT role, at_node FROM node WHERE seq = ?", (seq,))
    if found is not None and found[0] == "tool":
        return (found[1], seq) if found[1] else (seq,)
    behind = walk.behind_results(tx, Spot(seq))
    return (seq,) if behind == Spot(seq) else (seq, walk.last(tx, behind))


def hangs_at(tx: Tx, seq: int) -> Spot:
    """The place a node was appended to. Raises NotFound."""
    found = tx.one("SELECT ifnull(at_node, 0), at_cut FROM node WHERE seq = ?", (seq,))
    if found is None:
        raise NotFound(f"there is no node #{seq}", hint="forkwood tree lists the nodes of a conversation")
    return Spot(*found)


def spot_text(tx: Tx, spot: Spot) -> str | None:
    """A place as people and programs spell it; None for the empty path."""
    if spot.node == 0:
        return None
    return place_text(_id_of(tx, spot.node), spot.cut)


def _id_of(tx: Tx, seq: int) -> bytes:
    found = tx.value("SELECT id FROM node WHERE seq = ?", (seq,))
    if found is None:
        raise walk.broken(Spot(seq))
    return cast("bytes", found)


def place_text(id: bytes, cut: int) -> str:
    """`ID` or `ID~CUT`."""
    return f"{id.hex()}~{cut}" if cut else id.hex()


def leaf_below(tx: Tx, spot: Spot) -> Spot:
    """The leaf with the highest seq among those whose paths go through a place; the end of its graft, or itself."""
    newest = tx.value(_NEWEST_BELOW, {"node": spot.node, "cut": spot.cut}) if spot.node else None
    return Spot(spot.node) if newest is None else Spot(newest)


def count_leaves(tx: Tx, conversation: int) -> int:
    """How many branches a conversation has."""
    return cast("int", tx.value(f"SELECT count(*){_LEAVES}", (conversation,)))


def leaves(tx: Tx, conversation: int) -> list[Leaf]:
    """Where the branches of a conversation end, newest first."""
    found = tx.rows(f"SELECT n.seq, n.length, n.created_ms{_LEAVES} ORDER BY n.seq DESC", (conversation,))
    return [_leaf(tx, Spot(seq), length, created_ms) for seq, length, created_ms in found]


def _leaf(tx: Tx, spot: Spot, length: int, created_ms: int) -> Leaf:
    ending = walk.light_entries(tx, spot, _PREVIEWED)
    unseen = marks.unseen(tx, [entry.node for entry in ending], [entry.role for entry in ending])
    words = (text_of(parts_of(entry.parts)) for entry in reversed(ending) if entry.node not in unseen)
    return Leaf(
        spot=spot,
        node=ending[-1].id.hex(),
        role=ending[-1].role,
        text=next(filter(None, words), ""),
        length=length,
        hidden=ending[-1].node in unseen,
        created_ms=created_ms,
    )


def _nodes(tx: Tx, found: Sequence[walk.Row]) -> list[Node]:
    ids = {row[0]: row[1].hex() for row in found}
    names = Names(tx, ids, {})
    unseen = marks.hidden_now(tx, list(ids))
    columns = list(zip(*(row[:-3] for row in found if row[2]), strict=True))
    said = names.carried(columns, [ids[seq] for seq in columns[0]], unseen) if columns else []
    made = {node.seq: node for node in said} | {row[0]: names.graft(row) for row in found if not row[2]}
    return [made[row[0]] for row in found]


class Names:
    """Turns rows into nodes. Each seq that a row speaks of becomes an id, looked up once.

    Rows are turned by columns, not one by one: a path has thousands, and calls would cost more than reading them.
    """

    def __init__(self, tx: Tx, known: dict[int, Id], conversations: dict[int, Id]) -> None:
        self._tx = tx
        self.known = known
        self._conversations = conversations

    def id(self, seq: int) -> Id:
        """The id of a node."""
        name = self.known.get(seq)
        if name is None:
            name = self.known[seq] = _id_of(self._tx, seq).hex()
        return name

    def place(self, node: int | None, cut: int) -> str | None:
        """A place's spelling; None for the empty path."""
        if not node:
            return None
        return f"{self.id(node)}~{cut}" if cut else self.id(node)

    def hanging(
        self, columns: Columns, ids: list[Id], conversation: int, ats: Sequence[str | None], length: int
    ) -> list[Node]:  # fmt: skip
        """The messages of rows read with HANGING, one below the other at ATS; the first has that LENGTH."""
        if any(columns[_REVISES]):
            self.known.update(zip(columns[0], ids, strict=True))
        home = repeat(self._conversation(conversation))
        lengths = range(length, length + len(ids))
        return self._made(columns, ids, conversations=home, ats=ats, lengths=lengths)

    def carried(self, columns: Columns, ids: list[Id], hidden: Container[int] = ()) -> list[Node]:
        """The messages of rows read with CARRIED; those of them that are HIDDEN flagged."""
        *columns, conversations, lengths, at_nodes, at_cuts = columns
        self.known.update(zip(columns[0], ids, strict=True))
        known = self.known
        if at_nodes[1:] == columns[0][:-1] and not any(at_cuts):  # a stretch of messages that hang on one another
            ats: list[str | None] = [self.place(at_nodes[0], 0), *ids[:-1]]
        else:
            ats = [
                known[node] if node in known and not cut else self.place(node, cut)
                for node, cut in zip(at_nodes, at_cuts, strict=True)
            ]
        alike = len(set(conversations)) == 1
        home = repeat(self._conversation(conversations[0])) if alike else map(self._conversation, conversations)
        flags = [seq in hidden for seq in columns[0]] if hidden else None
        return self._made(columns, ids, conversations=home, ats=ats, lengths=lengths, hidden=flags)

    def graft(self, found: walk.Row) -> Node:
        """The node of a graft's whole row."""
        (seq, blob, _, _, by, via, run, model, _, _, created_ms, conversation, length, at_node, at_cut,
         source, source_cut, own) = found  # fmt: skip
        return Node(
            id=blob.hex(),
            seq=seq,
            conversation=self._conversation(conversation),
            at=self.place(at_node, at_cut),
            kind="graft",
            role=None,
            parts=(),
            text="",
            source=self.place(source, source_cut),
            count=own,
            origin=Origin(by, via, run.hex() if run else None, model),
            revises=None,
            hidden=False,
            partial=False,
            partial_reason=None,
            purged=False,
            length=length,
            created_ms=created_ms,
        )

    def _made(
        self,
        columns: Columns,
        ids: list[Id],
        *,
        conversations: Iterable[Id],
        ats: Iterable[str | None],
        lengths: Iterable[int],
        hidden: Iterable[bool] | None = None,
    ) -> list[Node]:
        seqs, _, roles, raw, bys, vias, runs, models, revised, partials, created = columns
        parts = list(map(parts_of, raw))
        usual: list[Iterable[Any]] = [
            ids,
            seqs,
            conversations,
            ats,
            roles,
            parts,
            [one[0].text if len(one) == 1 and type(one[0]) is Text else text_of(one) for one in parts],
            map(Origin, bys, vias, [run and run.hex() for run in runs] if any(runs) else runs, models),
            lengths,
            created,
        ]
        if hidden or any(revised) or any(partials) or not all(parts):
            usual += [
                repeat("message"),
                repeat(None),
                repeat(None),
                [seq and self.id(seq) for seq in revised],
                hidden or repeat(False),  # noqa: FBT003  (a column)
                [reason is not None for reason in partials],
                partials,
                [not said for said in parts],
            ]
        return list(map(Node, *usual))

    def _conversation(self, seq: int) -> Id:
        name = self._conversations.get(seq)
        if name is None:
            found = self._tx.value("SELECT id FROM conversation WHERE seq = ?", (seq,))
            if found is None:
                raise damaged(f"conversation {seq}, of which there are messages, is not there")
            name = self._conversations[seq] = found.hex()
        return name
