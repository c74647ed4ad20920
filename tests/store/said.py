"""Small conversations to search in, and the questions that tests ask them."""

from __future__ import annotations

from forkwood.domain.conversation import ConversationSettings
from forkwood.domain.hit import SearchResponse
from forkwood.domain.ids import Id, make_id
from forkwood.domain.message import Origin, Part, Role, Text
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import append, conversations, search
from forkwood.store.db import Store, Tx

NOW = 1_770_000_000_000
ME = Origin(by="user", via="cli")


def new_id(tx: Tx) -> Id:
    rows = tx.value("SELECT (SELECT count(*) FROM node) + (SELECT count(*) FROM conversation)")
    return make_id(NOW, int(rows).to_bytes(10, "big"))


def talk(tx: Tx) -> int:
    """An empty conversation."""
    return conversations.create(tx, new_id(tx), NOW, title="t", titled_by="rule", settings=ConversationSettings())


def say(
    tx: Tx, conversation: int, *parts: str | Part, role: Role = "user", at: Spot = ROOT, origin: Origin = ME
) -> int:
    """A message of PARTS, texts or whole; its seq."""
    said = tuple(Text(text=part) if isinstance(part, str) else part for part in parts)
    return append.add_message(
        tx, id=new_id(tx), conversation=conversation, at=at, role=role, parts=said, origin=origin, now_ms=NOW
    )


def said(store: Store, *texts: str) -> None:
    """One conversation whose messages say TEXTS."""
    with store.write() as tx:
        conversation = talk(tx)
        for text in texts:
            say(tx, conversation, text)


def ask(store: Store, *words: str, limit: int = 20, substring: bool = False, raw: bool = False) -> SearchResponse:
    with store.read() as tx:
        return search.find(tx, words, limit=limit, substring=substring, raw=raw)


def found(store: Store, *words: str, substring: bool = False, raw: bool = False) -> list[str]:
    """The snippets of the hits: of short messages, their whole texts."""
    return [hit.snippet for hit in ask(store, *words, substring=substring, raw=raw).hits]
