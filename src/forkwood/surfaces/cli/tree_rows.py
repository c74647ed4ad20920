"""The shape of a conversation's tree as rows, one a node, oldest first: pure, without recursion, at any size and depth.

The line that leads to the head goes straight down; every other branch is drawn before it, one rail to the right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.tree import Entry, Node

FOLDED_MIN = 3
"""Straight runs of at least so many rows fold."""


class Row(Struct, frozen=True, kw_only=True, gc=False):
    """One node in the drawing. DEPTH counts the rails to its left; OPENS a branch; STRAIGHT: nothing forks at it."""

    node: Node
    depth: int
    opens: bool
    straight: bool


class Fold(Struct, frozen=True, kw_only=True, gc=False):
    """COUNT rows in a straight line that are not drawn."""

    depth: int
    count: int


def rows_of(nodes: Sequence[Node], head: str | None) -> Iterator[Row]:
    """NODES (by age) as rows: branches before the line they leave, the line to HEAD or to the youngest node last."""
    children = _children(nodes)
    main = _ancestors(nodes, node_of(head))
    stack = list(_pushed(children.get(None, []), main, 0))
    while stack:
        node, depth, opens = stack.pop()
        below = children.get(node.id, [])
        straight = len(below) == 1 and not opens and len(children.get(node_of(node.at), [])) == 1
        yield Row(node=node, depth=depth, opens=opens, straight=straight)
        stack.extend(_pushed(below, main, depth))


def folded(rows: Iterable[Row], kept: Collection[Id]) -> Iterator[Row | Fold]:
    """ROWS with straight runs of plain messages as one Fold each; nodes in KEPT and nodes in a state are drawn."""

    def run(row: Row) -> tuple[bool, int]:
        return row.straight and row.node.id not in kept and _is_plain(row.node), row.depth

    for (folds, depth), group in groupby(rows, run):
        members = list(group)
        if folds and len(members) >= FOLDED_MIN:
            yield Fold(depth=depth, count=len(members))
        else:
            yield from members


def node_of(place: str | None) -> Id | None:
    """The node of a place, whatever its cut."""
    return None if place is None else place.partition("~")[0]


def cut_of(place: str | None) -> int:
    """How many entries a place leaves out."""
    return int((place or "").partition("~")[2] or 0)


def branched_at(leaf: str, nodes: Mapping[Id, Node], path: Mapping[str | None, Node | None]) -> Node | None:
    """The last message that the branch to the place LEAF shares with the head's path; None: they share nothing.

    NODES are the conversation's own, PATH the places on the head's path, each with the message it is behind.
    """
    place: str | None = leaf
    while place not in path and (node := nodes.get(node_of(place) or "")) is not None:
        place = node.at
    return path.get(place)


def places_of(entries: Sequence[Entry], head: str | None) -> dict[str | None, Node | None]:
    """The places on a path to HEAD, from the beginning on, each with the message it is behind."""
    behind = (None, *(entry.node for entry in entries))
    return dict(zip((*(entry.at for entry in entries), head), behind, strict=True))


def _children(nodes: Sequence[Node]) -> Mapping[Id | None, list[Node]]:
    children: dict[Id | None, list[Node]] = {}
    for node in nodes:
        children.setdefault(node_of(node.at), []).append(node)
    return children


def _ancestors(nodes: Sequence[Node], head: Id | None) -> set[Id]:
    """The nodes that lead to the head, or where it is not among NODES to the youngest."""
    by_id = {node.id: node for node in nodes}
    found: set[Id] = set()
    node = by_id.get(head or "") or (nodes[-1] if nodes else None)
    while node is not None and node.id not in found:
        found.add(node.id)
        node = by_id.get(node_of(node.at) or "")
    return found


def _pushed(below: Sequence[Node], main: set[Id], depth: int) -> Iterator[tuple[Node, int, bool]]:
    """What goes onto the stack for the nodes that hang at one: the line that goes on first, for it is drawn last."""
    if not below:
        return
    trunk = next((node for node in below if node.id in main), below[-1])
    yield trunk, depth, False
    for node in reversed(below):
        if node is not trunk:
            yield node, depth + 1, True


def _is_plain(node: Node) -> bool:
    return node.kind == "message" and not (node.hidden or node.partial or node.purged or node.revises)
