"""Rescued rows made a whole store again: what lost its neighbours is given the least that is true, or taken out.

What was changed or taken out stands in the side file as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from forkwood.domain.ids import make_id
from forkwood.store.aside import Aside
from forkwood.store.db import Tx
from forkwood.store.rescue import NUMBERED, Found, missing

_HOMELESS = """WITH RECURSIVE bad (seq) AS (
  SELECT n.seq FROM node n LEFT JOIN node p ON p.seq = n.at_node LEFT JOIN node s ON s.seq = n.source_node
    WHERE CASE WHEN n.at_node IS NULL THEN n.at_cut <> 0 OR n.length <> n.own
        ELSE p.seq IS NULL OR p.conversation <> n.conversation OR n.at_cut NOT BETWEEN 0 AND p.own - 1
          OR n.length <> p.length - n.at_cut + n.own END
      OR n.source_node IS NOT NULL AND (s.seq IS NULL OR n.source_cut NOT BETWEEN 0 AND s.own - 1
        OR n.own > s.length - n.source_cut OR n.first NOT IN (SELECT seq FROM node))
  UNION SELECT n.seq FROM bad JOIN node n ON n.at_node = bad.seq
  UNION SELECT n.seq FROM bad JOIN node n ON n.source_node = bad.seq
) SELECT seq FROM bad"""

_LOST_CONVERSATIONS = """SELECT conversation, min(created_ms), max(created_ms), max(seq) FROM node
  WHERE conversation NOT IN (SELECT seq FROM conversation) GROUP BY conversation"""

_NAME_BY_EVENTS = """SELECT effect.value ->> '$.conversation' FROM event e, json_each(e.payload, '$.effects') effect
  WHERE e.conversation = ? AND e.kind IN ('conversation.created', 'conversation.forked')
    AND effect.value ->> '$.effect' = 'trash' LIMIT 1"""

_LOST_RUNS = """INSERT INTO run (id, conversation, from_node, from_cut, tip_node, tip_cut, status, model, leads,
    created_ms, updated_ms)
  SELECT e.run, e.conversation, n.seq, cut, n.seq, cut, 'queued', e.payload ->> '$.model', e.payload ->> '$.leads',
    e.at_ms, e.at_ms
  FROM (SELECT *, iif(instr(payload ->> '$.place', '~'), CAST(substr(payload ->> '$.place', 34) AS INTEGER), 0) AS cut
      FROM event WHERE kind = 'run.opened') e
  LEFT JOIN node n ON n.id = unhex(substr(e.payload ->> '$.place', 1, 32))
  WHERE e.run NOT IN (SELECT id FROM run) AND e.conversation IN (SELECT seq FROM conversation)
    AND (e.payload ->> '$.place' IS NULL OR n.seq IS NOT NULL) ORDER BY e.seq"""

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


def rejoin(tx: Tx, found: Found, aside: Aside, now_ms: int) -> None:
    """Bring the rescued rows into one whole."""
    for table in NUMBERED:
        newest = tx.value(f"SELECT ifnull(max(seq), 0) FROM {table}")
        highest = max(found.highest.get(table, 0), newest)
        for first, last in missing(tx, table, highest):
            aside.missing(table, first, last)
        _never_again(tx, table, highest)
    for lost in tx.rows(_LOST_CONVERSATIONS):
        _add_conversation(tx, lost, aside, now_ms)
    for (seq,) in tx.rows(f"{_HOMELESS} ORDER BY 1 DESC"):
        _take_out(tx, "node", f"seq = {seq}", "its place in the tree, or one above it, is lost", aside)
    _settle_pointers(tx, aside)
    for sql in (_LOST_RUNS, _HIDDEN_BY_EVENTS, _ATTACHED):
        tx.run(sql)


def _settle_pointers(tx: Tx, aside: Aside) -> None:
    """What points at a row that is lost points at nothing now; where a pointer is due, the row is taken out."""
    for table in ("mark", "label", "attachment", "current"):
        for column, parent, key, _ in _pointers(tx, table):
            where = f"{column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {parent})"
            _take_out(tx, table, where, f"its {parent} is lost", aside)
    for table in ("conversation", "run", "event", "node"):
        for column, parent, key, optional in _pointers(tx, table):
            where = f"{column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {parent})"
            if not optional:
                _take_out(tx, table, where, f"its {parent} is lost", aside)
                continue
            for row in _named(tx, f"SELECT * FROM {table} WHERE {where}"):
                aside.changed(table, row, f"its {column} is lost")
            tx.run(f"UPDATE {table} SET {column} = NULL WHERE {where}")


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
    name = tx.value(_NAME_BY_EVENTS, (seq,)) or make_id(now_ms, sha256(str(seq).encode()).digest()[:10])
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
