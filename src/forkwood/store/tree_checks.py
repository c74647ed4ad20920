"""Doctor's questions to the tree: each derives anew what a row says and yields where the two differ.

The rows are read one by one, so that a store larger than memory can be asked. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from forkwood import wire
from forkwood.domain.errors import ForkwoodError, StoreUnusable
from forkwood.domain.ids import ending
from forkwood.domain.message import Part, calls_of, results_of
from forkwood.domain.tree import Spot
from forkwood.store import append, conversations, digests, walk
from forkwood.store.db import Tx
from forkwood.store.problem import Problem

_PLACES = """SELECT n.seq, n.id, n.at_node, n.at_cut, n.own, n.length, n.conversation, p.seq, p.own, p.length,
    p.conversation
  FROM node n LEFT JOIN node p ON p.seq = n.at_node
  WHERE CASE WHEN n.at_node IS NULL THEN n.at_cut <> 0 OR n.length <> n.own
    ELSE p.seq IS NULL OR p.seq >= n.seq OR p.conversation <> n.conversation OR n.at_cut < 0 OR n.at_cut >= p.own
      OR n.length <> p.length - n.at_cut + n.own END ORDER BY n.seq"""

_GRAFTS = """SELECT n.seq, n.id, n.own, n.first, n.source_cut, s.seq, s.own, s.length
  FROM node n LEFT JOIN node s ON s.seq = n.source_node WHERE n.source_node IS NOT NULL ORDER BY n.seq"""

_GROUPS = """SELECT n.id, n.at_cut, n.parts, p.role, p.parts FROM node n LEFT JOIN node p ON p.seq = n.at_node
  WHERE n.role = 'tool' AND n.purged = 0 ORDER BY n.seq"""


_ALONE = """SELECT id FROM node n WHERE beside = 0 AND CASE WHEN at_node IS NULL
    THEN seq > (SELECT min(f.seq) FROM node f WHERE f.conversation = n.conversation AND f.at_node IS NULL)
    ELSE at_cut > 0 OR seq > (SELECT min(o.seq) FROM node o WHERE o.at_node = n.at_node AND o.at_cut = n.at_cut) END"""


def places(tx: Tx) -> Iterator[Problem]:
    """Every node hangs inside the entries of an older node of its own conversation, and is as long as its path."""
    for _, name, at, cut, own, length, home, parent, around, above, other in tx.each(_PLACES):
        if at is None:
            yield _of(name, "length", f"a first node that adds {own} entries says its path has {length}")
        elif parent is None:
            yield _of(name, "place", f"it hangs at node #{at}, which is not there")
        elif other != home:
            yield _of(name, "place", f"it hangs at node #{at} of another conversation")
        elif not 0 <= cut < around:
            yield _of(name, "place", f"it hangs {cut} before the end of node #{at}, which adds only {around}")
        elif length != above - cut + own:
            yield _of(name, "length", f"its path has {above - cut + own} entries, the row says {length}")
        else:
            yield _of(name, "place", f"it hangs at node #{at}, which is younger than itself")


def grafts(tx: Tx) -> Iterator[Problem]:
    """Every graft carries entries that its source has, and names the first of them."""
    for _, name, own, first, cut, source, around, length in tx.each(_GRAFTS):
        if source is None or not 0 <= cut < around or own > length - cut:
            yield _of(name, "place", "it carries entries that its source does not have")
            continue
        try:
            begins = walk.last(tx, walk.prefix(tx, Spot(source, cut), length - cut - own + 1))
        except StoreUnusable as error:
            yield _of(name, "place", f"what it carries cannot be read: {error.message}")
            continue
        if begins != first:
            yield _of(name, "place", f"it begins with node #{begins}, the row says #{first}")


def pointers(tx: Tx) -> Iterator[Problem]:
    """The pointers up the path, by which places are found without walking, are those of the place the node hangs at."""
    rows = tx.each(
        "SELECT id, conversation, at_node, at_cut, hops, jump_node, jump_cut, graft_node, graft_cut FROM node"
    )
    for name, home, at, cut, hops, *kept in rows:
        if at is not None and not _hangs_well(tx, home, at, cut):
            continue
        try:
            above = append.pointers(tx, home, Spot(at or 0, cut))
        except (ForkwoodError, TypeError) as error:  # TypeError: a node that one above it points at is not there
            yield _of(name, "pointer", f"the path above it is not whole: {error}")
            continue
        due = [*_pair(above.jump), *_pair(above.graft)]
        if (hops, kept) != (above.hops + 1, due):
            yield _of(
                name,
                "pointer",
                f"it points up its path at {kept} after {hops} nodes; {due} after {above.hops + 1} is due",
            )


def neighbours(tx: Tx) -> Iterator[Problem]:
    """A node that came where something stood already says so: by that its siblings are found."""
    for (name,) in tx.each(f"{_ALONE} ORDER BY seq"):
        yield _of(name, "pointer", "it says that it stood alone when it came, and did not")


def parts(tx: Tx) -> Iterator[Problem]:
    """Every message can be read."""
    decoder = msgspec.json.Decoder(tuple[Part, ...])
    for name, text, purged in tx.each("SELECT id, parts, purged FROM node WHERE source_node IS NULL ORDER BY seq"):
        if purged != (text == walk.EMPTY_PARTS):
            yield _of(name, "parts", "it is a husk without having been purged, or was purged and still says something")
            continue
        try:
            decoder.decode(text)
        except msgspec.MsgspecError as error:
            yield _of(name, "parts", f"its parts cannot be read: {error}")


def groups(tx: Tx) -> Iterator[Problem]:
    """Every tool node answers exactly the calls of the reply it hangs at."""
    for name, cut, results, role, calls in tx.each(_GROUPS):
        answered = [part.call for part in results_of(_decoded(results))]
        asked = [part.call for part in calls_of(_decoded(calls))] if role == "assistant" and cut == 0 else None
        if asked != answered and calls != walk.EMPTY_PARTS:
            yield _of(
                name, "tool group", f"it answers the calls {answered}, the reply it hangs at has {asked or 'none'}"
            )


def heads(tx: Tx) -> Iterator[Problem]:
    """Every head is a place of its own conversation, in its one spelling, with a whole path above it."""
    rows = tx.each(
        "SELECT c.seq, c.id, c.head_node, c.head_cut, n.conversation, n.own FROM conversation c"
        " LEFT JOIN node n ON n.seq = c.head_node WHERE c.head_node IS NOT NULL OR c.head_cut <> 0 ORDER BY c.seq"
    )
    for seq, name, node, cut, home, own in rows:
        if home == seq and 0 <= cut < own and walk.reaches_root(tx, Spot(node, cut)):
            continue
        yield Problem(
            kind="head",
            message=f"the head of this conversation stands at node #{node}, cut {cut}: no place with a whole path",
            conversation=name.hex(),
            mendable=True,
        )


def mend_heads(tx: Tx) -> None:
    """Put each head that `heads` names on the newest leaf that reaches a root."""
    for problem in list(heads(tx)):
        seq = tx.value("SELECT seq FROM conversation WHERE id = ?", (bytes.fromhex(problem.conversation or ""),))
        tx.run("UPDATE conversation SET head_cut = 0 WHERE seq = ?", (seq,))
        tx.run(
            "UPDATE conversation SET head_node = NULL WHERE seq = ? AND NOT EXISTS"
            " (SELECT 1 FROM node n WHERE n.seq = head_node AND n.conversation = conversation.seq)",
            (seq,),
        )
        spot, repaired = conversations.settled_head(tx, seq)
        if not repaired and spot.node == 0:
            spot = Spot(tx.value("SELECT max(seq) FROM node WHERE conversation = ?", (seq,)) or 0)
        conversations.move_head(tx, seq, spot, 0)


def kept_digests(tx: Tx) -> Iterator[Problem]:
    """Every digest that was kept is the digest of its path, folded anew from the first entry."""
    try:
        for spot in digests.wrong(tx):
            message = f"the digest kept for the path at node #{spot.node}, cut {spot.cut}, is not that of its entries"
            yield Problem(kind="digest", message=message, mendable=True)
    except StoreUnusable as error:
        yield Problem(kind="digest", message=f"a digest is kept of what is no path: {error}", mendable=True)


def _hangs_well(tx: Tx, home: int, at: int, cut: int) -> bool:
    """Whether the place itself is sound: what is wrong with it is said by `places`."""
    sql = "SELECT 1 FROM node WHERE seq = ? AND conversation = ? AND ? BETWEEN 0 AND own - 1"
    return tx.value(sql, (at, home, cut)) is not None


def _pair(spot: Spot) -> tuple[int | None, int]:
    return spot.node or None, spot.cut


def _decoded(text: str | None) -> tuple[Part, ...]:
    try:
        return wire.decode(text or walk.EMPTY_PARTS, tuple[Part, ...])
    except msgspec.MsgspecError:
        return ()


def _of(name: bytes, kind: str, what: str, **more: Any) -> Problem:
    return Problem(kind=kind, message=f"message {ending(name.hex())}: {what}", node=name.hex(), **more)
