"""Digests of paths, computed when first asked for and kept as an index: each starts from the nearest known above it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from forkwood.domain.digest import Digests, fold
from forkwood.domain.tree import Spot
from forkwood.store import walk
from forkwood.store.db import Tx

_NEAREST = """WITH RECURSIVE up (seq, leave) AS (
    VALUES (?, ?) UNION ALL SELECT n.at_node, n.at_cut FROM up JOIN node n ON n.seq = up.seq
      WHERE NOT EXISTS (SELECT 1 FROM digest d WHERE d.node = up.seq AND d.cut = up.leave)
  ) SELECT n.length - up.leave, d.path, d.match FROM up JOIN digest d ON d.node = up.seq AND d.cut = up.leave
  JOIN node n ON n.seq = up.seq"""

_parts = msgspec.json.Decoder(list[dict[str, Any]]).decode


def path_digest(tx: Tx, spot: Spot) -> str:
    """SHA-256 over roles and parts of all entries at a place, hidden ones too, in hexadecimal."""
    return of_place(tx, spot).path.hex()


def match_digest(tx: Tx, spot: Spot) -> str:
    """SHA-256 over what a client can echo of the path at a place, in hexadecimal."""
    return of_place(tx, spot).match.hex()


def of_place(tx: Tx, spot: Spot) -> Digests:
    """Both digests of the path at a place. Kept, where this transaction writes."""
    if spot.node == 0:
        return Digests()
    found = tx.one(_NEAREST, (spot.node, spot.cut))
    known, digests = (found[0], Digests(found[1], found[2])) if found else (0, Digests())
    missing = walk.size(tx, spot) - known
    if missing:
        digests = _folded(tx, spot, missing, digests)
        if tx.writes:
            tx.run(
                "INSERT INTO digest (node, cut, path, match) VALUES (?,?,?,?)", (spot.node, spot.cut, *_pair(digests))
            )
    return digests


def afresh(tx: Tx, spot: Spot) -> Digests:
    """Both digests of the path at a place, folded from its beginning whatever the index says."""
    return _folded(tx, spot, walk.size(tx, spot), Digests())


def wrong(tx: Tx) -> Iterator[Spot]:
    """The places whose kept digests are not those of their paths: what the index has wrong."""
    for node, cut, path, match in tx.rows("SELECT node, cut, path, match FROM digest ORDER BY node, cut"):
        if _pair(afresh(tx, Spot(node, cut))) != (path, match):
            yield Spot(node, cut)


def forget(tx: Tx) -> None:
    """Empty the index: after a purge every digest is folded again, with the husks, when it is next asked for."""
    tx.run("DELETE FROM digest")


def _folded(tx: Tx, spot: Spot, count: int, digests: Digests) -> Digests:
    for _, _, role, parts in walk.messages(tx, spot, count):
        digests = fold(digests, role, None if parts == walk.EMPTY_PARTS else _parts(parts))
    return digests


def _pair(digests: Digests) -> tuple[bytes, bytes]:
    return digests.path, digests.match
