"""Walking up from a place: how a path is read with its grafts expanded, and a place on it found without reading it.

A path is first cut where its grafts begin and end, without reading it: each node knows the nearest graft above it. What
is left are spans of messages that hang below each other. Nothing here calls itself: nesting is worked off from a list.
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
"""A message met on the way up, with the columns that were asked for, its seq first."""

CHUNK = 1_024
"""How many entries of a path are read at a time."""

_BROKEN = "broken path"

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

TOP = "n.length, n.source_node IS NOT NULL OR n.graft_node IS NOT NULL"
"""What must be known of the node n that a path ends with: its length, and whether grafts are met on it."""
_SIZED = "SELECT length FROM node WHERE seq = ?"

# The last graft on the way to a place: where its part of the path begins and ends, where it hangs, what it carries.
_GRAFT = """SELECT g.seq, g.id, iif(n.source_node IS NULL, n.graft_cut, :cut) leave, g.length, g.own,
    ifnull(g.at_node, 0), g.at_cut, g.source_node, g.source_cut, s.length, s.own
  FROM node n JOIN node g ON g.seq = iif(n.source_node IS NULL, n.graft_node, n.seq)
  LEFT JOIN node s ON s.seq = g.source_node WHERE n.seq = :node"""

# The results that follow a place: a tool node, or a graft that begins with one (of a reply that was edited).
_RESULTS = """SELECT c.seq, c.own - 1 FROM node p CROSS JOIN node c ON c.at_node = p.seq AND c.at_cut = 0
  LEFT JOIN node f ON f.seq = c.first
  WHERE p.seq = ? AND p.role = 'assistant' AND (p.purged OR instr(p.parts, '"tool_call"'))
    AND ifnull(c.role, f.role) = 'tool'
  ORDER BY c.seq LIMIT 1"""


def reading(columns: str) -> str:
    """The query that reads COLUMNS of node n up a path on which no graft is met, newest first.

    Its arguments: the node the path ends with, and how many entries at the path's beginning are not wanted.
    """
    return f"""WITH RECURSIVE up (seq) AS (
      VALUES (?) UNION ALL SELECT n.at_node FROM up CROSS JOIN node n ON n.seq = up.seq WHERE n.length > ?
    ) SELECT {columns} FROM up CROSS JOIN node n ON n.seq = up.seq"""


LIGHT = reading("n.seq, n.id, n.role, n.parts")
BARE = reading("n.seq")
"""Only which messages, nothing of what they say."""


class LightEntry(Struct, frozen=True, gc=False):
    """An entry, light: its node, the JSON of its parts, the graft it came through (0: none), the places around it."""

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


class GraftName(Struct, frozen=True, gc=False):
    """The two names of a graft that is met on a path."""

    node: int
    id: bytes


class Stretch(Struct, frozen=True, gc=False):
    """Messages of a path that stand together, oldest first: they hang on the path itself, or came through one GRAFT of
    it, which has LEFT more entries after them."""

    graft: GraftName | None
    left: int
    rows: list[Row]


class Span(Struct, frozen=True, gc=False):
    """What is still to be read: the last COUNT entries of the path at a place that has SIZE; GRAFT, LEFT as above."""

    spot: Spot
    size: int
    count: int
    graft: GraftName | None = None
    left: int = 0


class PlainSpan(Span, frozen=True, gc=False):
    """A span on which no graft is met."""


Near: TypeAlias = dict[Spot, Spot]
"""Of each source that grafts share: the place on its path where the last of them was found to end. As no message stands
twice, the next one upwards ends above it, and is found from there in fewer looks."""


class Carried(Struct, frozen=True, gc=False):
    """What the last graft on the way to a place brings: entries BEGIN to UPTO of that path; SOURCE, a place that has
    SOURCE_SIZE, where they are found; and the place HANGS where the path goes on upwards."""

    graft: GraftName
    leave: int
    begin: int
    upto: int
    hangs: Spot
    source: Spot
    source_size: int


def size(tx: Tx, spot: Spot) -> int:
    """How many entries the path at a place has."""
    if spot.node == 0:
        return 0
    return int(_known(tx.value(_SIZED, (spot.node,)), spot)) - spot.cut


def prefix(tx: Tx, spot: Spot, entries: int) -> Spot:
    """The place on the way to SPOT whose path has that many ENTRIES, in its one spelling: in logarithmic time."""
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


def is_whole(tx: Tx, spot: Spot) -> bool:
    """Whether the path at a place can be read, what its grafts carry too: read all the way."""
    try:
        return len(messages(tx, spot, query=BARE)) == size(tx, spot)
    except StoreUnusable as error:
        if not is_broken(error):
            raise
        return False


def messages(tx: Tx, spot: Spot, count: int | None = None, query: str = LIGHT) -> list[Row]:
    """The rows of the last COUNT messages of a path (None: all), oldest first, grafts expanded."""
    return [row for stretch in stretches(tx, spot, count, query) for row in stretch.rows]


def stretches(
    tx: Tx, spot: Spot, count: int | None = None, query: str = LIGHT, carried: str | None = None
) -> Iterator[Stretch]:
    """The last COUNT entries (None: all), oldest first. What grafts carry is read by CARRIED, where that differs."""
    if spot.node:
        length, grafts = _known(tx.one(f"SELECT {TOP} FROM node n WHERE n.seq = ?", (spot.node,)), spot)
        whole = Span(spot, length - spot.cut, length - spot.cut if count is None else count)
        yield from read_span(tx, whole, query, carried or query, grafts=grafts)


def read_span(tx: Tx, whole: Span, query: str, carried: str, *, grafts: bool) -> Iterator[Stretch]:
    """The entries of a span of a path, oldest first; GRAFTS: whether any can be met on it.

    No stretch is longer than CHUNK: rows that are used up before the next are read stay near the processor.
    """
    work: list[Span] = [whole] if grafts else list(_plain_spans(tx, whole))
    while work:
        span = work.pop()
        if isinstance(span, PlainSpan):
            yield _read(tx, span, carried if span.graft else query)
        else:
            work += _parted(tx, span)


def _read(tx: Tx, span: PlainSpan, query: str) -> Stretch:
    rows = tx.rows(query, (span.spot.node, span.size - span.count + 1))
    if len(rows) != span.count:
        raise broken(span.spot)
    rows.reverse()
    return Stretch(span.graft, span.left, rows)


def _parted(tx: Tx, span: Span) -> Iterator[Span]:
    """SPAN cut where grafts begin and end, newest first."""
    floor, spot, end, left = span.size - span.count, span.spot, span.size, span.left
    near: Near = {}
    while end > floor:
        met = last_graft(tx, spot, near)
        edge = max(met.upto, floor) if met else floor
        if end > edge:
            yield from _plain_spans(tx, Span(spot, end, end - edge, span.graft, left))
            left += end - edge
        if met is None or met.upto <= floor:
            return
        inner = met.upto - max(met.begin, floor)
        if span.graft is None:
            yield Span(met.source, met.source_size, inner, met.graft, met.leave)
        else:
            yield Span(met.source, met.source_size, inner, span.graft, left)
        spot, end, left = met.hangs, met.begin, left + inner


def _plain_spans(tx: Tx, span: Span) -> Iterator[PlainSpan]:
    """SPAN, on which no graft is met, cut into such as are read at once, newest first."""
    floor, end, left = span.size - span.count, span.size, span.left
    while end > floor:
        spot = span.spot if end == span.size else prefix(tx, span.spot, end)
        count = min(CHUNK, end - floor)
        yield PlainSpan(spot, end, count, span.graft, left)
        end, left = end - count, left + count


def last_graft(tx: Tx, spot: Spot, near: Near) -> Carried | None:
    """The last graft on the way to a place, if there is one. NEAR begins empty and is handed on from graft to graft."""
    row = tx.one(_GRAFT, {"node": spot.node, "cut": spot.cut})
    if row is None:
        return None
    node, id, leave, length, own, at, at_cut, source, source_cut, source_length, source_own = row
    if source_length is None:
        raise broken(spot)
    whole, cut = source_length - source_cut - leave, source_cut + leave
    if cut < source_own:
        ends = Spot(source, cut)
    else:
        shared = Spot(source, source_cut)
        ends = near[shared] = prefix(tx, near.get(shared, shared), whole)
    hangs = Spot(at, at_cut)
    return Carried(GraftName(node, id), leave, length - own, length - leave, hangs, ends, whole)


def light_entries(tx: Tx, spot: Spot, count: int | None = None) -> list[LightEntry]:
    """The last COUNT entries of the path at a place (None: all), oldest first."""
    before = ROOT
    if count is not None:
        whole = size(tx, spot)
        count = min(count, whole)
        before = prefix(tx, spot, whole - count)
    found: list[LightEntry] = []
    for stretch in stretches(tx, spot, count):
        if stretch.graft is None:
            for node, id, role, parts in stretch.rows:
                after = Spot(node)
                found.append(LightEntry(node, id, role, parts, 0, before, after))
                before = after
            continue
        seq, left = stretch.graft.node, stretch.left + len(stretch.rows)
        for node, id, role, parts in stretch.rows:
            left -= 1
            after = Spot(seq, left)
            found.append(LightEntry(node, id, role, parts, seq, before, after))
            before = after
    return found


def _known(value: Any, spot: Spot) -> Any:
    if value is None:
        raise broken(spot)
    return value


def broken(spot: Spot) -> StoreUnusable:
    """What there is to say of a path that cannot be read to its end."""
    return StoreUnusable(
        f"the path at node #{spot.node} is broken: a node of it is missing",
        hint="forkwood doctor tells what is damaged; forkwood doctor --repair salvages the rest",
        reason=_BROKEN,
        node=spot.node,
    )


def is_broken(error: StoreUnusable) -> bool:
    """Whether ERROR says that a path cannot be read: what a head that stands elsewhere may mend."""
    return error.facts.get("reason") == _BROKEN
