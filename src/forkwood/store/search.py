"""The one search index: written with each message, asked by words, rebuilt and compared by doctor."""

from __future__ import annotations

from collections.abc import Iterable

from forkwood.domain.message import Part
from forkwood.domain.words import indexed
from forkwood.store.db import Tx


def add(tx: Tx, node: int, parts: Iterable[Part]) -> None:
    """Let the message of NODE (its seq) be found; part of the transaction that writes it."""
    tx.run("INSERT INTO search (rowid, words) VALUES (?, ?)", (node, indexed(parts)))


def remove(tx: Tx, nodes: Iterable[int]) -> None:
    """Let NODES be found no more, and leave no byte of their terms in the index's own pages."""
    tx.connection.executemany("DELETE FROM search WHERE rowid = ?", [(node,) for node in nodes])
    tx.run("INSERT INTO search (search) VALUES ('optimize')")
