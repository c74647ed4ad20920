"""Walking up from a place: how a path is read with its grafts expanded, and how a place on it is found without reading it.

Every path is read newest first along the nodes that hang below each other; where that meets a graft, what the graft
carries is read the same way. Nothing here calls itself: nesting is worked off from a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct

from forkwood.domain.errors import StoreUnusable
from forkwood.domain.message import Role
from forkwood.domain.tree import ROOT, Spot
from forkwood.store.db import Tx

Row: TypeAlias = tuple[Any, ...]
"""A node met on the way up: seq, id, role (None: a graft), JSON of its parts (of a graft: where the path leaves it) …"""

CHUNK = 1_024
"""How many entries of a path are read at a time."""

EMPTY_PARTS = "[]"
"""The parts of a husk. No message is stored without parts, so these say: purged."""

_PREFIX = """WITH RECURSIVE seek (node, cut) AS (
  VALUES (:node, :cut)
  UNION ALL SELECT iif(j.length - n.jump_cut >= :size, n.jump_node, n.at_node),
                   iif(j.length - n.jump_cut >= :size, n.jump_cut, n.at_cut)
    FROM seek JOIN node n ON n.seq = seek.node LEFT JOIN node j ON j.seq = n.jump_node
    WHERE n.length - n.own >= :size
) SELECT n.seq, n.length - :size FROM seek JOIN node n ON n.seq = seek.node
  WHERE n.length - n.own < :size AND n.length >= :size"""

_ROOTED = """WITH RECURSIVE up (seq) AS (
  VALUES (?) UNION ALL SELECT n.at_node FROM up JOIN node n ON n.seq = up.seq
) SELECT 1 FROM up JOIN node n ON n.seq = up.seq WHERE n.at_node IS NULL LIMIT 1"""

_SIZED = "SELECT length FROM node WHERE seq = ?"

_INSIDE = """SELECT g.source_node, g.source_cut, g.own, g.length, s.length - g.source_cut
  FROM node g JOIN node s ON s.seq = g.source_node WHERE g.seq = ?"""

# The results that follow a place: a tool node, or a graft that begins with one (of a reply that was edited).
_RESULTS = """SELECT c.seq, c.own - 1 FROM node p CROSS JOIN node c ON c.at_node = p.seq AND c.at_cut = 0
  LEFT JOIN node f ON f.seq = c.first
  WHERE p.seq = ? AND p.role = 'assistant' AND instr(p.parts, '"tool_call"') AND ifnull(c.role, f.role) = 'tool'
  ORDER BY c.seq LIMIT 1"""


def reading(columns: str = "", id_and_parts: str = "n.id, n.role, ifnull(n.parts, up.leave)") -> str:
    """The query that reads a path upwards, with COLUMNS of node n after the four that every row begins with.

    Its arguments: the node and cut of the place, and how many entries at the path's beginning are not wanted.
    """
    return f"""WITH RECURSIVE up (seq, leave) AS (
      VALUES (?, ?) UNION ALL
      SELECT n.at_node, n.at_cut FROM up CROSS JOIN node n ON n.seq = up.seq WHERE n.length - n.own > ?
    ) SELECT n.seq, {id_and_parts}{columns} FROM up CROSS JOIN node n ON n.seq = up.seq"""


LIGHT = reading()
BARE = reading(id_and_parts="NULL, n.role, up.leave")
"""Only which nodes, nothing of what they say."""


class Step(Struct, frozen=True, gc=False):
    """An entry of a path, light: its node, the JSON of its parts, the graft it came through (0: none), the places around it."""

    node: int
    id: bytes
    role: Role
    parts: str
    graft: int
    before: Spot
    after: Spot

    @property
    def purged(self) -> bool:
        """Whether only a husk is left of it."""
        return self.parts == EMPTY_PARTS


class Piece(Struct, frozen=True, gc=False):
    """The last COUNT entries of the path at a place that has SIZE."""

    spot: Spot
    size: int
    count: int


def size(tx: Tx, spot: Spot) -> int:
    """How many entries the path at a place has."""
    if spot.node == 0:
        return 0
    return _known(tx.value("SELECT length FROM node WHERE seq = ?", (spot.node,)), spot) - spot.cut


def prefix(tx: Tx, spot: Spot, entries: int) -> Spot:
    """The place on the way to SPOT whose path has that many ENTRIES, in its one spelling: a logarithmic number of looks."""
    if entries <= 0 or spot.node == 0:
        return ROOT
    return Spot(*_known(tx.one(_PREFIX, {"node": spot.node, "cut": spot.cut, "size": entries}), spot))


def spelled(tx: Tx, node: int, cut: int) -> Spot:
    """The one spelling of a place, exactly where it is: also between a reply and its results."""
    return Spot(node) if cut == 0 else prefix(tx, Spot(node), size(tx, Spot(node)) - cut)


def canonical(tx: Tx, node: int, cut: int) -> Spot:
    """The one spelling of a place; one between a reply and the results of its calls is read as the place after them."""
    return ROOT if node == 0 else behind_results(tx, spelled(tx, node, cut))


def behind_results(tx: Tx, spot: Spot) -> Spot:
    """SPOT, or the place after the results where it lies between them and their reply."""
    if spot.cut:
        inner = Spot(spot.node, spot.cut - 1)
        return inner if role_of(tx, last(tx, inner)) == "tool" else spot
    found = tx.one(_RESULTS, (spot.node,)) if spot.node else None
    return Spot(*found) if found else spot


def role_of(tx: Tx, node: int) -> Literal["system", "user", "assistant", "tool"] | None:
    """The role of a message; None for a graft."""
    return cast("Role | None", tx.value("SELECT role FROM node WHERE seq = ?", (node,)))


def last(tx: Tx, spot: Spot) -> int:
    """The message that the path at a place ends with; 0 for the empty path."""
    while spot.node:
        row = _known(tx.one("SELECT source_node, source_cut FROM node WHERE seq = ?", (spot.node,)), spot)
        if row[0] is None:
            return spot.node
        source = Spot(*row)
        spot = prefix(tx, source, size(tx, source) - spot.cut)
    return 0


def reaches_root(tx: Tx, spot: Spot) -> bool:
    """Whether every node on the way up is there: read all the way, for what damage may have left."""
    return spot.node == 0 or tx.value(_ROOTED, (spot.node,)) is not None


def messages(tx: Tx, spot: Spot, count: int | None = None, query: str = LIGHT) -> list[Row]:
    """The rows of the last COUNT messages of a path (None: all), oldest first, grafts expanded."""
    wanted = size(tx, spot) if count is None else count
    return [row for _, rows in stretches(tx, spot, wanted, query) for row in rows]


def stretches(
    tx: Tx, spot: Spot, count: int, query: str = LIGHT, carried: str | None = None
) -> Iterator[tuple[Row | None, list[Row]]]:
    """The last COUNT entries, oldest first, by what brought them: (None, rows of messages that hang on the path itself)
    or (row of a graft, rows of messages it carries, read by the query CARRIED where that differs).

    No stretch is longer than CHUNK: rows that are used up before the next are read stay near the processor.
    """
    whole = size(tx, spot)
    ends = range(whole - (count - 1) // CHUNK * CHUNK, whole + 1, CHUNK) if count else ()
    done = whole - count
    for end in ends:
        at = spot if end == whole else prefix(tx, spot, end)
        yield from _stretches(tx, Piece(at, end, end - done), query, carried or query)
        done = end


def _stretches(tx: Tx, piece: Piece, query: str, carried: str) -> Iterator[tuple[Row | None, list[Row]]]:
    floor, got = piece.size - piece.count, 0
    plain: list[Row] = []
    for row in reversed(tx.rows(query, (piece.spot.node, piece.spot.cut, floor))):
        if row[2] is not None:
            plain.append(row)
            continue
        if plain:
            yield None, plain
        rows = _expanded(tx, carried, inside(tx, row[0], row[3], floor))
        yield row, rows
        got += len(plain) + len(rows)
        plain = []
    if plain:
        yield None, plain
    _whole(got + len(plain), piece.count, piece.spot)


def steps(tx: Tx, spot: Spot, count: int | None = None) -> list[Step]:
    """The last COUNT entries of the path at a place (None: all), oldest first."""
    whole = size(tx, spot)
    count = whole if count is None else min(count, whole)
    before = prefix(tx, spot, whole - count)
    found: list[Step] = []
    for graft, rows in stretches(tx, spot, count):
        if graft is None:
            for node, id, role, parts in rows:
                after = Spot(node)
                found.append(Step(node, id, role, parts, 0, before, after))
                before = after
            continue
        seq, left = graft[0], graft[3] + len(rows)
        for node, id, role, parts in rows:
            left -= 1
            after = Spot(seq, left)
            found.append(Step(node, id, role, parts, seq, before, after))
            before = after
    return found


def _expanded(tx: Tx, query: str, whole: Piece) -> list[Row]:
    """The messages of a piece of path, oldest first. The next piece to read is the last of the list."""
    found: list[Row] = []
    pieces: list[Piece | list[Row]] = [whole]
    while pieces:
        piece = pieces.pop()
        if isinstance(piece, list):
            found += piece
            continue
        floor = piece.size - piece.count
        rows = tx.rows(query, (piece.spot.node, piece.spot.cut, floor))
        rows.reverse()
        start, later = 0, []
        for index in [index for index, row in enumerate(rows) if row[2] is None]:
            later += [rows[start:index], inside(tx, rows[index][0], rows[index][3], floor)]
            start = index + 1
        pieces += [rows[start:], *reversed(later)]
    _whole(len(found), whole.count, whole.spot)
    return found


def inside(tx: Tx, graft: int, leave: int, floor: int) -> Piece:
    """What a path carries through GRAFT, when it leaves it LEAVE entries before its end and begins after FLOOR entries."""
    node, cut, own, length, whole = _known(tx.one(_INSIDE, (graft,)), Spot(graft))
    source = Spot(node, cut)
    spot = prefix(tx, source, whole - leave) if leave else source
    return Piece(spot, whole - leave, min(own - leave, length - leave - floor))


def _known(value: Any, spot: Spot) -> Any:
    if value is None:
        raise StoreUnusable(
            f"the path at node #{spot.node} is broken: a node above it is missing",
            hint="forkwood doctor tells what is damaged; forkwood doctor --repair salvages the rest",
            node=spot.node,
        )
    return value


def _whole(got: int, wanted: int, spot: Spot) -> None:
    if got != wanted:
        _known(None, spot)
