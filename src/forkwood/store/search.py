"""The one search index: written with each message, and asked by words, by FTS5's own syntax, or past it by scanning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

import apsw
import msgspec

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.domain.hit import Hit, SearchResponse
from forkwood.domain.ids import Id
from forkwood.domain.message import Part, Role, Text, ToolCall, ToolResult
from forkwood.domain.query import (
    Word,
    asked,
    beginnings,
    expression,
    holds,
    raw_expression,
    raw_words,
    without_stars,
    words_of_line,
)
from forkwood.domain.snippet import Folded, snippet
from forkwood.domain.words import fold, indexed, searchable
from forkwood.store.db import Tx
from forkwood.wire import text

_SCANNED = "These characters are not indexed: messages were read one by one."
_SUBSTRING = "Messages were read one by one, inside words too."
_LONGER = "No message holds these words themselves: these hold longer ones that begin so."
_NOTHING = "No message holds these words, nor longer ones that begin so; --substring looks inside words too."
_FIRST_CANDIDATES = 4
"""Candidates for each hit wanted, before the index is asked for all: most words need no check that could fail."""

_parts = msgspec.json.Decoder(tuple[Part, ...])

_INDEXED = "SELECT seq, parts FROM node WHERE role IS NOT NULL AND NOT purged ORDER BY seq"
_TERMS_OF = """SELECT doc, term FROM search_term WHERE doc IN (SELECT value FROM json_each(?)) ORDER BY doc, offset"""
_COLUMNS = """n.id, c.id, n.role,
  c.hidden OR EXISTS (SELECT 1 FROM mark m WHERE m.node = n.seq AND m.until IS NULL), c.title,
  n.created_ms"""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One message that is not indexed as it should be; `stray`: there is none; no node: the index cannot be read."""

    node: int | None
    what: Literal["missing", "stray", "different", "unreadable"]


def add(tx: Tx, node: int, parts: Iterable[Part]) -> None:
    """Let the message of NODE (its seq) be found; part of the transaction that writes it."""
    tx.run("INSERT INTO search (rowid, words) VALUES (?, ?)", (node, indexed(parts)))


def remove(tx: Tx, nodes: Iterable[int]) -> None:
    """Let NODES be found no more, and leave no byte of their terms in the index's own pages: it is written anew.

    What is taken out is what the index holds, not what the message says by now: it may be a husk already.
    """
    wanted = text(list(nodes))
    found: dict[int, list[str]] = {
        node: []
        for (node,) in tx.each("SELECT rowid FROM search WHERE rowid IN (SELECT value FROM json_each(?))", (wanted,))
    }
    for node, term in tx.each(_TERMS_OF, (wanted,)):
        found[node].append(term)
    tx.connection.executemany(
        "INSERT INTO search (search, rowid, words) VALUES ('delete', ?, ?)",
        [(node, " ".join(terms)) for node, terms in found.items()],
    )
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
    besides: Id | None = None,
) -> SearchResponse:
    """The messages of any branch that hold all of WORDS (a line, or words one by one) literally, best first; those that
    hold them in a call of a tool or in its result come behind. What the run BESIDES appended is left out.

    RAW takes WORDS as FTS5's own syntax. SUBSTRING reads every message, newest first, and finds them inside words.
    Raises Misused (nothing asked, not FTS5's syntax, no number of hits) and LimitExceeded (words, their length, hits).
    """
    _check_limit(limit)
    where = _Filter(conversation, role, besides)
    if raw:
        if substring:
            raise Misused("--fts asks the index, --substring goes past it", hint="choose one of them")
        return _raw(tx, [words] if isinstance(words, str) else words, where, limit)
    wanted = asked(words_of_line(words) if isinstance(words, str) else words)
    if substring or not expression(wanted):
        return _scan(tx, wanted, where, limit, _SUBSTRING if substring else _SCANNED)
    return _indexed(tx, wanted, where, limit)


def _digest(terms: Iterable[tuple[int, str]]) -> int:
    """A number for terms and their positions, whatever their order; comparable within this process."""
    return sum(_number(position, term) for position, term in terms)


def _number(position: int, term: str) -> int:
    # Of text, not of a pair: sums of the hashes of pairs are often the same when two terms change places.
    return hash(f"{position} {term}")


def _indexed_digests(tx: Tx) -> dict[int, int]:
    found = dict.fromkeys((node for (node,) in tx.each("SELECT rowid FROM search")), 0)
    terms = Counter[int]()
    for node, position, term in tx.each("SELECT doc, offset, term FROM search_term"):
        found[node] = found.get(node, 0) + _number(position, term)
        terms[node] += 1
    for node, size in tx.each("SELECT id, sz FROM search_docsize"):
        found[node] = found.get(node, 0) + (size != _varint(terms[node]))  # what ranking reads beside the terms
    return found


