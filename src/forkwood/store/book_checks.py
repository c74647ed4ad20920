"""Doctor's questions to the log and to what stands beside it: each derives a row anew, and yields what differs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.event import ACT_KINDS, PAYLOADS
from forkwood.domain.ids import Id, ending
from forkwood.domain.message import Attachment, Part, ToolResult
from forkwood.domain.run import ACTIVE
from forkwood.store import runs, search
from forkwood.store.db import Store, Tx
from forkwood.store.manifests import HUSK, needed
from forkwood.store.problem import Problem

_USED = """SELECT conversation AS seq, count(*) FILTER (WHERE kind = 'reply.kept') AS turns,
  total(payload ->> '$.usage.input') AS input, total(payload ->> '$.usage.output') AS output,
  sum(payload ->> '$.cost') AS cost
  FROM event WHERE kind IN ('reply.kept', 'conversation.titled', 'summary.made', 'summary.failed')
    AND conversation IS NOT NULL GROUP BY conversation"""

_COUNTS = f"""SELECT c.id, c.seq, c.turns, c.input, c.output, c.cost,
    ifnull(u.turns, 0), CAST(ifnull(u.input, 0) AS INTEGER), CAST(ifnull(u.output, 0) AS INTEGER), u.cost
  FROM conversation c LEFT JOIN ({_USED}) u ON u.seq = c.seq ORDER BY c.seq"""

_AGES = """SELECT c.id, c.seq, c.updated_ms,
    max(c.created_ms, ifnull((SELECT max(n.created_ms) FROM node n WHERE n.conversation = c.seq), 0)) AS least,
    ifnull((SELECT max(e.at_ms) FROM event e WHERE e.conversation = c.seq), 0) AS newest
  FROM conversation c"""

_WRITE_COUNTS = f"""UPDATE conversation SET turns = u.turns, input = CAST(u.input AS INTEGER),
    output = CAST(u.output AS INTEGER), cost = u.cost
  FROM ({_USED}) u WHERE u.seq = conversation.seq"""

_WRITE_AGES = f"""UPDATE conversation SET updated_ms = a.least
  FROM ({_AGES}) a WHERE a.seq = conversation.seq
    AND NOT conversation.updated_ms BETWEEN a.least AND max(a.least, a.newest)"""

_SOFT_REFERENCES = (
    ("run", "manifest", "manifest", "digest", ""),
    ("event", "run", "run", "id", ""),
    ("node", "run", "run", "id", "AND via <> 'import'"),
)
"""Columns that no foreign key holds: table, column, and what it points at. What was imported had its runs elsewhere."""

_NUMBERED = "SELECT name FROM sqlite_schema WHERE type = 'table' AND instr(sql, 'AUTOINCREMENT') ORDER BY name"
_TOLD_OF = ("conversation", "node")
"""Tables whose numbers events speak of, in columns of their names."""

_SEARCH = ("search", "search_term")
"""The tables that are an index themselves, in the order in which they are made; `search` brings what it is kept in."""

_NO_RUN = (StoreUnusable, msgspec.MsgspecError)
"""What folding says of events that cannot follow each other, are of no known kind, or cannot be read."""


def schema(tx: Tx) -> Iterator[Problem]:
    """The tables, indexes and triggers are those of this version, to the letter."""
    due, found, makeable = schema_of_this_version(), _schema(tx), dict(_makeable(tx))
    for name in sorted(due.keys() | found.keys()):
        if due.get(name) == found.get(name):
            continue
        sort = (due.get(name) or found[name])[0]
        what = "is missing" if name not in found else "is not of this version" if name in due else "is not ours"
        yield Problem(kind="schema", message=f"the {sort} {name} {what}", mendable=name in makeable)


def schema_of_this_version() -> dict[str, tuple[str, str]]:
    """Of each table, index and trigger by its name: what it is, and the statement that makes it."""
    fresh = Store.in_memory()
    try:
        with fresh.read() as tx:
            return _schema(tx)
    finally:
        fresh.close()


def mend_schema(tx: Tx) -> None:
    """Make the missing indexes and triggers, and the search index where it is gone whole."""
    for _, sql in _makeable(tx):
        tx.run(sql)


def _makeable(tx: Tx) -> list[tuple[str, str]]:
    """What is missing and can be made, in the order in which it is: nothing where a table is, with its rows."""
    due, found = schema_of_this_version(), _schema(tx)
    made = [*_SEARCH, *(name for name, (sort, _) in due.items() if sort in ("index", "trigger"))]
    missing = due.keys() - found.keys()
    if missing & {name for name, (sort, _) in due.items() if sort == "table" and not name.startswith("search")}:
        return []
    return [(name, due[name][1]) for name in made if name in missing]


def purge_marker(tx: Tx) -> Iterator[Problem]:
    """No purge is under way: its marker, which opens the append-only tables, never outlives its transaction."""
    if tx.value("SELECT count(*) FROM purging"):
        message = "the marker of a purge was left behind: messages and events could be changed"
        yield Problem(kind="purge marker", message=message, mendable=True)


def mend_purge_marker(tx: Tx) -> None:
    """Close what the marker holds open."""
    tx.run("DELETE FROM purging")


def references(tx: Tx) -> Iterator[Problem]:
    """Everything that is pointed at is there, also where no foreign key holds it."""
    for table, row, parent, _ in tx.each("PRAGMA foreign_key_check"):
        yield Problem(kind="dangling", message=f"row {row} of {table} points at a {parent} that is not there")
    for table, column, parent, key, but in _SOFT_REFERENCES:
        where = f"{column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {parent})"
        for (row,) in tx.each(f"SELECT seq FROM {table} WHERE {where} {but}"):
            yield Problem(kind="missing", message=f"row {row} of {table} speaks of a {parent} that is not there")


def numbers(tx: Tx) -> Iterator[Problem]:
    """Each table knows the highest number it has given, and no row has one beyond those that are given."""
    for table in _numbered(tx):
        given = tx.rows("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        oldest, newest = tx.rows(f"SELECT ifnull(min(seq), 1), ifnull(max(seq), 0) FROM {table}")[0]
        if oldest < 1 or newest > limits.seq_max:
            wrong = oldest if oldest < 1 else newest
            yield Problem(kind="number", message=f"row {wrong} of {table} has a number that is never given")
        elif not _is_number(given, newest):
            said = ", ".join(str(number) for (number,) in given) or "nothing"
            message = f"{table} says that it has given {said}; its newest row has number {newest}"
            yield Problem(kind="number", message=message, mendable=True)


def mend_numbers(tx: Tx) -> None:
    """Go on after the newest row, or after the newest that an event speaks of, where no table knows better."""
    for table in _numbered(tx):
        given = tx.rows("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        newest = tx.value(f"SELECT max(seq) FROM {table} WHERE seq <= ?", (limits.seq_max,)) or 0
        if _is_number(given, newest):
            continue
        told = f"SELECT max({table}) FROM event WHERE {table} <= ?"
        known = tx.value(told, (limits.seq_max,)) or 0 if table in _TOLD_OF else 0
        tx.run("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        tx.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, max(newest, known)))


def _numbered(tx: Tx) -> list[str]:
    return [name for (name,) in tx.rows(_NUMBERED)]


def _is_number(given: list[tuple[Any, ...]], newest: int) -> bool:
    """Whether what a table says it has GIVEN can be: at least its NEWEST row. It says nothing before its first."""
    match given:
        case [(int(number),)]:
            return bool(newest <= number < limits.seq_max)
    return not given and not newest


def marks(tx: Tx) -> Iterator[Problem]:
    """Marks begin and end at log numbers that were given."""
    sql = "SELECT node, since, until FROM mark WHERE max(since, ifnull(until, 0)) > ? OR until < since ORDER BY node"
    newest = tx.value("SELECT seq FROM sqlite_sequence WHERE name = 'event'") or 0
    for node, since, until in tx.each(sql, (newest,)):
        yield Problem(kind="mark", message=f"node #{node} is hidden from log number {since} to {until}: that cannot be")


def events(tx: Tx) -> Iterator[Problem]:
    """Every event is of a known kind, reads as that kind's payload, and says rightly whether it is an act."""
    decoders = {kind: msgspec.json.Decoder(shape) for kind, shape in PAYLOADS.items()}
    for seq, kind, act, payload in tx.each("SELECT seq, kind, act, payload FROM event ORDER BY seq"):
        try:
            if kind not in decoders:
                yield Problem(kind="event", message=f"event {seq} is of the unknown kind {kind}", event=seq)
                continue
            decoders[kind].decode(payload)
        except msgspec.MsgspecError as error:
            yield Problem(kind="event", message=f"event {seq} ({kind}) cannot be read: {error}", event=seq)
        if bool(act) != (kind in ACT_KINDS):
            yield Problem(kind="event", message=f"event {seq} ({kind}) is wrong about being an act", event=seq)


