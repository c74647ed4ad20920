"""Rescued rows made a whole store again: what lost its neighbours is given the least that is true, or taken out.

What was changed or taken out stands in the side file as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from forkwood import wire
from forkwood.domain.act import Who
from forkwood.domain.ids import make_id
from forkwood.domain.message import Attachment, Part, ToolResult
from forkwood.store import book_checks, regrow, reruns, states
from forkwood.store.aside import Aside
from forkwood.store.db import Tx
from forkwood.store.manifests import HUSK, NEEDED
from forkwood.store.rescue import NUMBERED, Found, missing, tables
from forkwood.store.sound import NOWHERE

_LOST_CONVERSATIONS = """SELECT conversation, min(created_ms), max(created_ms), max(seq) FROM node
  WHERE conversation NOT IN (SELECT seq FROM conversation) GROUP BY conversation"""

_HOME_OF_STRAYS = "UPDATE node SET conversation = ? WHERE conversation = ?"

_NAME_BY_EVENTS = """SELECT effect.value ->> '$.conversation' FROM event e, json_each(e.payload, '$.effects') effect
  WHERE e.conversation = ? AND e.kind IN ('conversation.created', 'conversation.forked')
    AND effect.value ->> '$.effect' = 'trash' LIMIT 1"""

_HIDDEN_BY_EVENTS = """INSERT INTO mark (node, since)
  SELECT n.seq, max(e.seq) FROM event e, json_each(e.payload, '$.effects') effect,
      json_each(effect.value, '$.nodes') named JOIN node n ON n.id = unhex(named.value)
    WHERE effect.value ->> '$.effect' = 'mark'
    GROUP BY n.seq HAVING max(e.seq) = max(iif(effect.value ->> '$.hidden', e.seq, 0))
      AND NOT EXISTS (SELECT 1 FROM mark m WHERE m.node = n.seq AND m.until IS NULL)
  ON CONFLICT DO NOTHING"""

_ATTACHED = """INSERT INTO attachment (node, blob)
  SELECT DISTINCT n.seq, part.value FROM node n, json_tree(n.parts) part
    WHERE instr(n.parts, '"attachment"') AND part.key = 'blob' AND part.value IN (SELECT hash FROM blob)
  ON CONFLICT DO NOTHING"""


_WITH = {("queued", "node"): ", state = 'removed'"}
"""What changes with a pointer that is lost."""

_WRONG_MARKS = "max(since, ifnull(until, 0)) > (SELECT ifnull(max(seq), 0) FROM event) OR until < since"
_LOST_MANIFESTS = f"body = '{HUSK}' AND digest IN ({NEEDED})"
_LOST_DRAFTS = f"run NOT IN (SELECT id FROM run WHERE {states.ACTIVE})"


def rejoin(tx: Tx, found: Found, aside: Aside, *, now_ms: int, who: Who) -> None:
    """Bring the rescued rows into one whole."""
    highest = {table: _highest(tx, table, found) for table in tables(tx) if _is_numbered(tx, table)}
    for table, number in highest.items():
        for first, last in missing(tx, table, number) if table in NUMBERED else ():
            aside.missing(table, first, last)
        _never_again(tx, table, number)
    all_events = found.highest.get("event") == tx.value("SELECT count(*) FROM event")
    regrow.bring_home(tx, aside)
    tx.run(_HOME_OF_STRAYS, (highest["conversation"] + 1, NOWHERE))
    for lost in tx.rows(_LOST_CONVERSATIONS):
        _add_conversation(tx, lost, aside, now_ms)
    regrow.regrow(tx, aside, found, highest=highest["node"], now_ms=now_ms, who=who)
    _settle_pointers(tx, aside)
    _forget_lost_bytes(tx, aside)
    reruns.settle(tx, aside, all_events=all_events, now_ms=now_ms, who=who)
    _take_out(tx, "draft", _LOST_DRAFTS, "its run is over or lost", aside)
    _take_out(tx, "mark", _WRONG_MARKS, "it holds at no log number that was given", aside)
    _take_out(tx, "manifest", _LOST_MANIFESTS, "it is empty, and runs that stand need it", aside)
    for sql in (_HIDDEN_BY_EVENTS, _ATTACHED):
        tx.run(sql)
    for problem in book_checks.references(tx):
        aside.told(problem.message)


def _is_numbered(tx: Tx, table: str) -> bool:
    return tx.value("SELECT 1 FROM pragma_table_info(?) WHERE name = 'seq'", (table,)) is not None


def _highest(tx: Tx, table: str, found: Found) -> int:
    newest: int = tx.value(f"SELECT ifnull(max(seq), 0) FROM {table}")
    return max(found.highest.get(table, 0), newest)


def _forget_lost_bytes(tx: Tx, aside: Aside) -> None:
    """Let attachments whose bytes are lost say so, as those do whose bytes a person has given up."""
    rows = tx.rows("SELECT seq, parts FROM node WHERE instr(parts, '\"attachment\"')")
    kept = {digest for (digest,) in tx.rows("SELECT hash FROM blob")}
    for seq, spelled in rows:
        parts = wire.decode(spelled, tuple[Part, ...])
        left = tuple(_without_lost(part, kept) for part in parts)
        if left != parts:
            aside.changed("node", regrow.named(tx, seq), "bytes that were attached to it are lost")
            tx.run("UPDATE node SET parts = ? WHERE seq = ?", (wire.text(left), seq))


def _without_lost(part: Part, kept: set[str]) -> Part:
    match part:
        case Attachment(blob=blob) if blob not in kept:
            return replace(part, state="removed")
        case ToolResult(parts=inner):
            return replace(part, parts=tuple(_without_lost(one, kept) for one in inner))
    return part


def _settle_pointers(tx: Tx, aside: Aside) -> None:
    """What points at a row that is lost points at nothing now; where a pointer is due, the row is taken out."""
    for table in (*tables(tx, rowless=True), *tables(tx)):
        for column, parent, key, optional in _pointers(tx, table):
            where = f"{column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {parent})"
            if not optional:
                _take_out(tx, table, where, f"its {parent} is lost", aside)
                continue
            for row in _named(tx, f"SELECT * FROM {table} WHERE {where}"):
                aside.changed(table, row, f"its {column} is lost")
            tx.run(f"UPDATE {table} SET {column} = NULL{_WITH.get((table, column), '')} WHERE {where}")
    for column in ("from", "tip"):
        past = f"{column}_cut NOT BETWEEN 0 AND ifnull((SELECT own - 1 FROM node WHERE seq = {column}_node), 0)"
        tx.run(f"UPDATE run SET {column}_cut = 0 WHERE {past}")


def _pointers(tx: Tx, table: str) -> list[tuple[str, str, str, bool]]:
    """The foreign keys of TABLE: column, the table and column it points at, whether it may be empty."""
    optional = {name: not required for _, name, _, required, *_ in tx.rows(f"PRAGMA table_info({table})")}
    keys = tx.rows(f"PRAGMA foreign_key_list({table})")
    return [(column, parent, key, optional[column]) for _, _, parent, column, key, *_ in keys]


def _take_out(tx: Tx, table: str, where: str, why: str, aside: Aside) -> None:
    for row in _named(tx, f"SELECT * FROM {table} WHERE {where}"):
        aside.row(table, row, why)
    tx.run(f"DELETE FROM {table} WHERE {where}")


def _named(tx: Tx, sql: str) -> Iterator[Mapping[str, Any]]:
    cursor = tx.connection.execute(sql)
    for row in cursor:
        yield dict(zip((column[0] for column in cursor.get_description()), row, strict=True))


def _never_again(tx: Tx, table: str, highest: int) -> None:
    """A number that was given is never given again, also where its row is lost."""
    tx.run("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
    if highest:
        tx.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, highest))


def _add_conversation(tx: Tx, lost: tuple[Any, ...], aside: Aside, now_ms: int) -> None:
    """A row for a conversation of which only messages are left, under its own name where an event still has it."""
    seq, first_ms, last_ms, newest = lost
    name = tx.value(_NAME_BY_EVENTS, (seq,))
    if name is None or tx.value("SELECT 1 FROM conversation WHERE id = unhex(?)", (name,)):
        name = make_id(now_ms, sha256(str(seq).encode()).digest()[:10])
    row = {
        "seq": seq,
        "id": bytes.fromhex(name),
        "title": f"salvaged conversation {seq}",
        "titled_by": "rule",
        "head_node": newest,
        "created_ms": first_ms,
        "updated_ms": last_ms,
    }
    tx.run(
        f"INSERT INTO conversation ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
        tuple(row.values()),
    )
    tx.run("UPDATE conversation SET head_id = (SELECT id FROM node WHERE seq = ?1) WHERE seq = ?2", (newest, seq))
    aside.changed("conversation", row, "only its messages are left: title and settings are lost")