def _varint(number: int) -> bytes:
    """NUMBER as FTS5 keeps how many terms a message has: seven bits a byte, all but the last with the highest set."""
    spelled = [number & 0x7F]
    while number := number >> 7:
        spelled.append(number & 0x7F | 0x80)
    return bytes(reversed(spelled))


class _Filter:
    """Of which conversation and role the messages must be, and of which run not; anything by default."""

    def __init__(self, conversation: int | None, role: str | None, besides: Id | None) -> None:
        run = None if besides is None else bytes.fromhex(besides)
        pairs = (("conversation = ?", conversation), ("role = ?", role), ("run IS NOT ?", run))
        self.sql = "".join(f" AND n.{term}" for term, value in pairs if value is not None)
        self.args: tuple[Any, ...] = tuple(value for _, value in pairs if value is not None)

    def without_results(self) -> _Filter:
        """The same, but of no tool."""
        other = _Filter(None, None, None)
        other.sql, other.args = f"{self.sql} AND n.role <> 'tool'", self.args
        return other


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise Misused(f"A search for {limit} hits finds nothing", hint="--limit takes a number from 1 on")
    if limit > limits.search_hits_max:
        raise LimitExceeded(
            "Hits of one search", limit="search_hits_max", bound=limits.search_hits_max, got=limit,
            hint="narrow it down with -c or --role",
        )  # fmt: skip


class _Candidate(NamedTuple):
    """A message that may be a hit, with every text of it that can be found, as it is and folded."""

    id: bytes
    conversation: bytes
    role: Role
    hidden: int
    title: str
    created_ms: int
    rank: float
    texts: list[Folded]
    """What was said first, then what stands in calls and results."""
    tools: list[str | None]
    """Of each text the tool in whose call or result it stands."""


def _indexed(tx: Tx, words: Sequence[Word], where: _Filter, limit: int) -> SearchResponse:
    """Messages with the words themselves; then, where a `*` asks for it or there is none, with words that begin so."""
    hits = _ranked(tx, words, where, limit, worth=1, before=())
    bare = without_stars(words)
    if bare:
        hits += _ranked(tx, bare, where, limit, worth=1, before=hits)
    longer = beginnings(words) if bare or not hits else None
    if longer:
        hits += _ranked(tx, longer, where, limit, worth=0, before=hits)
    note = None if hits and (bare or not longer) else _LONGER if hits else _NOTHING
    return SearchResponse(hits=tuple(hits), note=note)


def _ranked(
    tx: Tx, words: Sequence[Word], where: _Filter, limit: int, *, worth: int, before: Sequence[Hit]
) -> list[Hit]:
    """The messages that hold all of WORDS literally, best first, so many that with those of BEFORE they are LIMIT.

    Where these are not all, no call of a tool and no result takes the place of what was said.
    """
    wanted, known = limit - len(before), {hit.node for hit in before}
    if not wanted:
        return []
    hits = list(islice(_matching(tx, words, where, known=known, wanted=wanted, worth=worth), wanted))
    if len(hits) == wanted and any(hit.tool for hit in hits):
        others = _matching(tx, words, where.without_results(), known=known, wanted=wanted, worth=worth)
        said = (hit for hit in islice(others, limits.search_scan_messages_max) if hit.tool is None)
        hits = [*islice(said, wanted), *(hit for hit in hits if hit.tool)][:wanted]
    return _said_first(hits)


def _matching(
    tx: Tx, words: Sequence[Word], where: _Filter, *, known: set[Id], wanted: int, worth: int
) -> Iterator[Hit]:
    """All that hold WORDS and are not KNOWN, best first; WANTED of them are likely to be taken."""
    literally = [word for word in words if word.checked]
    first = len(known) + wanted * (_FIRST_CANDIDATES if literally else 1)
    return (
        _hit(candidate, words, worth)
        for candidate in _candidates(tx, expression(words), where, first)
        if candidate.id.hex() not in known and (not literally or _stands(candidate.texts, literally))
    )


def _said_first(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: hit.tool is not None)


def _candidates(tx: Tx, query: str, where: _Filter, first: int) -> Iterator[_Candidate]:
    """What the index names, best first: FIRST of them at once, which is fast, all others only if they are asked for."""
    for count, candidate in enumerate(_asked_index(tx, query, where, first, 0), start=1):
        yield candidate
        if count == first:
            yield from _asked_index(tx, query, where, -1, first)


