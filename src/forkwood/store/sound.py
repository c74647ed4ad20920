"""What the cells of a row must hold beyond what its table itself forbids, so that every verb can read it.

Doctor asks it of each row; a salvage puts in place of what cannot be read the least that is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias, get_args

import msgspec

from forkwood.domain import limits
from forkwood.domain.act import Act
from forkwood.domain.conversation import TitledBy
from forkwood.domain.event import PAYLOADS
from forkwood.domain.ids import Id
from forkwood.domain.message import By, Part, PartialReason, Role, Via
from forkwood.domain.model import Delta
from forkwood.domain.settings import Approvals, Parameters
from forkwood.store import walk
from forkwood.store.manifests import HUSK

Value: TypeAlias = Any
Cells: TypeAlias = Mapping[str, Value]
"""A row by its columns."""

_VIAS, _BYS, _PARTIALS, _ROLES = map(frozenset, (get_args(Via), get_args(By), get_args(PartialReason), get_args(Role)))
_ROLE_OF = {"user": "user", "model": "assistant", "tool": "tool", "system": "system"}
"""What each usually says."""
_TITLERS, _MODES = frozenset(get_args(TitledBy)), frozenset(get_args(Approvals))
_COUNTS = ("turns", "head_cut")
_SWITCHES = ("pinned", "archived", "hidden", "closing", "purged")
_SUMMED = {"manifest": ("digest", "body"), "blob": ("hash", "bytes")}
_NUMBERS = ("seq", "conversation")


def _spells(shape: Any) -> Callable[[Value], bool]:
    decode = msgspec.json.Decoder(shape).decode

    def holds(value: Value) -> bool:
        try:
            decode(value)
        except (msgspec.DecodeError, RecursionError):
            return False
        return True

    return holds


def _is_time(value: int) -> bool:
    return 0 <= value <= limits.time_ms_max


def _is_count(value: int) -> bool:
    return value >= 0


def _is_switch(value: int) -> bool:
    return value in {0, 1}


_is_door = _VIAS.__contains__
_names, _object, _parts = _spells(tuple[str, ...]), _spells(dict[str, Any]), _spells(tuple[Part, ...])
_payloads = {kind: _spells(shape) for kind, shape in PAYLOADS.items()}

_HOLDS: dict[str, dict[str, Callable[[Value], bool]]] = {
    "conversation": {
        "tools_off": _names,
        "params": _spells(Parameters),
        "tags": _names,
        "created_ms": _is_time,
        "updated_ms": _is_time,
        "titled_by": _TITLERS.__contains__,
        "approvals": _MODES.__contains__,
        **dict.fromkeys(_COUNTS, _is_count),
        **dict.fromkeys(_SWITCHES, _is_switch),
    },
    "node": {"parts": _parts, "via": _is_door, "partial": _PARTIALS.__contains__, "created_ms": _is_time},
    "event": {"by": _BYS.__contains__, "via": _is_door, "at_ms": _is_time},
    "run": {"error": _object, "created_ms": _is_time, "updated_ms": _is_time},
    "summary": {"covers": _spells(tuple[Id, ...]), "created_ms": _is_time},
    "receipt": {"response": _spells(object), "created_ms": _is_time},
    "draft": {"deltas": _spells(tuple[Delta, ...])},
    "queued": {
        "parts": _parts,
        "models": _names,
        "runs": _names,
        "by": _BYS.__contains__,
        "via": _is_door,
        "created_ms": _is_time,
    },
    "granted": {"created_ms": _is_time},
    "memory": {"via": _is_door, "created_ms": _is_time, "decided_ms": _is_time},
}
NOWHERE = limits.seq_max
"""The conversation of a node whose own cannot be: it is given another when all rows are there."""
_OF_PLACES = ("at_node", "at_cut", "beside", "hops")
_POINTERS = ("jump_node", "jump_cut", "graft_node", "graft_cut")
_OF_GRAFTS = ("source_node", "source_cut", "first")
ASKED = {
    "conversation": ("id", *_HOLDS["conversation"]),
    "node": ("id", "via", "partial", "created_ms"),
    "event": ("seq", *_HOLDS["event"]),
    "run": ("id", *_HOLDS["run"]),
    "summary": ("id", *_HOLDS["summary"]),
    "receipt": ("key", *_HOLDS["receipt"]),
    "draft": ("run", "deltas"),
    "queued": ("id", *_HOLDS["queued"]),
    "granted": ("id", "created_ms"),
    "memory": ("id", *_HOLDS["memory"]),
}
"""What doctor asks of each table here, after what names a row; parts and payloads have checks of their own."""

_LEAST: dict[str, Value] = {
    "tools_off": "[]",
    "params": "{}",
    "tags": "[]",
    "via": "import",
    "partial": None,
    "titled_by": "rule",
    "approvals": "ask",
    **dict.fromkeys((*_COUNTS, *_SWITCHES), 0),
}
"""What stands for a cell that cannot be read. A time is told by the row's name; for any other the row goes."""


