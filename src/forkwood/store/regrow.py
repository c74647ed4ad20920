"""Rescued nodes made a whole tree again: what hung below a lost message hangs below its husk now.

What each node says of the path above it is derived anew from its place. Nothing is taken out: of a node that can no
longer mean what it said, a graft whose source is lost or results without their calls, a husk remains.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import astuple

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.act import Who
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.event import NoticeGiven
from forkwood.domain.ids import make_id
from forkwood.domain.message import Part, Role, calls_of, results_of
from forkwood.domain.tree import Spot
from forkwood.store import append, log, walk
from forkwood.store.aside import Aside
from forkwood.store.db import Tx
from forkwood.store.rescue import Found
from forkwood.store.sound import emptied

_STRAYED = """SELECT n.seq, p.conversation FROM node n JOIN node p ON p.seq = n.at_node
  WHERE n.conversation NOT IN (SELECT seq FROM conversation) AND p.conversation IN (SELECT seq FROM conversation)"""

# What is missing: the end of a path by what hung there, and the source of a graft by the first entry it carries.
_LOST = """SELECT at_node, conversation, length - own + at_cut, min(created_ms), max(role IS NOT 'assistant')
    FROM node WHERE at_node NOT IN (SELECT seq FROM node) GROUP BY at_node
  UNION ALL SELECT g.source_node, f.conversation, f.length + g.own - 1 + g.source_cut, min(g.created_ms), 0
    FROM node g JOIN node f ON f.seq = g.first
    WHERE g.source_node NOT IN (SELECT seq FROM node) AND g.source_node > f.seq
      AND g.source_node NOT IN (SELECT at_node FROM node WHERE at_node IS NOT NULL) GROUP BY g.source_node
  ORDER BY 1"""

# The nearest node above a lost one that is still there: the pointers up their paths of all that hung below it tell.
_ABOVE = """WITH RECURSIVE down (seq) AS (
  SELECT seq FROM node WHERE at_node = ?1 UNION ALL SELECT n.seq FROM down JOIN node n ON n.at_node = down.seq
) SELECT a.seq, n.jump_cut, a.length - n.jump_cut FROM down JOIN node n ON n.seq = down.seq
  JOIN node a ON a.seq = n.jump_node AND a.seq < ?1 AND a.conversation = n.conversation
    AND n.jump_cut BETWEEN 0 AND a.own - 1 ORDER BY a.length - n.jump_cut DESC LIMIT 1"""

# Where it could have hung below that: what is too short would need more numbers than are missing.
_BELOW = """WITH RECURSIVE down (seq) AS (
  SELECT seq FROM node WHERE iif(?1 = 0, at_node IS NULL, at_node = ?1) AND conversation = ?2 AND seq < ?3
  UNION ALL SELECT n.seq FROM down JOIN node n ON n.at_node = down.seq AND n.seq < ?3
) SELECT n.seq, n.length FROM down JOIN node n ON n.seq = down.seq WHERE n.length < ?4"""

_COLUMNS = {
    "at": "at_node", "cut": "at_cut", "own": "own", "length": "length", "source": "source_node",
    "source_cut": "source_cut", "hops": "hops", "beside": "beside", "jump": "jump_node", "jump_cut": "jump_cut",
    "graft": "graft_node", "graft_cut": "graft_cut",
}  # fmt: skip
_ROWS = f"""SELECT seq, conversation, role, purged, first, {", ".join(_COLUMNS.values())} FROM node
  WHERE seq > ? ORDER BY seq LIMIT 1"""
_WRITE = f"UPDATE node SET {' = ?, '.join(_COLUMNS.values())} = ? WHERE seq = ?"
_EMPTY = """UPDATE node SET role = iif(role IS NULL OR role = 'tool', 'user', role), parts = '[]', purged = 1, own = 1,
  source_node = NULL, source_cut = NULL, first = NULL WHERE seq = ?"""

HUSK_OF_LOST = "what stood here was lost when the store was damaged"
REPLACED = "what this was made of was lost when the store was damaged"


class LostNode(Struct, frozen=True):
    """A node that is not there: what is known by its neighbours. ENTRIES: how many its path had."""

    seq: int
    conversation: int
    entries: int
    created_ms: int
    is_reply: int


class Above(Struct, frozen=True):
    """A place that a lost node may have hung at, and how many entries its path has."""

    seq: int
    cut: int
    entries: int


class Row(Struct):
    """A node by what places it."""

    seq: int
    conversation: int
    role: Role | None
    purged: int
    first: int | None
    at: int | None
    cut: int
    own: int
    length: int
    source: int | None
    source_cut: int | None
    hops: int
    beside: int
    jump: int | None
    jump_cut: int | None
    graft: int | None
    graft_cut: int | None

    @property
    def place(self) -> tuple[int | None, ...]:
        """Where it hangs and what it carries: all else is derived."""
        return self.at, self.cut, self.own, self.source, self.source_cut


def bring_home(tx: Tx, aside: Aside) -> None:
    """Give nodes of a conversation that never was to that of the node they hang at."""
    for seq, conversation in tx.rows(_STRAYED):
        aside.changed("node", named(tx, seq), "its conversation is unreadable")
        tx.run("UPDATE node SET conversation = ? WHERE seq = ?", (conversation, seq))


def regrow(tx: Tx, aside: Aside, known: Found, *, highest: int, now_ms: int, who: Who) -> None:
    """Make the tree whole. Numbers up to HIGHEST were given to nodes; KNOWN has what indexes say of those lost."""
    husks: dict[int, str] = {}
    there = [seq for (seq,) in tx.rows("SELECT seq FROM node ORDER BY seq")]
    for lost in [LostNode(*found) for found in tx.rows(_LOST)]:
        if 0 < lost.seq <= highest and lost.seq not in husks:
            husks |= dict.fromkeys(_fill_in(tx, lost, there, known), HUSK_OF_LOST)
    husks |= dict.fromkeys(_add_ends(tx, there, known, highest), HUSK_OF_LOST)
    for row in _each(tx):
        if not _placed(tx, row, aside):
            husks[row.seq] = REPLACED
    for seq, words in sorted(husks.items()):
        conversation = tx.value("SELECT conversation FROM node WHERE seq = ?", (seq,))
        told = NoticeGiven(what="repair", text=words)
        log.write(tx, told, who=Who(by="system", via=who.via), now_ms=now_ms, conversation=conversation, node=seq)


def named(tx: Tx, seq: int) -> Mapping[str, Any]:
    """The row of a node by its columns."""
    cursor = tx.connection.execute("SELECT * FROM node WHERE seq = ?", (seq,))
    values = cast("tuple[Any, ...]", cursor.fetchone())
    columns = [row[1] for row in tx.rows("PRAGMA table_info(node)")]
    return dict(zip(columns, values, strict=True))


# Husks for what is lost ---------------------------------------------------------------------------------------------


def _fill_in(tx: Tx, lost: LostNode, there: list[int], known: Found) -> list[int]:
    """Put husks where LOST and what was lost above it stood; their seqs, that of LOST the last. THERE: all nodes."""
    above, chain = _as_known(lost, there, known) or _as_told_below(tx, lost, there)
    spot = Spot(above.seq, above.cut)
    for index, number in enumerate(chain):
        is_reply = bool(lost.is_reply) == ((len(chain) - index) % 2 == 1)
        _add_husk(tx, lost, number, spot, known.names.get(number), is_reply=is_reply)
        insort(there, number)
        spot = Spot(number)
    return chain


def _as_known(lost: LostNode, there: list[int], known: Found) -> tuple[Above, list[int]] | None:
    """Where the index of places has LOST and all that was lost above it; None where it does not lead to a node."""
    taken, chain, place = set(there), [lost.seq], known.places.get(lost.seq)
    while place is not None and place[0] and place[0] not in taken:
        if not 0 < place[0] < chain[-1]:
            return None
        chain.append(place[0])
        place = known.places.get(place[0])
    return None if place is None else (Above(*place, 0), chain[::-1])


def _as_told_below(tx: Tx, lost: LostNode, there: list[int]) -> tuple[Above, list[int]]:
    """Where LOST can have hung, as all that hung below it tells.

    Where it is certain how many are missing there is one for each, so that every path keeps its length.
    """
    above = Above(*(tx.one(_ABOVE, (lost.seq,)) or (0, 0, 0)))
    below = tx.each(_BELOW, (above.seq, lost.conversation, lost.seq, lost.entries))
    could = (above, *(Above(seq, 0, entries) for seq, entries in below))
    fits = [place for place in could if 1 <= lost.entries - place.entries <= _missing(there, place.seq, lost.seq)]
    if len(fits) == 1 and lost.entries - fits[0].entries <= limits.path_entries_max:
        return fits[0], _numbers(there, lost.seq, lost.entries - fits[0].entries)
    return above, [lost.seq]


def _add_ends(tx: Tx, there: list[int], known: Found, highest: int) -> Iterator[int]:
    """Put husks where nodes are lost below which nothing hung, as far as the index of places has them; their seqs."""
    taken = set(there)
    for number, (at, cut) in sorted(known.places.items()):
        if number in taken or not 0 < at < number <= highest or at not in taken:
            continue
        (above,) = tx.rows("SELECT conversation, 0, created_ms, role IS NOT 'assistant' FROM node WHERE seq = ?", (at,))
        lost = LostNode(number, *above)
        _add_husk(tx, lost, number, Spot(at, cut), known.names.get(number), is_reply=bool(lost.is_reply))
        taken.add(number)
        yield number


def _missing(there: list[int], after: int, upto: int) -> int:
    """How many numbers above AFTER, up to UPTO, no node has."""
    return upto - after - (bisect_right(there, upto) - bisect_right(there, after))


def _numbers(there: list[int], upto: int, count: int) -> list[int]:
    """The highest COUNT numbers up to UPTO that no node has, rising."""
    taken, number, found = set(there), upto, list[int]()
    while len(found) < count:
        if number not in taken:
            found.append(number)
        number -= 1
    return found[::-1]


def _add_husk(tx: Tx, lost: LostNode, number: int, at: Spot, name: bytes | None, *, is_reply: bool) -> None:
    made = make_id(lost.created_ms, sha256(f"lost node {number}".encode()).digest()[:10])
    if name is None or tx.value("SELECT 1 FROM node WHERE id = ?", (name,)):
        name = bytes.fromhex(made)
    row = emptied(
        {
            "seq": number,
            "id": name,
            "role": "assistant" if is_reply else "user",
            "at_node": at.node or None,
            "at_cut": at.cut,
            "length": 1,
            "conversation": lost.conversation,
            "created_ms": lost.created_ms,
        }
    )
    tx.run(f"INSERT INTO node ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


# What each node says of the path above it ---------------------------------------------------------------------------


def _each(tx: Tx) -> Iterator[Row]:
    """Every node, older ones first: each is asked for when those before it are in order."""
    found = tx.one(_ROWS, (0,))
    while found is not None:
        yield Row(*found)
        found = tx.one(_ROWS, (found[0],))


def _placed(tx: Tx, row: Row, aside: Aside) -> bool:
    """Derive anew what ROW says; False where only a husk of it can stay."""
    before, place = astuple(row), row.place
    stays = _means_something(tx, row)
    if not stays:
        aside.row("node", named(tx, row.seq), REPLACED)
        tx.run(_EMPTY, (row.seq,))
        row.own, row.source, row.source_cut = 1, None, None
    _hang(tx, row)
    _derive(tx, row)
    if stays and row.place != place:
        aside.changed("node", named(tx, row.seq), "its place is not there any more, or not all that it carried")
    if astuple(row) != before:
        tx.run(_WRITE, (*(getattr(row, name) for name in _COLUMNS), row.seq))
    return stays


def _means_something(tx: Tx, row: Row) -> bool:
    match row.role:
        case None:
            return _carries(tx, row)
        case "tool" if not row.purged:
            return _answers(tx, row)
    row.own = 1
    return True


def _carries(tx: Tx, graft: Row) -> bool:
    """Whether what GRAFT carries begins where it says: with fewer entries, where some of them are lost."""
    if walk.role_of(tx, graft.first or 0) is None:
        return False
    around = tx.value("SELECT own FROM node WHERE seq = ?", (graft.source,))
    if around is None and graft.own == 1:
        graft.source, graft.source_cut = graft.first, 0
        return True
    if around is None or not 0 <= (graft.source_cut or 0) < around:
        return False
    source = Spot(graft.source or 0, graft.source_cut or 0)
    try:
        whole = walk.size(tx, source)
        if graft.own <= whole and walk.last(tx, walk.prefix(tx, source, whole - graft.own + 1)) == graft.first:
            return True
        found = [row[0] for row in walk.messages(tx, source, query=walk.BARE)]
    except StoreUnusable:
        return False
    if graft.first not in found:
        return False
    graft.own = len(found) - found.index(graft.first)
    return True


def _answers(tx: Tx, results: Row) -> bool:
    """Whether the calls of the reply it hangs at are those that RESULTS answer; nobody knows them of a husk."""
    results.own = 1
    reply = tx.one("SELECT role, parts FROM node WHERE seq = ?", (results.at,))
    if reply is None or reply[0] != "assistant" or results.cut:
        return False
    if reply[1] == walk.EMPTY_PARTS:
        return True
    said = tx.value("SELECT parts FROM node WHERE seq = ?", (results.seq,))
    answered = [part.call for part in results_of(wire.decode(said, tuple[Part, ...]))]
    return answered == [part.call for part in calls_of(wire.decode(reply[1], tuple[Part, ...]))]


def _hang(tx: Tx, row: Row) -> None:
    """Let ROW hang inside an older node of its own conversation, or else begin a path."""
    around = tx.value("SELECT own FROM node WHERE seq = ? AND conversation = ?", (row.at, row.conversation))
    row.at, row.cut = (None, 0) if around is None else (row.at, min(max(row.cut, 0), around - 1))


def _derive(tx: Tx, row: Row) -> None:
    above = append.pointers(tx, row.conversation, Spot(row.at or 0, row.cut))
    where, what = ("at_node = ?", row.at) if row.at else ("at_node IS NULL AND conversation = ?", row.conversation)
    older = tx.value(
        f"SELECT EXISTS (SELECT 1 FROM node WHERE {where} AND at_cut = ? AND seq < ?)", (what, row.cut, row.seq)
    )
    row.length, row.hops = above.size + row.own, above.hops + 1
    row.beside = int(bool(row.beside or row.cut or older))
    row.jump, row.jump_cut = above.jump.node or None, above.jump.cut
    row.graft, row.graft_cut = above.graft.node or None, above.graft.cut
