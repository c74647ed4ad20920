"""Names of things: a whole id, an unambiguous ending of one, the beginning of what is shown of it, or `#seq`."""

from __future__ import annotations

from typing import Any

from forkwood.domain.errors import NotFound
from forkwood.domain.ids import ID_DIGITS, Id, ending, is_ending, plain
from forkwood.domain.text import first_line
from forkwood.store.db import Tx

CANDIDATES_SHOWN = 20
SHOWN_DIGITS = 8
TITLED_SHOWN = 5
TITLE_CHARACTERS = 50

_NODES = "SELECT seq, id FROM node WHERE "
_RUNS = "SELECT seq, id FROM run WHERE "
_CONVERSATIONS = "SELECT seq, id FROM conversation WHERE purged = 0 AND "
_GRANTS = "SELECT seq, id FROM granted WHERE "
_ASKED = """SELECT seq, payload ->> '$.interaction' FROM event
  WHERE kind IN ('interaction.opened', 'interaction.closed') AND kind = 'interaction.opened'
    AND payload ->> '$.interaction' """
_ASKED_SO = f"{_ASKED} > '' AND payload ->> '$.interaction' GLOB ? ORDER BY +seq"
"""Read out of the index of interactions: that of all events is long."""
_QUEUED = "SELECT seq, id FROM queued WHERE "
_MEMORIES = "SELECT seq, id FROM memory WHERE "
_TITLED = """SELECT id, title FROM conversation WHERE purged = 0 AND lower(substr(title, 1, ?)) = lower(?)
  ORDER BY lower(title) = lower(?) DESC, updated_ms DESC, seq DESC LIMIT ?"""
_HUSKS = "SELECT seq, id FROM conversation WHERE purged = 1 AND "


def conversation(tx: Tx, name: str) -> int:
    """The conversation of that name. Raises NotFound; where the name fits several, with them as candidates."""
    found = _by_id(tx, _CONVERSATIONS, name)
    return _one(found, "conversation", name, (not found and titled(tx, name)) or "forkwood ls lists them")


def node(tx: Tx, name: str) -> int:
    """The node of that name. Raises NotFound; where the name fits several, with them as candidates."""
    found = _nodes(tx, name)
    hint = (not found and _numbered(tx, name)) or "forkwood tree lists the nodes of a conversation"
    return _one(found, "node", name, hint)


def whole(tx: Tx, name: str) -> int | None:
    """The conversation of that name where a node could be meant as well; None where the name is a node's.

    Raises NotFound; where the name fits several, of one kind or of both, with them as candidates.
    """
    talks, messages = _by_id(tx, _CONVERSATIONS, name), _nodes(tx, name)
    what = "node or conversation" if talks or not messages else "node"
    known = "" if talks or messages else _numbered(tx, name) or titled(tx, name)
    hint = known or "forkwood ls lists conversations, forkwood tree the nodes of one"
    seq = _one([*talks, *messages], what, name, hint)
    return seq if talks else None


def titled(tx: Tx, name: str) -> str:
    """The conversations whose titles are NAME or begin so, in words that say how to name them; empty for none."""
    if not name.strip() or not name.isprintable():
        return ""
    rows = tx.rows(_TITLED, (len(name), name, name, TITLED_SHOWN + 1))
    shown = [f"{ending(id.hex())} {first_line(title, TITLE_CHARACTERS)}" for id, title in rows[:TITLED_SHOWN]]
    more = " …" if len(rows) > TITLED_SHOWN else ""
    return f"a title names no conversation; by id: {', '.join(shown)}{more}" if rows else ""


def _numbered(tx: Tx, name: str) -> str:
    """How the node whose number NAME is can be named; empty where there is none."""
    return f"the message of that number is '#{name}' (with the quotes in a shell)" if _nodes(tx, f"#{name}") else ""


def husks(tx: Tx, name: str) -> list[int]:
    """The conversations of that name of which a purge has left a husk: only a purge means them."""
    return [seq for seq, _ in _by_id(tx, _HUSKS, name)]


def _nodes(tx: Tx, name: str) -> list[tuple[int, Id]]:
    digits = name.removeprefix("#")
    if digits == name:
        return _by_id(tx, _NODES, name)
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
        return []
    return _found(tx.rows(f"{_NODES}seq = ?", (int(digits),)))


