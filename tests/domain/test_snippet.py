"""A snippet shows the first place that matches, on one line, with what matches marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain.query import asked
from forkwood.domain.snippet import SNIPPET_CHARACTERS, snippet
from forkwood.domain.words import fold


def shown(text: str, *words: str) -> tuple[str, list[str]]:
    """The snippet of one TEXT, and what is marked in it."""
    line, marks = snippet([(text, fold(text))], asked(words))
    return line, [line[start:end] for start, end in marks]


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("the Budget of the budgets", ["budget"], ["Budget", "budget"]),
        ("subcategory cat", ["cat"], ["cat"]),
        ("subcategory", ["cat"], ["cat"]),
        ("我们讨论数据库设计", ["数据库"], ["数据库"]),
        ("die Straße, die STRASSE", ["strasse"], ["Straße", "STRASSE"]),
        ("CAFE\u0301 ＢＡＲ", ["cafe", "bar"], ["CAFE\u0301", "ＢＡＲ"]),
        ("a  \n b", ["a b"], ["a b"]),
        ("foobar", ["foob", "obar"], ["foobar"]),
        ("b then a", ["a", "b"], ["b", "a"]),
    ],
)
def test_what_matches_is_marked(text: str, words: list[str], marked: list[str]) -> None:
    assert shown(text, *words)[1] == marked


def test_a_long_text_is_cut_between_words_around_the_place() -> None:
    line, marked = shown("before " * 100 + "needle " + "after " * 100, "needle")
    assert marked == ["needle"]
    assert line.startswith("…before ")
    assert line.endswith(" after…")
    assert 100 < len(line) <= SNIPPET_CHARACTERS + 2


def test_a_place_deep_in_a_text_whose_folding_moves_places_is_shown() -> None:
    assert shown("e\u0301ß " * 9_000 + "needle" + " ﬁ" * 500, "needle")[1] == ["needle"]


def test_a_text_without_spaces_is_cut_anywhere() -> None:
    line, marked = shown("数" * 500 + "库" + "据" * 500, "库")
    assert marked == ["库"]
    assert len(line) == SNIPPET_CHARACTERS + 2


def test_white_space_and_lines_become_single_spaces() -> None:
    assert shown("one\r\n\t two\n\nthree", "two")[0] == "one two three"


def test_a_literal_longer_than_the_snippet_is_marked_by_its_beginning() -> None:
    assert shown("x" * 400, "x" * 300)[1] == ["x" * 100]


def test_the_first_word_decides_which_text_is_shown() -> None:
    texts = [("", ""), ("only b here", "only b here"), ("a and b", "a and b")]
    assert snippet(texts, asked(["a", "b"]))[0] == "a and b"


def test_where_nothing_matches_the_first_text_begins() -> None:
    assert snippet([(" ", " "), ("something else", "something else")], asked(["absent"])) == ("something else", ())
    assert snippet([], asked(["absent"])) == ("", ())


@given(st.text(), st.sampled_from(["needle", "数据", "Straße", "a b"]), st.text())
def test_marks_lie_in_the_snippet_and_spell_the_word(before: str, word: str, after: str) -> None:
    line, marks = snippet([(text := f"{before} {word} {after}", fold(text))], asked([word]))
    assert "\n" not in line
    assert all(0 <= start < end <= len(line) for start, end in marks)
    assert any(fold(word) in fold(line[start:end]) for start, end in marks)
