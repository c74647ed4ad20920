"""The one search index: written with each message, and asked by words, by FTS5's own syntax, or past it by scanning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import apsw
import msgspec

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.domain.hit import Hit, SearchResponse
from forkwood.domain.message import Part, Role
from forkwood.domain.query import (
    Word,
    asked,
    beginnings,
    expression,
    holds,
    raw_expression,
    raw_words,
    words_of_line,
)
from forkwood.domain.snippet import snippet
from forkwood.domain.words import fold, indexed, searchable
from forkwood.store.db import Tx

_SCANNED = "These characters are not indexed: messages were read one by one."
_SUBSTRING = "Messages were read one by one, inside words too."
_NOTHING = "No message holds these words, nor longer ones that begin so; --substring looks inside words too."
_FIRST_CANDIDATES = 4
"""Candidates for each hit wanted, before the index is asked for all: most words need no check that could fail."""

_parts = msgspec.json.Decoder(tuple[Part, ...])

_INDEXED = "SELECT seq, parts FROM node WHERE role IS NOT NULL AND NOT purged ORDER BY seq"
_HIT = """SELECT n.id, c.id, n.role, n.parts,
  c.hidden OR EXISTS (SELECT 1 FROM mark m WHERE m.node = n.seq AND m.until IS NULL)
  FROM node n JOIN conversation c ON c.seq = n.conversation WHERE n.seq = ?"""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One message that is not indexed as it should be; `stray`: there is none; no node: the index cannot be read."""

    node: int | None
    what: Literal["missing", "stray", "different", "unreadable"]


def add(tx: Tx, node: int, parts: Iterable[Part]) -> None:
    """Let the message of NODE (its seq) be found; part of the transaction that writes it."""
    tx.run("INSERT INTO search (rowid, words) VALUES (?, ?)", (node, indexed(parts)))


def remove(tx: Tx, nodes: Iterable[int]) -> None:
    """Let NODES be found no more, and leave no byte of their terms in the index's own pages: it is written anew."""
    tx.connection.executemany("DELETE FROM search WHERE rowid = ?", [(node,) for node in nodes])
    tx.run("INSERT INTO search (search) VALUES ('optimize')")


def rebuild(tx: Tx) -> None:
    """Make the index anew from the messages."""
    tx.run("INSERT INTO search (search) VALUES ('delete-all')")
    for node, parts in tx.each(_INDEXED):
        add(tx, node, _parts.decode(parts))
    tx.run("INSERT INTO search (search) VALUES ('optimize')")


def differences(tx: Tx) -> list[Difference]:
    """Where the index is not what the messages say, by the seq of the node: every term at every position is compared.

    Reads all messages and the whole index: about ten seconds for 100,000 messages.
    """
    due = {node: _digest(enumerate(indexed(_parts.decode(parts)).split())) for node, parts in tx.each(_INDEXED)}
    try:
        found = _indexed_digests(tx)
    except apsw.CorruptError:
        return [Difference(node=None, what="unreadable")]
    missing = [Difference(node=node, what="missing") for node in sorted(due.keys() - found.keys())]
    stray = [Difference(node=node, what="stray") for node in sorted(found.keys() - due.keys())]
    return (
        missing
        + stray
        + [Difference(node=node, what="different") for node, digest in due.items() if found.get(node, digest) != digest]
    )


def find(
    tx: Tx,
    words: str | Sequence[str],
    *,
    conversation: int | None = None,
    role: str | None = None,
    limit: int = 20,
    substring: bool = False,
    raw: bool = False,
) -> SearchResponse:
    """The messages of any branch that hold all of WORDS (a line, or words one by one) literally, best first.

    RAW takes WORDS as FTS5's own syntax. SUBSTRING reads every message, newest first, and finds them inside words.
    Raises Misused (nothing asked, not FTS5's syntax, no number of hits) and LimitExceeded (words, their length, hits).
    """
    _check_limit(limit)
    where = _Filter(conversation, role)
    if raw:
        if substring:
            raise Misused("--fts asks the index, --substring goes past it", hint="choose one of them")
        return _raw(tx, [words] if isinstance(words, str) else words, where, limit)
    wanted = asked(words_of_line(words) if isinstance(words, str) else words)
    if substring or not expression(wanted):
        return _scan(tx, wanted, where, limit, _SUBSTRING if substring else _SCANNED)
    hits = _whole(tx, wanted, where, limit)
    return SearchResponse(hits=hits, note=None if hits else _NOTHING)


def _digest(terms: Iterable[tuple[int, str]]) -> int:
    """A number for terms and their positions, whatever their order; comparable within this process."""
    return sum(map(hash, terms))


def _indexed_digests(tx: Tx) -> dict[int, int]:
    found = dict.fromkeys((node for (node,) in tx.each("SELECT rowid FROM search")), 0)
    for node, position, term in tx.each("SELECT doc, offset, term FROM search_term"):
        found[node] = found.get(node, 0) + hash((position, term))
    return found


