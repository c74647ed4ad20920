"""The one destruction: words go from every table, and husks remain, each with its place, role and time.

The append-only triggers let a purge through by a marker that is written and taken away in the purge's own transaction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from msgspec import Struct

from forkwood import wire
from forkwood.domain.ids import Id
from forkwood.domain.message import Part, text_of
from forkwood.domain.scrub import scrubbed
from forkwood.domain.text import first_line
from forkwood.store import search, summaries, walk
from forkwood.store.db import Tx

_IDS = re.compile(r"[0-9a-f]{32}")
_TITLE_CHARACTERS_MIN = 3
"""A shorter first line is looked for as a whole title alone: inside other words it would be found everywhere."""


class Condemned(Struct, frozen=True, kw_only=True):
    """What a purge is about: nodes and whole conversations by seq, the runs that speak of them, titles made of them."""

    nodes: frozenset[int]
    conversations: frozenset[int]
    runs: frozenset[bytes]
    titles: frozenset[str]
    ids: frozenset[Id]


def carried_outside(tx: Tx, nodes: Collection[int], conversations: Collection[int]) -> frozenset[int]:
    """Those of NODES that a graft of a conversation outside CONVERSATIONS carries."""
    wanted, found = set(nodes), set[int]()
    grafts = tx.rows(
        """SELECT seq, own FROM node WHERE source_node IS NOT NULL AND purged = 0
           AND conversation NOT IN (SELECT value FROM json_each(?))""",
        (wire.text(sorted(conversations)),),
    )
    for graft, own in grafts:
        found.update(
            row[0] for row in walk.messages(tx, walk.spelled(tx, graft, 0), own, walk.BARE) if row[0] in wanted
        )
    return frozenset(found)


def condemned(tx: Tx, nodes: Collection[int], conversations: Collection[int]) -> Condemned:
    """All that speaks of NODES and CONVERSATIONS."""
    seqs, whole = wire.text(sorted(nodes)), wire.text(sorted(conversations))
    said = tx.rows("SELECT id, parts FROM node WHERE seq IN (SELECT value FROM json_each(?))", (seqs,))
    runs = tx.rows(
        """SELECT id FROM run WHERE conversation IN (SELECT value FROM json_each(:whole))
           OR from_node IN (SELECT value FROM json_each(:seqs)) OR tip_node IN (SELECT value FROM json_each(:seqs))
           UNION SELECT run FROM node WHERE run IS NOT NULL AND seq IN (SELECT value FROM json_each(:seqs))""",
        {"whole": whole, "seqs": seqs},
    )
    named = tx.rows("SELECT id, title FROM conversation WHERE seq IN (SELECT value FROM json_each(?))", (whole,))
    lines = {first_line(text_of(wire.decode(parts, tuple[Part, ...])), 60) for _, parts in said if parts}
    titles = {line for line in (*lines, *(title for _, title in named)) if line}
    return Condemned(
        nodes=frozenset(nodes),
        conversations=frozenset(conversations),
        runs=frozenset(row[0] for row in runs),
        titles=frozenset(titles),
        ids=frozenset(row[0].hex() for row in (*said, *named)),
    )


def destroy(tx: Tx, what: Condemned) -> None:
    """Take every word of WHAT out of every table. Places, roles, times, ids and digests of what was sent stay."""
    with _allowed(tx):
        _husk(tx, what)
        _forget_titles(tx, what)
        _scrub_events(tx, what)
        _scrub_receipts(tx, what)
        _forget_runs(tx, what)
    tx.run("DELETE FROM digest")
    summaries.forget(tx, what.ids)
    search.remove(tx, sorted(what.nodes))


def close(tx: Tx, conversation: int) -> None:
    """Let nothing new begin in a conversation that is about to be purged."""
    tx.run("UPDATE conversation SET closing = 1 WHERE seq = ?", (conversation,))


def closing(tx: Tx, conversation: int) -> bool:
    """Whether a purge of the conversation has begun."""
    return bool(tx.value("SELECT closing FROM conversation WHERE seq = ?", (conversation,)))


@contextmanager
def _allowed(tx: Tx) -> Iterator[None]:
    tx.run("INSERT INTO purging VALUES (1)")
    yield
    tx.run("DELETE FROM purging")


def _husk(tx: Tx, what: Condemned) -> None:
    seqs = wire.text(sorted(what.nodes))
    inside = "(SELECT value FROM json_each(?))"
    tx.run(f"UPDATE node SET parts = '[]', purged = 1 WHERE seq IN {inside} AND source_node IS NULL", (seqs,))
    tx.run(f"DELETE FROM attachment WHERE node IN {inside}", (seqs,))
    tx.run("DELETE FROM blob WHERE hash NOT IN (SELECT blob FROM attachment)")


def _forget_titles(tx: Tx, what: Condemned) -> None:
    whole = wire.text(sorted(what.conversations))
    inside = "(SELECT value FROM json_each(?))"
    tx.run(
        f"""UPDATE conversation SET title = '', system = NULL, tags = '[]', folder = NULL, params = '{{}}',
            profile = NULL, hidden = 1, purged = 1 WHERE seq IN {inside}""",
        (whole,),
    )
    tx.run(f"DELETE FROM label WHERE conversation IN {inside}", (whole,))
    for title in what.titles:
        tx.run(
            """UPDATE conversation SET title = '' WHERE titled_by <> 'user'
               AND (title = :title OR title = :title || ' (fork)') OR :is_long AND (title = :title
               OR titled_by <> 'user' AND instr(title, :title) > 0)""",
            {"title": title, "is_long": len(title) >= _TITLE_CHARACTERS_MIN},
        )
    seqs = wire.text(sorted(what.nodes))
    tx.run(
        f"""UPDATE conversation SET title = '' WHERE titled_by = 'model'
            AND seq IN (SELECT conversation FROM node WHERE seq IN {inside})""",
        (seqs,),
    )


def _scrub_events(tx: Tx, what: Condemned) -> None:
    """Events of what is condemned, and any that quote a title made of it."""
    spelled = _quotable(what)
    changed: list[tuple[str, int]] = []
    for seq, conversation, run, node, payload in tx.each("SELECT seq, conversation, run, node, payload FROM event"):
        spoken_of = conversation in what.conversations or run in what.runs or node in what.nodes
        if spoken_of or any(title in payload for title in spelled):
            changed.append((wire.text(scrubbed(wire.decode(payload, dict))), seq))
    tx.connection.executemany("UPDATE event SET payload = ? WHERE seq = ?", changed)


def _quotable(what: Condemned) -> list[str]:
    """Titles as JSON spells them, those that are long enough to be looked for inside other text."""
    return [wire.text(title)[1:-1] for title in what.titles if len(title) >= _TITLE_CHARACTERS_MIN]


def _scrub_receipts(tx: Tx, what: Condemned) -> None:
    spelled = _quotable(what)
    changed: list[tuple[str, str, str]] = []
    for client, key, response in tx.each("SELECT client, key, response FROM receipt WHERE response IS NOT NULL"):
        if not what.ids.isdisjoint(_IDS.findall(response)) or any(title in response for title in spelled):
            changed.append((wire.text(scrubbed(wire.decode(response, dict))), client, key))
    tx.connection.executemany("UPDATE receipt SET response = ? WHERE client = ? AND key = ?", changed)


def _forget_runs(tx: Tx, what: Condemned) -> None:
    """Drafts, errors and manifests that only condemned runs had."""
    runs = sorted(what.runs)
    for run in runs:
        tx.run("DELETE FROM draft WHERE run = ?", (run,))
        tx.run("UPDATE run SET error = NULL WHERE id = ?", (run,))
    whole = wire.text(sorted(what.conversations))
    tx.run(
        """DELETE FROM manifest WHERE digest IN
             (SELECT manifest FROM run WHERE conversation IN (SELECT value FROM json_each(:whole)))
           AND digest NOT IN (SELECT manifest FROM run WHERE manifest IS NOT NULL
             AND conversation NOT IN (SELECT value FROM json_each(:whole)))""",
        {"whole": whole},
    )
