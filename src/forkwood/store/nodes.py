"""Nodes: one by one, in lists, by conversation; their versions, tool groups and leaves. Appending is in `append`, `grafts`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from forkwood.domain.conversation import Leaf
from forkwood.domain.errors import NotFound
from forkwood.domain.ids import Id
from forkwood.domain.message import Origin, Part, text_of
from forkwood.domain.tree import ROOT, Node, Spot
from forkwood.store import marks, walk
from forkwood.store.append import add_message, add_results
from forkwood.store.db import Tx
from forkwood.store.grafts import add_graft, carriers

__all__ = [
    "add_graft", "add_message", "add_results", "carriers", "count_leaves", "group", "hangs_at", "hidden", "leaf_below",
    "leaves", "newest_leaf", "of_conversation", "place_text", "row", "rows", "spot_text", "versions",
]  # fmt: skip

COLUMNS = """, n.conversation, n.at_node, n.at_cut, n.by, n.via, n.run, n.model, n.revises, n.partial, n.created_ms,
  n.length, n.purged"""
_ROW = f"SELECT n.seq, n.id, n.role, n.parts{COLUMNS}, n.source_node, n.source_cut, n.own FROM node n"

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
    """The node, or the tool group it belongs to: the reply with its calls, and the node with their results."""
    found = tx.one("SELECT role, at_node FROM node WHERE seq = ?", (seq,))
    if found is not None and found[0] == "tool":
        return found[1], seq
    results = tx.value("SELECT seq FROM node WHERE at_node = ? AND at_cut = 0 AND role = 'tool'", (seq,))
    return (seq,) if results is None else (seq, results)


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
    return place_text(tx.value("SELECT id FROM node WHERE seq = ?", (spot.node,)), spot.cut)


def place_text(id: bytes, cut: int) -> str:
    """`ID` or `ID~CUT`."""
    return f"{id.hex()}~{cut}" if cut else id.hex()


def leaf_below(tx: Tx, spot: Spot) -> Spot:
    """The leaf with the highest seq among those whose paths go through a place; the end of its graft, or itself."""
    newest = tx.value(_NEWEST_BELOW, {"node": spot.node, "cut": spot.cut}) if spot.node else None
    return Spot(spot.node) if newest is None else Spot(newest)


def newest_leaf(tx: Tx, conversation: int) -> Spot | None:
    """The leaf with the highest seq: the newest node, which nothing can hang at yet. None where there is no node."""
    newest = tx.value("SELECT max(seq) FROM node WHERE conversation = ?", (conversation,))
    return None if newest is None else Spot(newest)


def count_leaves(tx: Tx, conversation: int) -> int:
    """How many branches a conversation has."""
    return cast("int", tx.value(f"SELECT count(*){_LEAVES}", (conversation,)))


def leaves(tx: Tx, conversation: int) -> list[Leaf]:
    """Where the branches of a conversation end, newest first."""
    found = tx.rows(f"SELECT n.seq, n.length, n.created_ms{_LEAVES} ORDER BY n.seq DESC", (conversation,))
    return [_leaf(tx, Spot(seq), length, created_ms) for seq, length, created_ms in found]


def _leaf(tx: Tx, spot: Spot, length: int, created_ms: int) -> Leaf:
    ending = walk.steps(tx, spot, _PREVIEWED)
    unseen = marks.hidden_now(tx, [step.node for step in ending])
    words = (text_of(parts_of(step.parts)) for step in reversed(ending) if step.node not in unseen)
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
    names = Names(tx, {row[0]: row[1].hex() for row in found})
    unseen = marks.hidden_now(tx, [row[0] for row in found]) if found else set()
    return [names.node(row[:16], row[0] in unseen, *row[16:]) for row in found]


class Names:
    """Turns rows into nodes: each seq that a row speaks of becomes an id, looked up once."""

    def __init__(self, tx: Tx, known: dict[int, Id]) -> None:
        self._tx = tx
        self._known = known
        self._conversations: dict[int, Id] = {}
        self._origins: dict[tuple[Any, ...], Origin] = {}

    def id(self, seq: int) -> Id:
        """The id of a node."""
        name = self._known.get(seq)
        if name is None:
            name = self._known[seq] = self._tx.value("SELECT id FROM node WHERE seq = ?", (seq,)).hex()
        return name

    def place(self, node: int | None, cut: int) -> str | None:
        """A place's spelling; None for the empty path."""
        if not node:
            return None
        return f"{self.id(node)}~{cut}" if cut else self.id(node)

    def node(
        self, found: walk.Row, hidden: bool, source: int | None = None, source_cut: int = 0, own: int | None = None
    ) -> Node:  # fmt: skip
        """The node of a row that was read with COLUMNS."""
        (seq, id, role, parts_json, conversation, at_node, at_cut, by, via, run, model, revises, partial, created_ms,
         length, purged) = found  # fmt: skip
        parts = parts_of(parts_json) if role else ()
        return Node(
            id=id.hex(),
            seq=seq,
            conversation=self._conversation(conversation),
            at=self.place(at_node, at_cut),
            kind="message" if role else "graft",
            role=role,
            parts=parts,
            text=text_of(parts),
            source=self.place(source, source_cut),
            count=own if source else None,
            origin=self._origin(by, via, run, model),
            revises=self.id(revises) if revises else None,
            hidden=hidden,
            partial=partial is not None,
            partial_reason=partial,
            purged=bool(purged),
            length=length,
            created_ms=created_ms,
        )

    def _conversation(self, seq: int) -> Id:
        name = self._conversations.get(seq)
        if name is None:
            found = self._tx.value("SELECT id FROM conversation WHERE seq = ?", (seq,))
            name = self._conversations[seq] = found.hex()
        return name

    def _origin(self, *facts: Any) -> Origin:
        origin = self._origins.get(facts)
        if origin is None:
            by, via, run, model = facts
            origin = Origin(by=by, via=via, run=run.hex() if run else None, model=model)
            self._origins[facts] = origin
        return origin
