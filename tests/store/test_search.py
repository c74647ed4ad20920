"""The index finds what was said, by words taken literally, in every branch; it is bounded, compared and made anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.domain.message import Attachment, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.tree import Spot
from forkwood.domain.words import fold
from forkwood.store import append, marks, search
from forkwood.store.db import Store
from tests.store.said import ME, NOW, ask, found, new_id, said, say, talk
from tests.store.seeds import opened


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store.in_memory()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a plain word", ["Plain"]),
        ("Crème brûlée", ["creme", "BRULEE"]),
        ("我们讨论数据库设计", ["数"]),
        ("我们讨论数据库设计", ["数据"]),
        ("我们讨论数据库设计", ["讨论数据库设计"]),
        ("私はデータベースを使う", ["データベース"]),
        ("데이터베이스를 만들다", ["데이터베이스"]),
        ("ภาษาไทยดีมาก", ["ไทย"]),
        ("call getUserName()", ["userName"]),
        ("call getUserName()", ["getusername"]),
        ("call getUserName()", ["name"]),
        ("in snake_case", ["snake_case"]),
        ("in snake_case", ["case"]),
        ("see /usr/local/bin and .env", ["/usr/local/bin", ".env"]),
        ("write to me@example.com", ["me@example.com"]),
        ("digest " + "ab" * 100, ["ab" * 100]),
        ("two lines\nof text", ["lines of"]),
        ("C# or c++ -> fine", ["c#", "c++", "->"]),
    ],
)
def test_words_are_found(store: Store, text: str, words: list[str]) -> None:
    said(store, text, "something else entirely")
    assert len(found(store, *words)) == 1


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("foo bar", "foo-bar"),
        ("foo-bar", "foo bar"),
        ("数、据", "数据"),
        ("c and d", "c++"),
        ("user name", "userName"),
        ("ab" * 32 + "x", "ab" * 33),
        ("env", ".env"),
    ],
)
def test_terms_alone_are_no_hit(store: Store, text: str, word: str) -> None:
    said(store, text)
    assert found(store, word) == []


def test_all_words_must_stand_in_one_message_in_any_order(store: Store) -> None:
    said(store, "alpha then beta", "alpha", "beta")
    assert found(store, "beta", "alpha") == ["alpha then beta"]


def test_a_phrase_does_not_span_two_texts_of_a_message(store: Store) -> None:
    with store.write() as tx:
        say(tx, talk(tx), "first half", "second half")
    assert found(store, "half second") == []
    assert len(found(store, "half", "second")) == 1


def test_longer_words_are_found_where_none_holds_the_word_itself(store: Store) -> None:
    said(store, "the databases", "a database")
    response = ask(store, "datab")
    assert [hit.snippet for hit in response.hits] == ["a database", "the databases"]
    assert response.note is not None and "longer" in response.note
    assert all(0 < hit.score < 1 for hit in response.hits)
    assert found(store, "database") == ["a database"]


def test_a_star_asks_for_longer_words_after_the_word_itself(store: Store) -> None:
    said(store, "the databases", "a data* pointer", "data alone")
    response = ask(store, "data*")
    assert [hit.snippet for hit in response.hits] == ["a data* pointer", "data alone", "the databases"]
    assert [hit.score > 1 for hit in response.hits] == [True, True, False]
    assert response.note is None


def test_a_search_that_finds_nothing_names_the_way_on(store: Store) -> None:
    said(store, "subcategory")
    response = ask(store, "category")
    assert response.hits == ()
    assert response.note is not None and "--substring" in response.note


def test_the_better_hit_comes_first_and_of_equals_the_newer(store: Store) -> None:
    said(store, "tie one", "a tie in a much longer text about other things", "tie two", "no match", "none", "nope")
    assert found(store, "tie") == ["tie two", "tie one", "a tie in a much longer text about other things"]


def test_candidates_that_fail_the_check_do_not_use_up_the_limit(store: Store) -> None:
    said(store, "foo-bar at last", *["foo bar"] * 30)
    assert [hit.snippet for hit in ask(store, "foo-bar", limit=1).hits] == ["foo-bar at last"]


def test_longer_words_fill_up_to_the_limit_without_repeating_a_hit(store: Store) -> None:
    said(store, *["same"] * 3, *["samest"] * 30)
    snippets = [hit.snippet for hit in ask(store, "same*", limit=5).hits]
    assert snippets == ["same"] * 3 + ["samest"] * 2


def test_every_part_of_every_branch_is_found(store: Store) -> None:
    picture = Attachment(blob="0" * 64, media="image", name="holiday.png", mime="image/png", size=1)
    with store.write() as tx:
        tx.run("INSERT INTO blob (hash, size, bytes) VALUES (?, 1, x'00')", ("0" * 64,))
        conversation = talk(tx)
        first = say(tx, conversation, "root", picture)
        call = ToolCall(call="1", name="code_grep", arguments={"pattern": "needle"})
        reply = say(tx, conversation, Thinking(text="pondered"), call, role="assistant", at=Spot(first))
        result = ToolResult(call="1", name="code_grep", outcome="ok", parts=(Text(text="haystack"),))
        append.add_results(tx, id=new_id(tx), at=Spot(reply), parts=(result,), origin=ME, now_ms=NOW)
        say(tx, conversation, "sidestep", at=Spot(first))
    roles = {word: [hit.role for hit in ask(store, word).hits] for word in ("holiday.png", "pondered", "needle")}
    assert roles == {"holiday.png": ["user"], "pondered": ["assistant"], "needle": ["assistant"]}
    assert sorted(hit.role for hit in ask(store, "code_grep").hits) == ["assistant", "tool"]
    assert [hit.role for hit in ask(store, "haystack").hits] == ["tool"]
    assert found(store, "sidestep") == ["sidestep"]


def test_hits_are_narrowed_by_conversation_and_role(store: Store) -> None:
    with store.write() as tx:
        one, two = talk(tx), talk(tx)
        first = say(tx, one, "word in one")
        say(tx, one, "word said back", role="assistant", at=Spot(first))
        say(tx, two, "word in two")
    with store.read() as tx:
        assert [hit.snippet for hit in search.find(tx, "word", conversation=two).hits] == ["word in two"]
        assert [hit.snippet for hit in search.find(tx, "word", role="assistant").hits] == ["word said back"]
        both = search.find(tx, "word", conversation=one, role="user", substring=True)
        assert [hit.snippet for hit in both.hits] == ["word in one"]
        assert [hit.role for hit in search.find(tx, "word", role="assistant", raw=True).hits] == ["assistant"]


def test_what_is_hidden_is_found_and_flagged(store: Store) -> None:
    with store.write() as tx:
        one, two = talk(tx), talk(tx)
        hidden, shown = say(tx, one, "word hidden"), say(tx, one, "word shown")
        say(tx, two, "word in the trash")
        marks.hide(tx, [hidden, shown], 1)
        marks.show(tx, [shown], 2)
        tx.run("UPDATE conversation SET hidden = 1 WHERE seq = ?", (two,))
    flags = {hit.snippet: hit.hidden for hit in ask(store, "word").hits}
    assert flags == {"word hidden": True, "word shown": False, "word in the trash": True}


def test_a_hit_names_its_node_and_conversation(store: Store) -> None:
    said(store, "here")
    (hit,) = ask(store, "here").hits
    with store.read() as tx:
        assert tx.one("SELECT n.id, c.id FROM node n, conversation c") == (
            bytes.fromhex(hit.node),
            bytes.fromhex(hit.conversation),
        )
    assert hit.marks == ((0, 4),)


def test_what_has_no_terms_is_scanned_for_and_says_so(store: Store) -> None:
    said(store, "x -> y", "🎉", "x - > y")
    response = ask(store, "->")
    assert ([hit.snippet for hit in response.hits], response.scanned) == (["x -> y"], True)
    assert response.note is not None and "one by one" in response.note
    assert found(store, "🎉") == ["🎉"]


def test_substring_looks_inside_words_newest_first_and_says_so(store: Store) -> None:
    said(store, "Subcategory", "category", "cat")
    response = ask(store, "CATEGORY", substring=True)
    assert [hit.snippet for hit in response.hits] == ["category", "Subcategory"]
    assert response.scanned and response.note is not None
    assert len(ask(store, "cat", substring=True, limit=1).hits) == 1


def test_a_scan_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    said(store, "old ->", "new ->")
    monkeypatch.setattr(limits, "search_scan_messages_max", 2)
    assert len(found(store, "->")) == 2
    monkeypatch.setattr(limits, "search_scan_messages_max", 1)
    response = ask(store, "->")
    assert [hit.snippet for hit in response.hits] == ["new ->"]
    assert response.note is not None and "newest 1" in response.note


def test_raw_syntax_is_the_engines(store: Store) -> None:
    said(store, "foo bar", "foo baz", "数据库 Größe")
    assert found(store, "foo NOT bar", raw=True) == ["foo baz"]
    assert found(store, "数据 AND grö*", raw=True) == ["数据库 Größe"]
    assert found(store, "NEAR(bar foo, 1)", raw=True) == ["foo bar"]


@pytest.mark.parametrize("query", ["foo AND", '"open', "(", "none:foo", "foo-bar", "NEAR(a, x)"])
def test_what_the_engine_cannot_read_quotes_it(store: Store, query: str) -> None:
    said(store, "x")
    with pytest.raises(Misused, match="FTS5 cannot read this query") as refused:
        ask(store, query, raw=True)
    assert refused.value.facts["engine"] in refused.value.message
    assert "literally" in refused.value.hint


def test_raw_syntax_and_scanning_exclude_each_other(store: Store) -> None:
    with pytest.raises(Misused, match="--substring goes past it"):
        ask(store, "x", raw=True, substring=True)


def test_hits_are_bounded(store: Store) -> None:
    said(store, "word")
    assert len(ask(store, "word", limit=limits.search_hits_max).hits) == 1
    with pytest.raises(LimitExceeded) as refused:
        ask(store, "word", limit=limits.search_hits_max + 1)
    assert refused.value.facts["limit"] == "search_hits_max"
    with pytest.raises(Misused):
        ask(store, "word", limit=0)


@pytest.mark.parametrize("unseen", ["\u200b", "\u0301", "\u00ad"])
def test_what_is_not_seen_by_itself_is_not_looked_for(store: Store, unseen: str) -> None:
    said(store, "a word and e\u0301 accents")
    for substring in (False, True):
        with pytest.raises(Misused):
            ask(store, unseen, substring=substring)
        assert len(ask(store, "word", unseen, substring=substring).hits) == 1
    assert [hit.marks for hit in ask(store, f'word OR "{unseen}"', raw=True).hits] == [((2, 6),)]


def test_the_longest_query_is_answered(store: Store) -> None:
    longest = "数" * limits.search_word_characters_max
    said(store, longest, "aB" * 400)
    assert len(found(store, *[longest] * limits.search_words_max)) == 1
    assert len(found(store, *["aB" * 400] * limits.search_words_max)) == 1


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6), st.data())
def test_any_piece_of_a_text_between_spaces_is_found(texts: list[str], data: st.DataObject) -> None:
    store = Store.in_memory()
    with store.write() as tx:
        conversation = talk(tx)
        for text in texts:
            say(tx, conversation, f"x {text}")
    pieces = [piece for text in texts for piece in text.split() if fold(piece).split() and "\0" not in piece]
    if pieces:
        piece = data.draw(st.sampled_from(pieces))
        expected = sum(fold(piece) in fold(text).split() for text in texts)
        assert len(ask(store, piece, limit=100).hits) >= max(1, expected)
    with store.read() as tx:
        assert search.differences(tx) == []
    store.close()


def test_the_index_is_part_of_the_transaction(store: Store) -> None:
    with suppress(KeyError), store.write() as tx:
        say(tx, talk(tx), "undone")
        raise KeyError
    said(store, "kept")
    assert found(store, "undone") == []
    assert found(store, "kept") == ["kept"]


def test_differences_are_named_and_rebuilding_mends_them(store: Store) -> None:
    said(store, "one", "two words", "three", "")
    with store.write() as tx:
        search.remove(tx, [1, 2])
        tx.run("INSERT INTO search (rowid, words) VALUES (2, 'words two'), (99, 'stray')")
    with store.read() as tx:
        different = {(one.node, one.what) for one in search.differences(tx)}
    assert different == {(1, "missing"), (2, "different"), (99, "stray")}
    with store.write() as tx:
        search.rebuild(tx)
    with store.read() as tx:
        assert search.differences(tx) == []
    assert found(store, "one") == ["one"]


def test_two_terms_that_changed_places_are_a_difference_every_time(store: Store) -> None:
    words = [f"word{number}" for number in range(40)]
    said(store, *(f"{one} {other}" for one, other in pairwise(words)))
    with store.write() as tx:
        search.remove(tx, range(1, len(words)))
        for node, (one, other) in enumerate(pairwise(words), 1):
            tx.run("INSERT INTO search (rowid, words) VALUES (?, ?)", (node, f"{other} {one}"))
    with store.read() as tx:
        assert len(search.differences(tx)) == len(words) - 1


def test_an_index_that_cannot_be_read_is_a_difference(store: Store) -> None:
    said(store, "one")
    with store.write() as tx:
        tx.run("UPDATE search_data SET block = x'00' WHERE id > 10")
    with store.read() as tx:
        assert [one.what for one in search.differences(tx)] == ["unreadable"]
    with store.write() as tx:
        search.rebuild(tx)
    assert found(store, "one") == ["one"]


def test_what_is_removed_is_in_no_byte_of_the_index(home: Path) -> None:
    store = opened(home)
    with store.write() as tx:
        conversation = talk(tx)
        seqs = [say(tx, conversation, f"Text {number} with QZXMARKER{number}") for number in range(40)]
    file = home / "forkwood.db"
    store.checkpoint()
    assert b"qzxmarker" in file.read_bytes(), "the index folds, the message does not"
    with store.write() as tx:
        search.remove(tx, seqs)
    store.checkpoint()
    assert b"qzxmarker" not in file.read_bytes()
    assert found(store, "qzxmarker7") == []
    with store.read() as tx:
        assert tx.rows("SELECT * FROM search_term") == []
    store.close()


def test_removing_takes_out_what_the_index_holds_and_only_once(store: Store) -> None:
    said(store, "word one", "", "word two")
    with store.write() as tx:
        search.remove(tx, [1, 2, 99])
        search.remove(tx, [1, 2, 99])
        assert tx.rows("SELECT rowid FROM search") == [(3,)]
        assert tx.rows("PRAGMA integrity_check(search)") == [("ok",)]


def test_removing_one_message_leaves_the_others(store: Store) -> None:
    said(store, "word one", "word two")
    with store.write() as tx:
        search.remove(tx, [1])
    assert found(store, "word") == ["word two"]
    with store.read() as tx:
        assert tx.rows("SELECT DISTINCT term FROM search_term ORDER BY 1") == [("two",), ("word",)]


def test_what_is_purged_is_not_indexed_again(store: Store) -> None:
    said(store, "gone", "kept")
    with store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("UPDATE node SET parts = ?, purged = 1 WHERE seq = 1", (wire.text(()),))
        tx.run("DELETE FROM purging")
        search.remove(tx, [1])
    with store.read() as tx:
        assert search.differences(tx) == []
    with store.write() as tx:
        search.rebuild(tx)
    assert found(store, "gone", substring=True) == []
    assert found(store, "gone") == []


def test_any_program_can_ask_the_index_by_hand(home: Path) -> None:
    store = opened(home)
    said(store, "by hand")
    store.close()
    connection = sqlite3.connect(home / "forkwood.db")
    rows = connection.execute(
        "SELECT n.parts FROM search s JOIN node n ON n.seq = s.rowid WHERE search MATCH ?", ("hand",)
    ).fetchall()
    connection.close()
    assert rows == [('[{"kind":"text","text":"by hand"}]',)]


@pytest.mark.parametrize("words", [1, 127, 128, 300])
def test_a_length_that_ranking_would_stumble_over_is_a_difference(words: int) -> None:
    store = Store.in_memory()
    said(store, "word " * words, "other")
    with store.write() as tx:
        assert search.differences(tx) == []
        tx.run("UPDATE search_docsize SET sz = x'7f7f' WHERE id = 1")
        assert [(one.node, one.what) for one in search.differences(tx)] == [(1, "different")]
        search.rebuild(tx)
        assert search.differences(tx) == []
