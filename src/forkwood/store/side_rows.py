"""Which rows of a salvage's side file go with what is purged, and what is left of the others.

A row that names whose it is goes with that. One that does not (bytes, a draft, a row that fits no table) stays only
where something that lives on is named in it, or names it: it may hold the words otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain.event import ACT_KINDS, PAYLOADS
from forkwood.domain.ids import is_id
from forkwood.store import purge
from forkwood.store.db import Tx
from forkwood.store.purge import Condemned
from forkwood.store.receipts import veiled

_NAMES = re.compile(rb"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{32})(?![0-9a-f])")
_NUMBER, _WORDS = (int, type(None)), (str, type(None))
_OWNED: dict[str, dict[str, type | tuple[type, ...]]] = {
    "node": {"seq": int, "id": str, "conversation": int, "revises": _NUMBER, "role": _WORDS, "at_node": _NUMBER,
             "run": _WORDS},
    "event": {"kind": str, "conversation": _NUMBER, "node": _NUMBER, "run": _WORDS, "payload": str},
    "conversation": {"seq": int, "title": str, "titled_by": str},
    "run": {"id": str, "conversation": _NUMBER, "error": _WORDS},
    "label": {"conversation": _NUMBER, "node": _NUMBER},
    "summary": {"conversation": _NUMBER},
    "memory": {"conversation": _NUMBER, "node": _NUMBER},
    "queued": {"id": str, "conversation": _NUMBER, "node": _NUMBER},
    "receipt": {"key": str, "response": _WORDS},
    "mark": {},
    "attachment": {},
    "current": {},
}  # fmt: skip
"""Tables whose rows say whose they are, or hold nobody's words, with the columns that are looked at and their types."""

_QUIET = frozenset(PAYLOADS) - ACT_KINDS - {"conversation.titled"}
"""Events that tell no title, no label and nothing of what was queued."""

_LIVING = """WITH named (name) AS (SELECT value FROM json_each(:names)),
    gone (run) AS (SELECT value FROM json_each(:runs))
  SELECT name FROM named JOIN node n ON n.id = unhex(name)
  UNION SELECT name FROM named JOIN conversation c ON c.id = unhex(name)
  UNION SELECT name FROM named JOIN run r ON r.id = unhex(name)
  UNION SELECT name FROM named JOIN attachment a ON a.blob = name
    WHERE a.node NOT IN (SELECT value FROM json_each(:nodes))
  UNION SELECT manifest FROM run WHERE lower(hex(id)) NOT IN gone AND manifest IN named"""


class Split(Struct, frozen=True, kw_only=True):
    """A side file as a purge leaves it: of its LINES so many are CHANGED or go, so many are LEFT. UNOWNED: those that
    go because nobody can tell whose they are."""

    lines: int
    changed: int
    left: int
    unowned: int


class _Line(Struct, frozen=True):
    """One line: its bytes, and its row where it holds one that can be read."""

    text: bytes
    table: str
    row: Any

    @property
    def owned(self) -> bool:
        """Whether it says whose it is."""
        columns = _OWNED.get(self.table)
        if columns is None or not isinstance(self.row, dict):
            return False
        return all(name in self.row and isinstance(self.row[name], kind) for name, kind in columns.items())


def split(tx: Tx, path: Path, what: Condemned) -> Split:
    """What a purge of WHAT would make of the side file at PATH."""
    found = [(line.owned, left is not None, left != line.text) for line, left in _left(tx, path, what)]
    return Split(
        lines=len(found),
        changed=sum(changed for _, _, changed in found),
        left=sum(stays for _, stays, _ in found),
        unowned=sum(not (owned or stays) for owned, stays, _ in found),
    )


def remaining(tx: Tx, path: Path, what: Condemned) -> Iterator[bytes]:
    """The lines of the side file at PATH that stay, some of them without titles made of what is purged."""
    return (left for _, left in _left(tx, path, what) if left is not None)


def _left(tx: Tx, path: Path, what: Condemned) -> Iterator[tuple[_Line, bytes | None]]:
    """Every line, and what is left of it; None where it goes."""
    wider = _widened(_lines(path), what)
    owned = (_left_of(line, wider) for line in _lines(path) if line.owned)
    staying = frozenset[str]().union(*(_names_in(left) for left in owned if left))
    named = frozenset[str]().union(*(_names_in(line.text) for line in _lines(path) if not line.owned))
    living = staying | _living(tx, named, wider)
    for line in _lines(path):
        if line.owned:
            yield line, _left_of(line, wider)
        else:
            yield line, line.text if _may_stay(line, wider, living) else None


def _left_of(line: _Line, what: Condemned) -> bytes | None:
    return None if _belongs(line, what) else _forgotten(line, what)


def _names_in(text: bytes) -> frozenset[str]:
    """Ids and digests that stand in TEXT."""
    return frozenset(found.decode() for found in _NAMES.findall(text))


def _lines(path: Path) -> Iterator[_Line]:
    with path.open("rb") as file:
        for text in file:
            try:
                said = wire.decode(text, dict[str, Any])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                said = {}
            yield _Line(text, str(said.get("table", "")), said.get("row", said))


