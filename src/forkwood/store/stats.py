"""How much there is: rows and bytes, for a person who wonders where their disk went."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from forkwood.domain.conversation import ConversationUsage
from forkwood.store.db import Tx


class Table(Struct, frozen=True, kw_only=True):
    """One table with its indexes: pages on disk, in bytes."""

    name: str
    bytes: int


class Stats(Struct, frozen=True, kw_only=True):
    """Counts of rows, USAGE of all conversations, sizes in bytes. `hidden` counts messages under a mark, `trashed`
    conversations in the trash."""

    path: str
    version: int
    usage: ConversationUsage
    runs: dict[str, int]
    messages: int
    conversations: int
    trashed: int
    grafts: int
    hidden: int
    purged: int
    events: int
    file_bytes: int
    log_bytes: int
    free_bytes: int
    blobs: int
    blob_bytes: int
    text_bytes: int
    tables: tuple[Table, ...]


def gather(tx: Tx, path: str) -> Stats:
    """Everything countable of the store at PATH (`:memory:` has no file). Reads every page: seconds for gigabytes."""
    return Stats(
        path=path,
        version=tx.value("PRAGMA user_version"),
        usage=_usage(tx),
        file_bytes=_file_bytes(path),
        log_bytes=_file_bytes(f"{path}-wal"),
        free_bytes=tx.value("PRAGMA freelist_count") * tx.value("PRAGMA page_size"),
        conversations=tx.value("SELECT count(*) FROM conversation"),
        trashed=tx.value("SELECT count(*) FROM conversation WHERE hidden = 1"),
        messages=tx.value("SELECT count(*) FROM node WHERE source_node IS NULL"),
        grafts=tx.value("SELECT count(*) FROM node WHERE source_node IS NOT NULL"),
        hidden=tx.value("SELECT count(*) FROM mark WHERE until IS NULL"),
        purged=tx.value("SELECT count(*) FROM node WHERE purged = 1"),
        runs=dict(tx.rows("SELECT status, count(*) FROM run GROUP BY status ORDER BY status")),
        events=tx.value("SELECT count(*) FROM event"),
        blobs=tx.value("SELECT count(*) FROM blob"),
        blob_bytes=tx.value("SELECT coalesce(sum(size), 0) FROM blob"),
        text_bytes=tx.value("SELECT coalesce(sum(length(CAST(parts AS BLOB))), 0) FROM node"),
        tables=_tables(tx),
    )


def _usage(tx: Tx) -> ConversationUsage:
    """What all replies took, those of purged conversations too: it was used."""
    found = tx.one(
        "SELECT coalesce(sum(turns), 0), coalesce(sum(input), 0), coalesce(sum(output), 0), sum(cost) FROM conversation"
    )
    turns, given, made, cost = found or (0, 0, 0, None)
    return ConversationUsage(turns=turns, input=given, output=made, cost=cost)


def _tables(tx: Tx) -> tuple[Table, ...]:
    """The largest first; an index counts to its table, the parts of the search index to it."""
    rows = tx.rows(
        "SELECT s.tbl_name, sum(d.pgsize) FROM dbstat d JOIN sqlite_schema s ON s.name = d.name"
        " WHERE d.aggregate = 1 GROUP BY s.tbl_name ORDER BY 2 DESC, 1"
    )
    return tuple(Table(name=name, bytes=size) for name, size in rows)


def _file_bytes(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0