def faults(table: str, row: Cells) -> list[str]:
    """The columns of ROW, of those it has, that do not hold what they must. NULL is the table's own affair."""
    holds = _HOLDS.get(table, {})
    found = [name for name, value in row.items() if name in holds and value is not None and not holds[name](value)]
    if table == "event" and not _is_event(row):
        found.append("payload")
    if table == "node" and not _is_husk_rightly(row):
        found.append("purged")
    if table in _SUMMED and not _is_summed(table, row):
        found.append(_SUMMED[table][0])
    return found + [name for name in _NUMBERS if not 0 < (1 if row.get(name) is None else row[name]) <= limits.seq_max]


def mended(table: str, row: Cells, wrong: list[str]) -> dict[str, Value] | None:
    """ROW with the least that is true in the columns that are WRONG; None where nothing can be, and the row goes."""
    kept = dict(row)
    for name in wrong:
        if name.endswith("_ms"):
            kept[name] = _time_of(row)
        elif (table, name) == ("node", "conversation"):
            kept[name] = NOWHERE
        elif (table, name) == ("node", "purged"):
            kept[name] = int(row["parts"] == walk.EMPTY_PARTS)
        elif table != "event" and name in _LEAST:
            kept[name] = _LEAST[name]
        else:
            return None
    return kept


def restored(row: Cells) -> dict[str, Value]:
    """ROW of a node whose parts are whole, with all that follows from its being a message; without parts, a graft.

    Numbers that tell of the path above it are the least that can be: they are derived anew from its place.
    """
    place, seq = emptied(row), row["seq"]
    shared = {name: place[name] for name in _OF_PLACES} | dict.fromkeys(_POINTERS)
    shared["revises"] = row["revises"] if _is_older(row["revises"], seq) else None
    if row["parts"] is None:
        own = min(max(1, row["own"]), limits.seq_max)
        graft = {"role": None, "own": own, "length": max(own, place["length"]), "purged": 0}
        return {**row, **shared, **graft, "source_cut": max(0, row["source_cut"] or 0)}
    message = {"own": 1, "purged": int(row["parts"] == walk.EMPTY_PARTS), **dict.fromkeys(_OF_GRAFTS)}
    role = row["role"] if row["role"] in _ROLES else _ROLE_OF.get(row["by"], "user")
    by = row["by"] if row["by"] in _BYS else "model" if role == "assistant" else "user"
    return {**row, **shared, **message, "length": place["length"], "role": role, "by": by}


def emptied(row: Cells) -> dict[str, Value]:
    """The husk of a node of which only the place can be kept."""
    seq, at = row["seq"], row.get("at_node")
    hangs = _is_older(at, seq)
    role = row["role"] if row.get("role") in ("user", "assistant") else "user"
    return {
        "seq": seq,
        "id": row["id"],
        "role": role,
        "at_node": at if hangs else None,
        "at_cut": max(0, row["at_cut"]) if hangs else 0,
        "own": 1,
        "length": max(1, min(row["length"], limits.seq_max)),
        "conversation": row["conversation"] if 0 < row["conversation"] <= limits.seq_max else NOWHERE,
        "by": "model" if role == "assistant" else "user",
        "via": "import",
        "created_ms": row["created_ms"] if _is_time(row["created_ms"]) else _time_of(row),
        "purged": 1,
        "beside": 1,
        "hops": 1,
        "parts": "[]",
    }


def _is_older(pointer: Value, seq: int) -> bool:
    return isinstance(pointer, int) and 0 < pointer < seq


def _is_husk_rightly(row: Cells) -> bool:
    """Whether a message says nothing just where it was purged."""
    if not {"parts", "purged"} <= row.keys() or row["parts"] is None or row["purged"] not in {0, 1}:
        return True
    return bool(row["purged"] == (row["parts"] == walk.EMPTY_PARTS))


def _is_event(row: Cells) -> bool:
    if "payload" not in row:
        return True
    holds = _payloads.get(row["kind"])
    return holds is not None and holds(row["payload"]) and bool(row["act"]) == issubclass(PAYLOADS[row["kind"]], Act)


def _is_summed(table: str, row: Cells) -> bool:
    digest, content = (row[name] for name in _SUMMED[table])
    if content == HUSK:
        return True
    found = content if isinstance(content, bytes) else content.encode(errors="replace")
    return bool(sha256(found).hexdigest() == digest and row.get("size", len(found)) == len(found))


def _time_of(row: Cells) -> int:
    """A name begins with the time it was made at; of what has none, nothing is known."""
    named = row.get("id")
    told = int.from_bytes(named[:6], "big") if isinstance(named, bytes) else 0
    return told if _is_time(told) else 0