def _by_id(tx: Tx, query: str, name: str) -> list[tuple[int, Id]]:
    digits = plain(name)
    if not is_ending(digits):
        return []
    if len(digits) == ID_DIGITS:
        return _found(tx.rows(f"{query}id = ?", (bytes.fromhex(digits),)))
    rows = tx.rows(f"{query}substr(id, -2) = ? ORDER BY seq", (bytes.fromhex(digits[-4:]),))
    so_ending = [(seq, id) for seq, id in _found(rows) if id.endswith(digits)]
    return so_ending or _by_shown_beginning(tx, query, digits)


def _by_shown_beginning(tx: Tx, query: str, digits: str) -> list[tuple[int, Id]]:
    """Ids are shown by their last eight digits, and people begin with the first of what they see."""
    if len(digits) >= SHOWN_DIGITS:
        return []
    rows = tx.rows(f"{query}hex(substr(id, -{SHOWN_DIGITS // 2})) GLOB ? ORDER BY seq", (f"{digits.upper()}*",))
    return _found(rows)


def _found(rows: list[tuple[Any, ...]]) -> list[tuple[int, Id]]:
    return [(seq, id.hex()) for seq, id in rows]


def _one(found: list[tuple[int, Id]], what: str, name: str, hint: str) -> int:
    if len(found) == 1:
        return found[0][0]
    if not found:
        raise NotFound(f"no {what} is named '{name}'", hint=hint, name=name)
    candidates = [id for _, id in found[:CANDIDATES_SHOWN]]
    more = " …" if len(found) > len(candidates) else ""
    raise NotFound(
        f"'{name}' fits {len(found)} {what.replace(' or ', 's or ')}s: {', '.join(candidates)}{more}",
        hint="give more of its last characters",
        name=name,
        candidates=candidates,
    )


def run(tx: Tx, name: str) -> Id:
    """The id of the run of that name. Raises NotFound; where the name fits several, with them as candidates."""
    seq = _one(_by_id(tx, _RUNS, name), "run", name, "forkwood runs lists them")
    return bytes(tx.value("SELECT id FROM run WHERE seq = ?", (seq,))).hex()


def grant(tx: Tx, name: str) -> Id:
    """The id of the grant of that name. Raises NotFound; where the name fits several, with them as candidates."""
    seq = _one(_by_id(tx, _GRANTS, name), "grant", name, "forkwood grants lists those that hold")
    return bytes(tx.value("SELECT id FROM granted WHERE seq = ?", (seq,))).hex()


def queued(tx: Tx, name: str) -> Id:
    """The id of the queued message of that name. Raises NotFound; where it fits several, with them as candidates."""
    seq = _one(_by_id(tx, _QUEUED, name), "queued message", name, "forkwood queue lists those that wait")
    return bytes(tx.value("SELECT id FROM queued WHERE seq = ?", (seq,))).hex()


def memory(tx: Tx, name: str) -> Id:
    """The id of the memory of that name. Raises NotFound; where the name fits several, with them as candidates."""
    seq = _one(_by_id(tx, _MEMORIES, name), "memory", name, "forkwood memory lists them")
    return bytes(tx.value("SELECT id FROM memory WHERE seq = ?", (seq,))).hex()


def interaction(tx: Tx, name: str) -> Id:
    """The id of the interaction of that name, open or closed. Raises NotFound; where it fits several, with them."""
    found = _interactions(tx, plain(name))
    seq = _one(found, "interaction", name, "forkwood pending lists what waits for a person")
    return dict(found)[seq]


def _interactions(tx: Tx, digits: str) -> list[tuple[int, Id]]:
    """Interactions are named in events, as text."""
    if not is_ending(digits):
        return []
    if len(digits) == ID_DIGITS:
        return [(seq, name) for seq, name in tx.rows(f"{_ASKED} = ?", (digits,))]
    found = tx.rows(_ASKED_SO, (f"*{digits}",))
    if not found and len(digits) < SHOWN_DIGITS:
        beginning = "?" * (ID_DIGITS - SHOWN_DIGITS) + digits + "*"
        found = tx.rows(_ASKED_SO, (beginning,))
    return [(seq, name) for seq, name in found]