def counts(tx: Tx) -> Iterator[Problem]:
    """Turns, tokens, cost and age of each conversation are those of its replies and nodes."""
    for name, _, *row in tx.each(_COUNTS):
        kept, due = row[:4], row[4:]
        if kept[:3] != due[:3] or not _same_cost(kept[3], due[3]):
            yield _counted(name, f"turns, tokens and cost are kept as {kept}; its replies make {due}")
    for name, _, updated, least, newest in tx.each(f"{_AGES} ORDER BY c.seq"):
        if not least <= updated <= max(least, newest):
            yield _counted(name, f"it is kept as changed at {updated}; its nodes and events say {least} to {newest}")


def mend_counts(tx: Tx) -> None:
    """Count anew from the replies; an age that cannot be becomes that of the newest node."""
    tx.run("UPDATE conversation SET turns = 0, input = 0, output = 0, cost = NULL")
    tx.run(_WRITE_COUNTS)
    tx.run(_WRITE_AGES)


def run_rows(tx: Tx) -> Iterator[Problem]:
    """Every run's row says what its events say."""
    try:
        differing = runs.differing(tx)
    except _NO_RUN:
        for (name,) in tx.each("SELECT id FROM run ORDER BY seq"):
            if not _folds(tx, name.hex()):
                message = f"run {ending(name.hex())}: its events do not make a run; no run was compared with its events"
                yield Problem(kind="run", message=message, run=name.hex())
        return
    for run in differing:
        lost = _has_lost_events(tx, run)
        what = "some of its events are lost" if lost else "its row is not what its events say"
        yield Problem(kind="run", message=f"run {ending(run)}: {what}", run=run, mendable=not lost)