class _Filter:
    """Of which conversation and role the messages must be; anything by default."""

    def __init__(self, conversation: int | None, role: str | None) -> None:
        pairs = (("conversation", conversation), ("role", role))
        self.sql = "".join(f" AND n.{column} = ?" for column, value in pairs if value is not None)
        self.args = tuple(value for _, value in pairs if value is not None)


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise Misused(f"A search for {limit} hits finds nothing", hint="--limit takes a number from 1 on")
    if limit > limits.search_hits_max:
        raise LimitExceeded(
            "Hits of one search", limit="search_hits_max", bound=limits.search_hits_max, got=limit,
            hint="narrow it down with -c or --role",
        )  # fmt: skip


def _whole(tx: Tx, words: Sequence[Word], where: _Filter, limit: int) -> tuple[Hit, ...]:
    """Messages with the words themselves; if they are too few, then those with words that begin so."""
    found = _ranked(tx, words, where, limit, frozenset())
    hits = [_hit(tx, node, words, round(1 + score, 6)) for node, score in found]
    longer = beginnings(words) if len(hits) < limit else None
    if longer is not None:
        more = _ranked(tx, longer, where, limit - len(hits), frozenset(node for node, _ in found))
        hits += [_hit(tx, node, longer, score) for node, score in more]
    return tuple(hits)


def _ranked(
    tx: Tx, words: Sequence[Word], where: _Filter, limit: int, known: frozenset[int]
) -> list[tuple[int, float]]:
    """Up to LIMIT messages, and their scores between 0 and 1, that hold all of WORDS literally and are not KNOWN."""
    literally = [word for word in words if word.checked]
    candidates = (
        (node, score)
        for node, score in _candidates(tx, expression(words), where, len(known) + limit * _FIRST_CANDIDATES)
        if node not in known and (not literally or _stands(_texts(tx, node), literally))
    )
    return list(islice(candidates, limit))


def _candidates(tx: Tx, query: str, where: _Filter, first: int) -> Iterator[tuple[int, float]]:
    """What the index names, best first, newer before older: FIRST of them at once, all others only if asked for."""
    yield from (rows := _asked_index(tx, query, where, first))
    if len(rows) == first:
        yield from islice(_asked_index(tx, query, where, -1), first, None)


def _asked_index(tx: Tx, query: str, where: _Filter, limit: int) -> list[tuple[int, float]]:
    join = "JOIN node n ON n.seq = s.rowid" if where.sql else ""
    rows = tx.rows(
        f"SELECT s.rowid, s.rank FROM search s {join} WHERE search MATCH ?{where.sql}"  # noqa: S608 - our own columns
        " ORDER BY s.rank, s.rowid DESC LIMIT ?",
        (query, *where.args, limit),
    )
    return [(node, _score(rank)) for node, rank in rows]


def _score(rank: float) -> float:
    """FTS5's rank (the better the more negative) between 0 and 1."""
    return round(rank / (rank - 1), 6)


def _raw(tx: Tx, words: Sequence[str], where: _Filter, limit: int) -> SearchResponse:
    try:
        found = _asked_index(tx, raw_expression(words), where, limit)
    except apsw.SQLError as error:
        engine = str(error).removeprefix("SQLError: ")
        raise Misused(
            f"FTS5 cannot read this query: {engine}", hint="without --fts words are taken literally", engine=engine
        ) from error
    shown = raw_words(words)
    return SearchResponse(hits=tuple(_hit(tx, node, shown, round(1 + score, 6)) for node, score in found))


def _scan(tx: Tx, words: Sequence[Word], where: _Filter, limit: int, note: str) -> SearchResponse:
    rows = tx.connection.execute(
        f"SELECT n.seq, n.parts FROM node n WHERE n.role IS NOT NULL AND NOT n.purged{where.sql}"  # noqa: S608
        " ORDER BY n.seq DESC LIMIT ?",
        (*where.args, limits.search_scan_messages_max + 1),
    )
    nodes: list[int] = []
    for count, (node, parts) in enumerate(rows):
        if count == limits.search_scan_messages_max:
            note += f" Only the newest {count:,} were."
            break
        if _stands(list(searchable(_parts.decode(parts))), words):
            nodes.append(node)
            if len(nodes) == limit:
                break
    return SearchResponse(hits=tuple(_hit(tx, node, words, 0) for node in nodes), scanned=True, note=note)


def _texts(tx: Tx, node: int) -> list[str]:
    return list(searchable(_parts.decode(tx.value("SELECT parts FROM node WHERE seq = ?", (node,)))))


def _stands(texts: Sequence[str], words: Iterable[Word]) -> bool:
    """Whether each of WORDS stands literally in one of TEXTS."""
    folded = [fold(text) for text in texts]
    return all(any(holds(word, text) for text in folded) for word in words)


def _hit(tx: Tx, node: int, words: Sequence[Word], score: float) -> Hit:
    row: Any = tx.one(_HIT, (node,))
    id_, conversation, role, parts, hidden = row
    shown, marks = snippet(list(searchable(_parts.decode(parts))), words)
    named: Role = role
    return Hit(
        node=id_.hex(), conversation=conversation.hex(), role=named, snippet=shown, marks=marks,
        hidden=bool(hidden), score=score,
    )  # fmt: skip
