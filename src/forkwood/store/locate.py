"""Where a message stands, as verbs mean it: with its tool group, on a path or where it was appended."""

from __future__ import annotations

from msgspec import Struct

from forkwood.domain.tree import Spot
from forkwood.store import nodes, places, walk
from forkwood.store.db import Tx


class Located(Struct, frozen=True):
    """The places before and after an entry, and its GROUP: the node, or the reply and the results. Of a tool group's
    members they are the places before and after the group."""

    before: Spot
    after: Spot
    group: tuple[int, ...]


def entry(tx: Tx, path: Spot, node: int) -> Located | None:
    """Where the message NODE stands on the path of PATH, or None. Results belong to the reply right before them there:
    a new version of a reply has the same ones."""
    found = places.standing(tx, path, node)
    if found is None:
        return None
    before, after = found
    match walk.role_of(tx, node):
        case "tool" if reply := walk.last(tx, before):
            return Located(walk.prefix(tx, path, walk.size(tx, before) - 1), after, (reply, node))
        case "assistant":
            behind = _behind(tx, path, after)
            return Located(before, behind, (node,) if behind == after else (node, walk.last(tx, behind)))
        case _:
            return Located(before, after, (node,))


def appended(tx: Tx, node: int) -> Located:
    """Where the message NODE stands on the path it was appended to."""
    group = nodes.group(tx, node)
    return Located(nodes.hangs_at(tx, group[0]), walk.canonical(tx, group[0], 0), group)


def _behind(tx: Tx, path: Spot, after: Spot) -> Spot:
    """AFTER a reply on a path, or the place after the results where they come next."""
    size = walk.size(tx, after)
    if size == walk.size(tx, path):
        return after
    following = walk.prefix(tx, path, size + 1)
    return following if walk.role_of(tx, walk.last(tx, following)) == "tool" else after