def _widened(lines: Iterable[_Line], what: Condemned) -> Condemned:
    """WHAT with the messages of the side file that belong to it: of its conversations, its versions, its results."""
    found = [line.row for line in lines if line.table == "node" and line.owned]
    nodes, size = set(what.nodes), -1
    while size != len(nodes):
        size = len(nodes)
        nodes |= {row["seq"] for row in found if _is_of(row, nodes, what)}
        nodes |= {row["revises"] for row in found if row["seq"] in nodes and row["revises"]}
    of_them = [row for row in found if row["seq"] in nodes]
    return replace(
        what,
        nodes=frozenset(nodes),
        ids=what.ids | {row["id"] for row in of_them},
        runs=what.runs | {run for row in of_them if (run := _run_of(row["run"]))},
    )


def _is_of(row: dict[str, Any], nodes: set[int], what: Condemned) -> bool:
    results = row["role"] == "tool" and row["at_node"] in nodes
    return results or row["conversation"] in what.conversations or row["revises"] in nodes


def _belongs(line: _Line, what: Condemned) -> bool:
    """Whether a row that says whose it is belongs to WHAT."""
    row = line.row
    match line.table:
        case "node":
            return row["seq"] in what.nodes
        case "conversation":
            return row["seq"] in what.conversations
        case "run":
            return _run_of(row["id"]) in what.runs or row["conversation"] in what.conversations
        case "summary":
            return row["conversation"] in what.conversations or not what.ids.isdisjoint(_names_in(line.text))
        case "event":
            of_run = _run_of(row["run"]) in what.runs
            return of_run or row["conversation"] in what.conversations or row["node"] in what.nodes
        case "queued" if row["id"] in what.ids:
            return True
        case "label" | "memory" | "queued":
            return row["conversation"] in what.conversations or row["node"] in what.nodes
    return False


def _forgotten(line: _Line, what: Condemned) -> bytes:
    """The line of a row that stays, without what it tells of WHAT."""
    row = line.row
    match line.table:
        case "event":
            left = {**row, "payload": _left_of_payload(row, what)}
        case "run" if _run_of(row["id"]) in what.readers:
            left = {**row, "error": None}
        case "receipt" if row["response"]:
            left = {**row, **_left_of_receipt(row["key"], row["response"], what)}
        case "conversation" if _is_titled_by(row, what):
            left = {**row, "title": ""}
        case _:
            left = row
    return line.text if left == row else wire.encode({**wire.decode(line.text, dict[str, Any]), "row": left}) + b"\n"


def _is_titled_by(row: dict[str, Any], what: Condemned) -> bool:
    """Whether a conversation's title was made of WHAT: it may be garbled, and what told of it be lost."""
    by_nobody = row["titled_by"] != "user" and row["seq"] in what.begun
    return by_nobody or purge.is_titled_by(row["title"], row["titled_by"], what)


def _left_of_receipt(key: str, response: str, what: Condemned) -> dict[str, str]:
    """Key and response of a receipt that stays. One that cannot be read may be of WHAT: both say nothing then."""
    if not _reads(response, object):
        return {"key": veiled(key), "response": ""}
    return {"key": purge.left_of_key(key, response, what), "response": purge.left_of_response(response, what)}


def _left_of_payload(row: dict[str, Any], what: Condemned) -> str:
    """The payload of an event that stays, without what it tells of WHAT: all of it where it cannot be read, and is of
    where WHAT could be read, or can tell of any title."""
    payload, run = row["payload"], _run_of(row["run"])
    if _reads(payload, dict):
        return purge.left_of_event(row["kind"], row["conversation"], run, payload, what)
    is_apart = row["conversation"] is not None and row["conversation"] not in what.around
    return payload if is_apart and run not in what.readers and row["kind"] in _QUIET else ""


def _reads(text: str, shape: type) -> bool:
    """Whether TEXT spells a SHAPE."""
    try:
        wire.decode(text, shape)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _run_of(name: str | None) -> bytes | None:
    return bytes.fromhex(name) if name and is_id(name) else None


def _may_stay(line: _Line, what: Condemned, living: frozenset[str]) -> bool:
    """A line without an owner: it tells of pages and numbers alone, or names what lives on, and nothing that goes."""
    if isinstance(line.row, dict) and {"page", "first"} & set(line.row) and "why" in line.row:
        return True
    names = _names_in(line.text)
    return not living.isdisjoint(names) and _gone(what).isdisjoint(names)


def _gone(what: Condemned) -> frozenset[str]:
    return what.ids | {run.hex() for run in what.runs}


def _living(tx: Tx, names: frozenset[str], what: Condemned) -> frozenset[str]:
    """Those of NAMES by which the store knows something that is not of WHAT."""
    given = {
        "names": wire.text(sorted(names - _gone(what))),
        "runs": wire.text(sorted(run.hex() for run in what.runs)),
        "nodes": wire.text(sorted(what.nodes)),
    }
    return frozenset(name for (name,) in tx.rows(_LIVING, given))
