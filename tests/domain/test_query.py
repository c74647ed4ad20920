"""Words are taken literally, and the index is asked so that it misses none."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
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
from forkwood.domain.words import fold


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("two words", ["two", "words"]),
        (' "a phrase"  more ', ["a phrase", "more"]),
        ('a"b c"d', ['a"b', 'c"d']),
        ('say "open', ["say", '"open']),
        ('"" x', ['""', "x"]),
        ("数据库　设计", ["数据库", "设计"]),
    ],
)
def test_a_line_is_parted_at_white_space_but_not_in_quotes(line: str, words: list[str]) -> None:
    assert words_of_line(line) == words


@pytest.mark.parametrize(
    ("word", "query"),
    [
        ("plain", '"plain"'),
        ("foo-bar", '"foo bar"'),
        ("c++", '"c"'),
        ('a"b', '"a b"'),
        ("AND", '"and"'),
        ("NEAR(", '"near"'),
        ("数据库", '"数 据 库"'),
        ("a phrase", '"a phrase"'),
        ("userName", '("username" OR "user name")'),
        ("->", ""),
    ],
)
def test_a_word_is_asked_for_as_a_phrase(word: str, query: str) -> None:
    assert expression(asked([word])) == query


def test_all_words_are_wanted_and_those_without_terms_are_left_to_the_check() -> None:
    words = asked(["Foo", "->", "", "bar-baz"])
    assert expression(words) == '"foo" AND "bar baz"'
    assert [word.literal for word in words] == ["foo", "->", "bar-baz"]
    assert [word.checked for word in words] == [False, True, True]


@pytest.mark.parametrize(
    ("word", "query"),
    [
        ("datab", '"datab" *'),
        ("foo-ba", '"foo ba" *'),
        ("char*", '"char" *'),
        ("c*", '"c" *'),
        ("userNa", '("userna" OR "user na" *)'),
    ],
)
def test_a_word_can_be_the_beginning_of_longer_ones(word: str, query: str) -> None:
    longer = beginnings(asked([word]))
    assert longer is not None
    assert expression(longer) == query.replace('"userna"', '"userna" *')


@pytest.mark.parametrize("word", ["c", "c++", "数据库", "foo-", "->", "数*"])
def test_what_cannot_be_a_beginning_is_none(word: str) -> None:
    assert beginnings(asked([word])) is None


def test_words_that_can_be_no_beginning_stay_whole_beside_those_that_can() -> None:
    longer = beginnings(asked(["c++", "datab"]))
    assert longer is not None
    assert expression(longer) == '"c" AND "datab" *'
    assert longer[0].literal == "c++"


@pytest.mark.parametrize(
    ("word", "text", "stands"),
    [
        ("foo-bar", "use FOO-bar!", True),
        ("foo-bar", "foo bar", False),
        ("a phrase", "a\n  phrase", True),
        ("a phrase", "a, phrase", False),
        ("C++", "c++20", True),
        ("Straße", "STRASSE", True),
    ],
)
def test_the_check_is_literal(word: str, text: str, stands: bool) -> None:
    assert holds(asked([word])[0], fold(text)) is stands


@pytest.mark.parametrize(
    ("raw", "query"),
    [
        ("Café AND NOT thé", '"cafe" AND NOT "the"'),
        ('"数据库" OR snake_case', '"数 据 库" OR "snake case"'),
        ("NEAR(foo bar, 10)", 'NEAR("foo" "bar", 10)'),
        ("dat* ^first", '"dat"* ^"first"'),
        ("words : x", '"words" : "x"'),
        ('say "a ""b"', '"say" "a b"'),
    ],
)
def test_raw_syntax_is_kept_and_its_words_are_folded(raw: str, query: str) -> None:
    assert raw_expression([raw]) == query


def test_raw_words_are_those_a_snippet_can_show() -> None:
    assert [word.literal for word in raw_words(['Foo NOT (bar OR "a b")'])] == ["foo", "bar", "a b"]


@pytest.mark.parametrize("words", [[], [""], ["  ", "\n"]])
def test_nothing_is_no_search(words: list[str]) -> None:
    with pytest.raises(Misused) as refused:
        asked(words)
    assert "at least one word" in refused.value.hint
    with pytest.raises(Misused):
        raw_expression(words)


@pytest.mark.parametrize("unseen", ["\u200b", "\u0301", "\u00ad", "\u2060\ufeff", "\u200b \u0301"])
def test_what_folds_to_nothing_is_no_word(unseen: str) -> None:
    """Nothing at all stands everywhere: looking for it never ends."""
    with pytest.raises(Misused, match="not seen by themselves"):
        asked([unseen])
    assert [word.literal for word in asked([unseen, "word"])] == ["word"]
    assert [word.literal for word in raw_words([f'word OR "{unseen}"'])] == ["word"]


@given(st.lists(st.text(), max_size=3))
def test_no_word_is_empty(words: list[str]) -> None:
    with suppress(Misused):
        assert all(word.literal for word in (*asked(words), *raw_words(words)))


@pytest.mark.parametrize("word", ["a\x00b", "\ud83d"])
def test_what_is_no_text_is_refused(word: str) -> None:
    with pytest.raises(Misused, match="NUL or half a character"):
        asked(["fine", word])


def test_words_are_bounded() -> None:
    assert len(asked(["w"] * limits.search_words_max)) == limits.search_words_max
    with pytest.raises(LimitExceeded) as refused:
        asked(["w"] * (limits.search_words_max + 1))
    assert (refused.value.facts["limit"], refused.value.facts["got"]) == ("search_words_max", 33)


def test_a_word_is_bounded() -> None:
    longest = "w" * limits.search_word_characters_max
    assert asked([longest])[0].literal == longest
    with pytest.raises(LimitExceeded) as refused:
        asked([longest + "w"])
    assert refused.value.facts["limit"] == "search_word_characters_max"


def test_a_plain_word_needs_no_check() -> None:
    assert asked(["Plain"]) == (Word(literal="plain", terms=("plain",), checked=False),)