def mend_runs(tx: Tx) -> None:
    """Write the rows anew that are not what their events say."""
    for run in runs.differing(tx):
        if not _has_lost_events(tx, run):
            runs.repair(tx, run, 0)


def manifests(tx: Tx) -> Iterator[Problem]:
    """Every manifest is the one its digest names, or the husk of one that nobody can ask for any more."""
    kept = needed(tx)
    for digest, body in tx.each("SELECT digest, body FROM manifest ORDER BY digest"):
        if body == HUSK and digest not in kept:
            continue
        if sha256(body.encode()).hexdigest() != digest:
            yield Problem(kind="manifest", message=f"manifest {digest[:12]}… is not what its digest names")


def blobs(tx: Tx) -> Iterator[Problem]:
    """All bytes are those their hash names, and every attachment of a message has its bytes."""
    for digest, size, content in tx.each("SELECT hash, size, bytes FROM blob ORDER BY hash"):
        if size != len(content) or sha256(content).hexdigest() != digest:
            yield Problem(kind="blob", message=f"the bytes kept as {digest[:12]}… are not what their hash names")
    sql = "SELECT seq, id, parts FROM node WHERE instr(parts, '\"attachment\"') AND purged = 0 ORDER BY seq"
    for seq, name, parts in tx.each(sql):
        kept = {row[0] for row in tx.rows("SELECT blob FROM attachment WHERE node = ?", (seq,))}
        missing = _attached(parts) - kept
        if missing:
            message = (
                f"message {ending(name.hex())} speaks of bytes that are not kept for it: {', '.join(sorted(missing))}"
            )
            yield Problem(kind="attachment", message=message, node=name.hex())


def searches(tx: Tx) -> Iterator[Problem]:
    """Every message can be found by its words, and by no others."""
    if not {*_SEARCH} <= _schema(tx).keys():
        yield Problem(kind="search", message="there is no search index", mendable=True)
        return
    try:
        found = search.differences(tx)
    except msgspec.MsgspecError:
        yield Problem(kind="search", message="the search index cannot be compared while a message cannot be read")
        return
    for one in found:
        where = "the search index" if one.node is None else f"node #{one.node} in the search index"
        yield Problem(kind="search", message=f"{where} is {one.what}", mendable=True)


def _has_lost_events(tx: Tx, run: Id) -> bool:
    """Whether its row, an index, knows more than the events do: that it was opened at all, or that it is over."""
    told = {kind for (kind,) in tx.rows("SELECT DISTINCT kind FROM event WHERE run = ?", (bytes.fromhex(run),))}
    is_over = runs.details(tx, run).status not in ACTIVE
    return "run.opened" not in told or (is_over and "run.ended" not in told)


def _folds(tx: Tx, run: Id) -> bool:
    try:
        runs.rebuilt(tx, run)
    except _NO_RUN:
        return False
    return True


def _attached(parts: str) -> set[str]:
    try:
        decoded = wire.decode(parts, tuple[Part, ...])
    except msgspec.MsgspecError:
        return set()
    inner = [part for one in decoded for part in (one.parts if isinstance(one, ToolResult) else (one,))]
    return {part.blob for part in inner if isinstance(part, Attachment) and part.state != "removed"}


def _schema(tx: Tx) -> dict[str, tuple[str, str]]:
    rows = tx.rows("SELECT name, type, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' AND sql IS NOT NULL")
    return {name: (sort, sql) for name, sort, sql in rows}


def _same_cost(kept: float | None, due: float | None) -> bool:
    if kept is None or due is None:
        return kept is due
    return math.isclose(kept, due, rel_tol=1e-9, abs_tol=1e-12)


def _counted(name: bytes, what: str) -> Problem:
    return Problem(
        kind="counts", message=f"conversation {ending(name.hex())}: {what}", conversation=name.hex(), mendable=True
    )
