"""Small stores to test with, written in plain SQL: a test of the file needs rows, not the rules that make them."""

from __future__ import annotations

from pathlib import Path

from forkwood.domain.act import MessageSent, Who
from forkwood.domain.ids import make_id
from forkwood.domain.message import Text
from forkwood.store import log
from forkwood.store.db import Store, Tx
from forkwood.store.opening import open_store
from forkwood.wire import text

NOW = 1_770_000_000_000
ME = Who(by="user", via="cli")


def opened(home: Path) -> Store:
    return open_store(home, now_ms=NOW)


def some_id(number: int) -> bytes:
    return bytes.fromhex(make_id(NOW, number.to_bytes(10, "big")))


def add_conversation(tx: Tx, number: int = 1) -> int:
    return tx.insert(
        "INSERT INTO conversation (id, title, titled_by, created_ms, updated_ms) VALUES (?, 'a title', 'rule', ?, ?)",
        (some_id(1_000_000 + number), NOW, NOW),
    )


def add_message(tx: Tx, conversation: int, at: int | None, words: str) -> int:
    """A user message at the end of node AT, with its event; the seq of the node."""
    length = 1 + (tx.value("SELECT length FROM node WHERE seq = ?", (at,)) or 0)
    number = 1 + (tx.value("SELECT max(seq) FROM node") or 0)
    node = tx.insert(
        "INSERT INTO node (id, conversation, at_node, role, parts, own, length, hops, by, via, created_ms)"
        " VALUES (?, ?, ?, 'user', ?, 1, ?, ?, 'user', 'cli', ?)",
        (some_id(number), conversation, at, text((Text(text=words),)), length, length, NOW),
    )
    tx.run("UPDATE conversation SET head_node = ?, head_cut = 0 WHERE seq = ?", (node, conversation))
    log.write(tx, MessageSent(effects=()), who=ME, now_ms=NOW, conversation=conversation, node=node)
    return node


def fill(store: Store, messages: int = 3, words: str = "word") -> list[int]:
    """One conversation with a straight path of MESSAGES; the seqs of its nodes."""
    with store.write() as tx:
        conversation, at, made = add_conversation(tx), None, []
        for number in range(messages):
            at = add_message(tx, conversation, at, f"{words} {number}")
            made.append(at)
    return made


def texts(store: Store) -> list[str]:
    """The parts of every message, by seq."""
    with store.read() as tx:
        return [row[0] for row in tx.rows("SELECT parts ->> '$[0].text' FROM node ORDER BY seq")]
