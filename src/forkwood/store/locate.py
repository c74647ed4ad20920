"""Where a message stands, as verbs mean it: with its tool group, on a path or where it was appended."""

from __future__ import annotations

from msgspec import Struct

from forkwood.domain.tree import Spot
from forkwood.store import nodes, places, walk
from forkwood.store.db import Tx


class Located(Struct, frozen=True):
    """The places before and after an entry; of a tool group's members, before and after the group."""

    before: Spot
    after: Spot


def entry(tx: Tx, path: Spot, node: int) -> Located | None:
    """Where the message NODE stands on the path of PATH, or None."""
    group = nodes.group(tx, node)
    first, last = (places.standing(tx, path, member) for member in (group[0], group[-1]))
    return None if first is None or last is None else Located(first[0], last[1])


def appended(tx: Tx, node: int) -> Located:
    """Where the message NODE stands on the path it was appended to."""
    group = nodes.group(tx, node)
    return Located(nodes.hangs_at(tx, group[0]), walk.canonical(tx, group[-1], 0))
