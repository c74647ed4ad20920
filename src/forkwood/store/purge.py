"""The one destruction: words go from every table, and husks remain, each with its place, role and time.

The append-only triggers let a purge through by a marker that is written and taken away in the purge's own transaction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain.ids import Id
from forkwood.domain.run_event import RunEnded
from forkwood.domain.scrub import GONE, OF_FAILURES, forgotten, is_made_of, renamed, scrubbed, titles_in
from forkwood.store import manifests, memories, reach, search, summaries
from forkwood.store.db import Tx
from forkwood.store.receipts import veiled

_TITLE_CHARACTERS_MIN = 3
"""A person who gave a shorter title hardly took it from a message."""

_OWN_WORDS = ("recovered", "repair")
"""Notices whose text is always Forkwood's own."""

_CALLS_THAT_STAY = """SELECT n.run, part.value ->> '$.call' FROM node n, json_each(n.parts) part
  WHERE n.purged = 0 AND part.value ->> '$.call' IS NOT NULL
    AND lower(hex(n.run)) IN (SELECT value FROM json_each(?))"""

_NAMES = re.compile("(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_INSIDE = "(SELECT value FROM json_each(?))"

_QUEUED_BLOBS = """SELECT part.value ->> '$.blob' FROM queued, json_each(queued.parts) part
  WHERE part.value ->> '$.blob' IS NOT NULL"""
_BEGUN = f"""SELECT seq FROM conversation c
  WHERE (SELECT min(n.seq) FROM node n WHERE n.conversation = c.seq) IN {_INSIDE}"""
_BY_NOBODY = f"SELECT seq, title FROM conversation WHERE titled_by <> 'user' AND title <> '' AND seq IN {_INSIDE}"
_QUEUED = f"SELECT id FROM queued WHERE conversation IN {_INSIDE} OR node IN {_INSIDE}"


class Condemned(Struct, frozen=True, kw_only=True):
    """What a purge is about: messages and whole conversations by seq, and what can hold words of theirs.

    RUNS speak of them themselves; the prompts of READERS held them, so that what is told of a failure may quote them.
    AROUND: the conversations in which they can be read. TITLES were made of them. BEGUN: the conversations that begin
    with one of them, so that a title nobody gave was made of it.
    """

    nodes: frozenset[int]
    conversations: frozenset[int]
    runs: frozenset[bytes]
    readers: frozenset[bytes]
    around: frozenset[int]
    titles: frozenset[str]
    ids: frozenset[Id]
    begun: frozenset[int] = frozenset()


def carried_outside(tx: Tx, nodes: Collection[int], conversations: Collection[int]) -> frozenset[int]:
    """Those of NODES that a graft of a conversation outside CONVERSATIONS carries, and that still say anything.

    A conversation that was purged itself keeps nothing: nobody can read there any more.
    """
    spelled = wire.text(sorted(nodes))
    words = [seq for (seq,) in tx.rows(f"SELECT seq FROM node WHERE purged = 0 AND seq IN {_INSIDE}", (spelled,))]
    unread = {*conversations, *(seq for (seq,) in tx.rows("SELECT seq FROM conversation WHERE purged = 1"))}
    outside = (found.nodes for found in reach.carriers(tx, words) if found.conversation not in unread)
    return frozenset().union(*outside)


def condemned_by_name(tx: Tx, ids: Collection[Id]) -> Condemned:
    """All that speaks of the messages and conversations of these names, as far as they are here."""
    found = condemned(tx, _seqs(tx, "node", ids), _seqs(tx, "conversation", ids))
    return replace(found, ids=found.ids | frozenset(ids))


def is_in_copy(tx: Tx, what: Condemned) -> bool:
    """Whether a copy of the store holds words of WHAT."""
    drafted = tx.value(f"SELECT 1 FROM draft WHERE lower(hex(run)) IN {_INSIDE}", (wire.text(_hex(what.runs)),))
    return bool(drafted) or is_queued(tx, what) or _tells_in_copy(tx, what)


def _tells_in_copy(tx: Tx, what: Condemned) -> bool:
    return tells_anything(tx, _seqs(tx, "node", what.ids), _seqs(tx, "conversation", what.ids), what.ids)


def is_queued(tx: Tx, what: Condemned) -> bool:
    """Whether the queue holds words of WHAT: in a copy also of what was not sent yet when that was made. A copy of the
    first version has no queue."""
    if tx.value("SELECT 1 FROM sqlite_schema WHERE name = 'queued'") is None:
        return False
    waits = f"SELECT 1 FROM queued WHERE parts <> '[]' AND lower(hex(id)) IN {_INSIDE}"
    return tx.value(waits, (wire.text(sorted(what.ids)),)) is not None


def forget_in_copy(tx: Tx, what: Condemned) -> None:
    """Destroy in a copy of the store what it has of WHAT."""
    found = condemned_by_name(tx, what.ids)
    destroy(
        tx, replace(found, runs=found.runs | what.runs, titles=found.titles | what.titles, ids=found.ids | what.ids)
    )


def _hex(names: Collection[bytes]) -> list[str]:
    return sorted(name.hex() for name in names)


def _seqs(tx: Tx, table: str, ids: Collection[Id]) -> list[int]:
    rows = tx.rows(f"SELECT seq FROM {table} WHERE lower(hex(id)) IN {_INSIDE}", (wire.text(sorted(ids)),))
    return [seq for (seq,) in rows]


def says_anything(tx: Tx, nodes: Collection[int], conversations: Collection[int]) -> bool:
    """Whether one of them is no husk yet."""
    words = f"SELECT 1 FROM node WHERE purged = 0 AND source_node IS NULL AND seq IN {_INSIDE}"
    whole = f"SELECT 1 FROM conversation WHERE purged = 0 AND seq IN {_INSIDE}"
    spelled = ((words, nodes), (whole, conversations))
    return any(tx.value(sql, (wire.text(sorted(seqs)),)) is not None for sql, seqs in spelled)


def tells_anything(tx: Tx, nodes: Collection[int], conversations: Collection[int], ids: Collection[Id]) -> bool:
    """Whether anything still tells words of them: a message that was lost may have left a title, or a label."""
    labelled = f"SELECT 1 FROM label WHERE node IN {_INSIDE}"
    return (
        says_anything(tx, nodes, conversations)
        or tx.value(labelled, (wire.text(sorted(nodes)),)) is not None
        or bool(_titles_of(tx, frozenset(nodes), frozenset(conversations), frozenset(ids)))
    )


def condemned(tx: Tx, nodes: Collection[int], conversations: Collection[int]) -> Condemned:
    """All that speaks of NODES and CONVERSATIONS."""
    seqs, whole = wire.text(sorted(nodes)), wire.text(sorted(conversations))
    held = reach.holders(tx, nodes)
    runs = tx.rows(
        """SELECT id FROM run WHERE conversation IN (SELECT value FROM json_each(:whole))
           OR from_node IN (SELECT value FROM json_each(:seqs)) OR tip_node IN (SELECT value FROM json_each(:seqs))
           UNION SELECT run FROM node WHERE run IS NOT NULL AND seq IN (SELECT value FROM json_each(:seqs))""",
        {"whole": whole, "seqs": seqs},
    )
    named = tx.rows(f"SELECT id, title FROM conversation WHERE seq IN {_INSIDE}", (whole,))
    queued = (name for (name,) in tx.rows(_QUEUED, (whole, seqs)))
    facts = memories.coming_from(tx, nodes, conversations)
    ids = frozenset(
        (*reach.ids_of(tx, nodes), *(row[0].hex() for row in named), *(name.hex() for name in queued), *facts)
    )
    titles = frozenset(title for _, title in named if title)
    return Condemned(
        nodes=frozenset(nodes),
        conversations=frozenset(conversations),
        runs=frozenset(row[0] for row in runs),
        readers=reach.runs_over(tx, held) | memories.readers(tx, facts),
        around=frozenset(reach.conversations_of(tx, list(held))) | frozenset(conversations),
        titles=titles | _titles_of(tx, frozenset(nodes), frozenset(conversations), ids),
        ids=ids,
        begun=_begun(tx, nodes),
    )


def destroy(tx: Tx, what: Condemned) -> None:
    """Take every word of WHAT out of every table. Places, roles, times, ids and digests of what was sent stay."""
    with _allowed(tx):
        _forget_queued(tx, what)
        memories.forget(tx, what.nodes, what.conversations)
        _husk(tx, what)
        _forget_conversations(tx, what)
        _forget_titles(tx, what)
        _scrub_events(tx, what)
        _scrub_receipts(tx, what)
        _forget_runs(tx, what)
        manifests.forget_unneeded(tx)
    tx.run("DELETE FROM digest")
    summaries.forget(tx, what.ids)
    search.remove(tx, sorted(what.nodes))


def close(tx: Tx, conversation: int) -> None:
    """Let nothing new begin in a conversation that is about to be purged."""
    tx.run("UPDATE conversation SET closing = 1 WHERE seq = ?", (conversation,))


def reopen(tx: Tx, conversations: Collection[int]) -> None:
    """The purge of these conversations was given up: anything may begin in them again. A husk stays closed."""
    whole = (wire.text(sorted(conversations)),)
    tx.run(f"UPDATE conversation SET closing = 0 WHERE purged = 0 AND seq IN {_INSIDE}", whole)


def closing(tx: Tx, conversation: int) -> bool:
    """Whether a purge of the conversation has begun."""
    return bool(tx.value("SELECT closing FROM conversation WHERE seq = ?", (conversation,)))


@contextmanager
def _allowed(tx: Tx) -> Iterator[None]:
    tx.run("INSERT INTO purging VALUES (1)")
    yield
    tx.run("DELETE FROM purging")


def _begun(tx: Tx, nodes: Collection[int]) -> frozenset[int]:
    return frozenset(seq for (seq,) in tx.rows(_BEGUN, (wire.text(sorted(nodes)),)))


def _titles_of(tx: Tx, nodes: frozenset[int], conversations: frozenset[int], ids: frozenset[Id]) -> frozenset[str]:
    """The titles that were ever made of the messages, and all that the conversations ever had.

    What a conversation that has BEGUN with one of them is called without anybody's doing was made of it, unless an
    event tells otherwise: the event can be lost, or the title garbled.
    """
    found, told = set[str](), set[tuple[int, str]]()
    rows = tx.each(
        """SELECT conversation, node, payload FROM event
           WHERE kind = 'conversation.titled' OR instr(payload, '"title"')"""
    )
    for conversation, node, text in rows:
        payload = wire.decode(text, dict[str, Any])
        titles = titles_in(payload)
        told |= {(conversation, title) for title in titles}
        if conversation in conversations or node in nodes or not ids.isdisjoint(_made_of(payload)):
            found |= titles
    untold = {row for row in tx.rows(_BY_NOBODY, (wire.text(sorted(_begun(tx, nodes))),)) if row not in told}
    return frozenset(found | {title for _, title in untold})


def _made_of(payload: dict[str, Any]) -> list[Id]:
    """The messages that a title by the model was made of."""
    return payload.get("nodes", []) if "after" in payload else []


def _forget_queued(tx: Tx, what: Condemned) -> None:
    """What still waited there says nothing any more, and does not come."""
    tx.run(
        f"""UPDATE queued SET parts = '[]', key = NULL, state = iif(state = 'sent', 'sent', 'removed')
            WHERE conversation IN {_INSIDE} OR lower(hex(id)) IN {_INSIDE}""",
        (wire.text(sorted(what.conversations)), wire.text(sorted(what.ids))),
    )


def _husk(tx: Tx, what: Condemned) -> None:
    seqs = (wire.text(sorted(what.nodes)),)
    tx.run(f"UPDATE node SET parts = '[]', purged = 1 WHERE seq IN {_INSIDE} AND source_node IS NULL", seqs)
    tx.run(f"DELETE FROM label WHERE node IN {_INSIDE}", seqs)
    tx.run(f"DELETE FROM attachment WHERE node IN {_INSIDE}", seqs)
    tx.run(f"DELETE FROM blob WHERE hash NOT IN (SELECT blob FROM attachment) AND hash NOT IN ({_QUEUED_BLOBS})")


def _forget_conversations(tx: Tx, what: Condemned) -> None:
    whole = (wire.text(sorted(what.conversations)),)
    tx.run(
        f"""UPDATE conversation SET title = '', system = NULL, tags = '[]', folder = NULL, params = '{{}}',
            profile = NULL, hidden = 1, purged = 1 WHERE seq IN {_INSIDE}""",
        whole,
    )
    tx.run(f"DELETE FROM label WHERE conversation IN {_INSIDE}", whole)


def _forget_titles(tx: Tx, what: Condemned) -> None:
    for seq, title, titled_by in tx.rows("SELECT seq, title, titled_by FROM conversation WHERE title <> ''"):
        if is_titled_by(title, titled_by, what):
            tx.run("UPDATE conversation SET title = '' WHERE seq = ?", (seq,))


def is_titled_by(title: str, titled_by: str, what: Condemned) -> bool:
    """Whether the TITLE of another conversation was made of WHAT."""
    long_enough = titled_by != "user" or len(title) >= _TITLE_CHARACTERS_MIN
    return bool(title) and long_enough and is_made_of(title, what.titles)


def _scrub_events(tx: Tx, what: Condemned) -> None:
    """What events tell of what is condemned, what they quote of it, and titles that were made of it."""
    changed: list[tuple[str, int]] = []
    calls = _Calls(tx, what.runs)
    rows = tx.each("SELECT seq, kind, conversation, run, node, payload FROM event ORDER BY seq")
    for seq, kind, conversation, run, node, payload in rows:
        if conversation in what.conversations or run in what.runs or node in what.nodes:
            said = _without_key(kind, scrubbed(wire.decode(payload, dict)))
            left = wire.text(renamed(said, partial(calls.name_of, run)))
        else:
            left = left_of_event(kind, conversation, run, payload, what)
        if left != payload:
            changed.append((left, seq))
    tx.connection.executemany("UPDATE event SET payload = ? WHERE seq = ?", changed)


def _without_key(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """A run tells under which key it was asked for."""
    return {**payload, "key": veiled(payload["key"])} if kind == "run.opened" and payload.get("key") else payload


class _Calls:
    """Names of our own for calls of runs whose words go; the provider's, where a message that stays has them."""

    def __init__(self, tx: Tx, runs: frozenset[bytes]) -> None:
        self._names: dict[bytes | None, dict[str, str]] = {}
        for run, call in tx.each(_CALLS_THAT_STAY, (wire.text(_hex(runs)),)):
            self._names.setdefault(run, {})[call] = call

    def name_of(self, run: bytes | None, call: str) -> str:
        names = self._names.setdefault(run, {})
        if call not in names:
            taken = frozenset(names.values())
            names[call] = next(name for number in count(1) if (name := f"call-{number}") not in taken)
        return names[call]


def left_of_event(kind: str, conversation: int | None, run: bytes | None, payload: str, what: Condemned) -> str:
    """The payload of an event that stays, without what it tells of WHAT."""
    quotes = kind in {"notice.given", "summary.failed"} and run is None and conversation in what.around
    if run in what.readers or quotes:
        return wire.text(_forgotten(_unquoted(kind, wire.decode(payload, dict)), what))
    return wire.text(_forgotten(wire.decode(payload, dict), what)) if _can_name(kind, payload) else payload


def _unquoted(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """What an event tells, without what a failure can have quoted: a provider's words stand in notices too."""
    if kind == "notice.given":
        return payload if payload.get("what") in _OWN_WORDS else {**payload, "text": GONE}
    found: dict[str, Any] = scrubbed(payload, OF_FAILURES)
    return found


def _can_name(kind: str, payload: str) -> bool:
    """Whether an event can hold a title, a label or what a queued message said: most need not be read."""
    return kind == "conversation.titled" or any(word in payload for word in ('"title"', '"label"', '"queued_parts"'))


def _forgotten(payload: dict[str, Any], what: Condemned) -> dict[str, Any]:
    found: dict[str, Any] = forgotten(payload, what.ids, what.titles)
    return found


def _scrub_receipts(tx: Tx, what: Condemned) -> None:
    changed: list[tuple[str, str, str, str]] = []
    for client, key, response in tx.each("SELECT client, key, response FROM receipt WHERE response IS NOT NULL"):
        left = left_of_response(response, what), left_of_key(key, response, what)
        if left != (response, key):
            changed.append((*left, client, key))
    tx.connection.executemany("UPDATE receipt SET response = ?, key = ? WHERE client = ? AND key = ?", changed)


def left_of_response(response: str, what: Condemned) -> str:
    """What a receipt gave, without what it tells of WHAT."""
    return wire.text(forgotten(wire.decode(response, object), what.ids, what.titles))


def left_of_key(key: str, response: str, what: Condemned) -> str:
    """The key of what was done to WHAT, as the RESPONSE names it, says nothing any more: a person can put words there.

    It is still known when it comes again.
    """
    names = {found[0] for found in _NAMES.finditer(response)}
    return key if names.isdisjoint(what.ids) and names.isdisjoint(_hex(what.runs)) else veiled(key)


def _forget_runs(tx: Tx, what: Condemned) -> None:
    """Drafts go; the error of a run's row is what its events, which are scrubbed by now, say of it."""
    for run in sorted(what.runs | what.readers):
        text = tx.value("SELECT payload FROM event WHERE run = ? AND kind = 'run.ended'", (run,))
        error = None if text is None else wire.decode(text, RunEnded).error
        tx.run("UPDATE run SET error = ? WHERE id = ?", (None if error is None else wire.text(error), run))
    tx.connection.executemany("DELETE FROM draft WHERE run = ?", ((run,) for run in sorted(what.runs)))