def _asked_index(tx: Tx, query: str, where: _Filter, limit: int, offset: int) -> Iterator[_Candidate]:
    join = "JOIN node n ON n.seq = s.rowid" if where.sql else ""
    # CROSS JOIN keeps the order of the inner query, so that no text goes through a sorter.
    return _read(
        tx,
        f"SELECT {_COLUMNS}, found.rank, n.parts FROM ("
        f"SELECT s.rowid AS seq, s.rank AS rank FROM search s {join} WHERE search MATCH ?{where.sql} "
        "ORDER BY s.rank, s.rowid DESC LIMIT ? OFFSET ?) found "
        "CROSS JOIN node n ON n.seq = found.seq CROSS JOIN conversation c ON c.seq = n.conversation",
        (query, *where.args, limit, offset),
    )


def _read(tx: Tx, sql: str, args: tuple[Any, ...]) -> Iterator[_Candidate]:
    for id_, conversation, role, hidden, title, created_ms, rank, parts in tx.each(sql, args):
        texts, tools = _folded(_parts.decode(parts))
        yield _Candidate(id_, conversation, role, hidden, title, created_ms, rank, texts, tools)


def _folded(parts: Sequence[Part]) -> tuple[list[Folded], list[str | None]]:
    """Texts and tools of a candidate. One plain text is nearly all there is: it goes the short way."""
    if len(parts) == 1 and type(part := parts[0]) is Text:
        return [(part.text, fold(part.text))], [None]
    found = sorted(_texts(parts), key=lambda text: text[1] is not None)
    return [(said, fold(said)) for said, _ in found], [tool for _, tool in found]


def _texts(parts: Iterable[Part]) -> Iterator[tuple[str, str | None]]:
    """Every text of PARTS that can be found, with the tool in whose call or result it stands."""
    for part in parts:
        tool = part.name if isinstance(part, ToolCall | ToolResult) else None
        yield from ((said, tool) for said in searchable((part,)))


def _raw(tx: Tx, words: Sequence[str], where: _Filter, limit: int) -> SearchResponse:
    shown = raw_words(words)
    try:
        found = list(_asked_index(tx, raw_expression(words), where, limit, 0))
    except apsw.SQLError as error:
        engine = str(error).removeprefix("SQLError: ")
        raise Misused(
            f"FTS5 cannot read this query: {engine}", hint="without --fts words are taken literally", engine=engine
        ) from error
    return SearchResponse(hits=tuple(_said_first(_hit(candidate, shown, 1) for candidate in found)))


def _scan(tx: Tx, words: Sequence[Word], where: _Filter, limit: int, note: str) -> SearchResponse:
    rows = _read(
        tx,
        f"SELECT {_COLUMNS}, 0, n.parts FROM node n CROSS JOIN conversation c ON c.seq = n.conversation "
        f"WHERE n.role IS NOT NULL AND NOT n.purged{where.sql} ORDER BY n.seq DESC",
        where.args,
    )
    hits: list[Hit] = []
    for count, candidate in enumerate(rows):
        if count == limits.search_scan_messages_max:
            note += f" Only the newest {count:,} of them."
            break
        if _stands(candidate.texts, words):
            hits.append(_hit(candidate, words, 0))
            if len(hits) == limit:
                break
    return SearchResponse(hits=tuple(_said_first(hits)), scanned=True, note=note)


def _stands(texts: Sequence[Folded], words: Iterable[Word]) -> bool:
    """Whether each of WORDS stands literally in one of TEXTS."""
    return all(any(holds(word, folded) for _, folded in texts) for word in words)


def _hit(candidate: _Candidate, words: Sequence[Word], worth: int) -> Hit:
    """A hit whose score is WORTH and a part that FTS5's rank gives (the better the more negative), from 0 to 1."""
    shown, marks = snippet(candidate.texts, words)
    return Hit(
        node=candidate.id.hex(),
        conversation=candidate.conversation.hex(),
        role=candidate.role,
        snippet=shown,
        marks=marks,
        tool=_tool(candidate, words),
        hidden=bool(candidate.hidden),
        title=candidate.title,
        created_ms=candidate.created_ms,
        score=round(worth + candidate.rank / (candidate.rank - 1), 6),
    )


def _tool(candidate: _Candidate, words: Iterable[Word]) -> str | None:
    """The tool in whose call or result the words stand; None where one of them stands in what was said."""
    if not any(candidate.tools):
        return None
    holding = [
        tool
        for (_, folded), tool in zip(candidate.texts, candidate.tools, strict=True)
        if any(holds(word, folded) for word in words)
    ]
    return next(iter(holding or candidate.tools), None)
