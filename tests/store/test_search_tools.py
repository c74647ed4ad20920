"""A search among calls of tools and their results: they come behind what was said, and say what they are."""

from __future__ import annotations

import pytest

from forkwood.domain.hit import Hit
from forkwood.domain.message import Origin, Text, ToolCall, ToolResult
from forkwood.domain.tree import Spot
from forkwood.store import append, search
from forkwood.store.db import Store, Tx
from tests.store.said import NOW, ask, new_id, say, talk

RUN = "b" * 32
CALL = ToolCall(call="c", name="look", arguments={"for": "yeast"})
RESULT = ToolResult(call="c", name="look", outcome="ok", parts=(Text(text="yeast yeast yeast"),))


def used(tx: Tx, conversation: int, said: str = "I look.") -> None:
    """A reply of RUN that calls a tool, and the result."""
    made = Origin(by="model", via="cli", run=RUN)
    asked = say(tx, conversation, "Look.")
    reply = say(tx, conversation, said, CALL, role="assistant", at=Spot(asked, 0), origin=made)
    append.add_results(tx, id=new_id(tx), at=Spot(reply, 0), parts=(RESULT,), origin=made, now_ms=NOW)


@pytest.fixture
def store() -> Store:
    """Two messages, each of many words, that say it; and then nine calls and results that say it often."""
    made = Store.in_memory()
    with made.write() as tx:
        conversation = talk(tx)
        for words in (
            "where is the yeast that I bought on some other day?",
            "there the yeast is, behind the old flour",
        ):
            say(tx, conversation, words)
        for _ in range(9):
            used(tx, conversation)
    return made


def labels(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.from_tool or hit.role for hit in hits]


@pytest.mark.parametrize("limit", [1, 2, 3, 20])
def test_what_was_said_comes_before_what_tools_were_asked_and_gave(store: Store, limit: int) -> None:
    found = labels(ask(store, "yeast", limit=limit).hits)
    assert len(found) == limit
    assert found[:2] == ["user", "user"][:limit]
    assert set(found[2:]) <= {"called look", "result of look"}


def test_it_holds_however_it_is_searched(store: Store) -> None:
    for how in ({"raw": True}, {"substring": True}):
        found = labels(ask(store, "yeast", **how).hits)
        assert found[:2] == ["user", "user"] and set(found[2:]) == {"called look", "result of look"}
    assert labels(ask(store, "yea*", limit=1).hits) == ["user"]


def test_a_reply_that_says_the_word_beside_its_call_is_what_was_said() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        used(tx, talk(tx), said="I look for yeast.")
    found = ask(store, "yeast").hits
    assert [(hit.from_tool, hit.snippet) for hit in found] == [
        ("", "I look for yeast."),
        ("result of look", "yeast yeast yeast"),
    ]


def test_a_run_can_be_left_out(store: Store) -> None:
    with store.read() as tx:
        assert labels(search.find(tx, "yeast", besides=RUN).hits) == ["user", "user"]
        assert labels(search.find(tx, "yeast", role="tool", besides=RUN).hits) == []
        assert labels(search.find(tx, "yeast", role="tool", limit=1).hits) == ["result of look"]
