"""search_conversations: what was said anywhere, with title, role, day and piece; hidden says so; bounded."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.arguments import fault
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.domain.message import Origin, ToolCall
from forkwood.store import conversations, search
from forkwood.store.db import Store, Tx
from forkwood.tools.search_conversations import SearchConversations
from tests.store.said import NOW, said, say, talk
from tests.store.seeds import opened
from tests.tools.bench import call, occasion, used


async def test_hits_of_all_conversations_say_where_they_stand() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        first, second = talk(tx), talk(tx)
        conversations.write_setting(tx, second, "title", "Bread")
        say(tx, first, "where is the yeast?")
        hidden = say(tx, second, "the yeast is old", role="assistant")
        tx.run("INSERT INTO mark (node, since) VALUES (?, 1)", (hidden,))
        ids = [row[0].hex()[-8:] for row in tx.rows("SELECT id FROM node ORDER BY seq")]
    outcome, told = await used(SearchConversations(store), occasion(store), words="yeast")
    assert outcome == "ok"
    assert set(told.split("\n\n")) == {
        f"t / user, 2026-02-02, {ids[0]}:\nwhere is the yeast?",
        f"Bread / assistant, 2026-02-02, {ids[1]}, hidden by the person:\nthe yeast is old",
    }
    assert NOW == 1_770_000_000_000


async def test_what_a_husk_carried_over_still_says_is_found() -> None:
    store = Store.in_memory()
    said(store, "the yeast is old")
    with store.write() as tx:
        tx.run("UPDATE conversation SET purged = 1, title = ''")
    assert "(untitled) / user" in (await used(SearchConversations(store), occasion(store), words="yeast"))[1]


async def test_no_hit_is_an_answer_and_words_that_cannot_be_asked_an_error() -> None:
    store = Store.in_memory()
    said(store, "yeasts")
    tool, at = SearchConversations(store), occasion(store)
    assert (await used(tool, at, words="flour"))[1].startswith("No message holds all of these words.")
    assert "hold longer ones" in (await used(tool, at, words="yeas"))[1]
    with pytest.raises(Misused):
        await used(tool, at, words=" ")
    with pytest.raises(LimitExceeded):
        await used(tool, at, words="a " * (limits.search_words_max + 1))
    assert await tool.inspect(call(tool), at) is None


async def test_hits_are_bounded() -> None:
    store = Store.in_memory()
    said(store, *["yeast"] * 12)
    tool, at = SearchConversations(store), occasion(store)
    assert (await used(tool, at, words="yeast"))[1].count("yeast") == 10
    assert (await used(tool, at, words="yeast", limit=3.0))[1].count("yeast") == 3
    assert fault({"words": "a", "limit": limits.model_search_hits_max}, tool.sealed.spec.schema) is None
    assert fault({"words": "a", "limit": limits.model_search_hits_max + 1}, tool.sealed.spec.schema)


async def test_a_long_search_stops_when_it_is_cancelled_and_others_go_on_meanwhile(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(home)
    said(store, "yeast", "salt")
    at, begun, ended = occasion(store), threading.Event(), threading.Event()

    def endless(tx: Tx, *_: object, **__: object) -> None:
        rows = tx.each("WITH RECURSIVE n (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT x FROM n")
        try:
            for _ in rows:
                begun.set()
        finally:
            ended.set()

    monkeypatch.setattr(search, "find", endless)
    searching = asyncio.ensure_future(used(SearchConversations(store), at, words="yeast"))
    assert await asyncio.to_thread(begun.wait, 30)
    with store.write() as tx:
        say(tx, talk(tx), "said meanwhile")
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    assert await asyncio.to_thread(ended.wait, 30)
    store.close()


async def test_the_store_is_searched_over_a_connection_of_its_own(home: Path) -> None:
    store = opened(home)
    said(store, "the yeast is old")
    at = occasion(store)
    with store.write() as tx:
        tx.run("UPDATE conversation SET title = 'not committed yet'")
        assert (await used(SearchConversations(store), at, words="yeast"))[1].startswith("t / user")
    store.close()


async def test_a_message_of_an_impossible_time_is_found_all_the_same() -> None:
    store = Store.in_memory()
    said(store, "the yeast is old")
    with store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("UPDATE node SET created_ms = 9223372036854775807")
        tx.run("DELETE FROM purging")
    assert "at no known time" in (await used(SearchConversations(store), occasion(store), words="yeast"))[1]


async def test_the_run_that_asks_does_not_find_itself() -> None:
    store = Store.in_memory()
    said(store, "the yeast is old")
    at = occasion(store)
    with store.write() as tx:
        call_of_it = ToolCall(call="c", name="search_conversations", arguments={"words": "yeast"})
        say(tx, talk(tx), call_of_it, role="assistant", origin=Origin(by="model", via="cli", run="d" * 32))
    tool = SearchConversations(store)
    titles = [paragraph.partition(",")[0] for paragraph in (await used(tool, at, words="yeast"))[1].split("\n\n")]
    assert titles == ["t / user", "t / called search_conversations"]
    asking = replace(at, run="d" * 32)
    assert (await used(tool, asking, words="yeast"))[1].count("yeast") == 1
