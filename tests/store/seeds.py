"""Small stores to test with."""

from __future__ import annotations

from pathlib import Path

from forkwood.domain.act import ConversationCreated, MessageSent, Who
from forkwood.domain.conversation import ConversationSettings
from forkwood.domain.ids import Id, make_id
from forkwood.domain.message import Origin, Text
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import append, conversations, log
from forkwood.store.db import Store, Tx
from forkwood.store.opening import open_store

NOW = 1_770_000_000_000
ME = Who(by="user", via="cli")


def opened(home: Path) -> Store:
    return open_store(home, now_ms=NOW)


def some_id(number: int) -> Id:
    return make_id(NOW, number.to_bytes(10, "big"))


def add_conversation(tx: Tx, number: int = 1) -> int:
    name = some_id(1_000_000 + number)
    seq = conversations.create(tx, name, NOW, title="a title", titled_by="rule", settings=ConversationSettings())
    log.write(tx, ConversationCreated(effects=(), settings={}), who=ME, now_ms=NOW, conversation=seq)
    return seq


def add_message(tx: Tx, conversation: int, at: int | None, words: str) -> int:
    """A user message at the end of node AT, with its event and the head on it; the seq of the node."""
    node = append.add_message(
        tx,
        id=some_id(1 + (tx.value("SELECT max(seq) FROM node") or 0)),
        conversation=conversation,
        at=Spot(at) if at else ROOT,
        role="user",
        parts=(Text(text=words),),
        origin=Origin(by="user", via="cli"),
        now_ms=NOW,
    )
    conversations.move_head(tx, conversation, Spot(node), NOW)
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
