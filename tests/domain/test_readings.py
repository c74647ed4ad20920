"""A reading is what is left of a text when all is undone, and it knows where each of its letters stands."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain import limits
from forkwood.domain.readings import LETTERS, SIGNS, begun, read, read_mapped, suited
from forkwood.domain.words import fold, terms

PLAIN, UNDONE, BARE = LETTERS
FAMILIES = st.sampled_from((LETTERS, SIGNS))
IGNORABLE = [
    0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010),
    *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
    *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
]  # fmt: skip
"""What Unicode calls default-ignorable (DerivedCoreProperties)."""


@given(
    text=st.text("aAß\u0130\u0301\uff21ﬁ \n<b>!-\\\\x41u0041U%4125C3BC&#65;amp\u200b"),
    family=FAMILIES,
    at=st.sampled_from((0, 1, 2)),
)
def test_a_reading_knows_where_it_stands(text: str, family: tuple[object, ...], at: int) -> None:
    reading = (LETTERS if family is LETTERS else SIGNS)[at]
    mapped = read_mapped(text, reading)
    assert mapped.words == read(text, reading)
    places = [mapped.span(at, at + 1) for at in range(len(mapped.words))]
    assert places == sorted(places)
    for (start, end), letter in zip(places, mapped.words, strict=True):
        assert letter in read(text[start:end], reading)


def test_what_is_not_seen_is_not_read() -> None:
    unseen = "".join(map(chr, IGNORABLE))
    assert [read(f"a{unseen}b", family[0]) for family in (LETTERS, SIGNS)] == ["ab", "ab"]


@given(st.text(max_size=30))
def test_what_a_search_finds_in_a_text_can_be_read_in_it(text: str) -> None:
    """The index never spells what no reading shows."""
    latin = [term for term in terms(fold(text)) if term.isascii()]
    assert all(term in read(text, PLAIN) for term in latin)


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Z\u0301q\u03019", "zq9"),
        ("\uff3a\uff511", "zq1"),
        ("𝐙𝗊①ⅳ", "zq1iv"),
        ("İ ß K", "issk"),
        ("a_b-c. d/e+f=", "abcdef"),
    ],
)
def test_letters_are_folded_as_a_search_folds_them(text: str, letters: str) -> None:
    assert read(text, PLAIN) == letters


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("\\U0000005a\\132\\x5A\\u005a\\u{5a}", "zzzzz"),
        ("\\uff3a\\u002d\\U0000034f%2D&shy;&#45;", "z"),
        ("\\400\\13", "40013"),
        ("é\\U0000005a", "ez"),
        ("a<!-- x > y -->b<!-->c-->d<!---->e<i>f", "abdef"),
        ("a<!-- b", "ab"),
        ("a < b", "ab"),
    ],
)
def test_escapes_and_comments_are_undone(text: str, letters: str) -> None:
    assert read(text, BARE) == letters


def test_many_comments_that_never_end_cost_little() -> None:
    assert read("<!--" * 100_000 + "a-", BARE) == "a"


@pytest.mark.parametrize(
    ("text", "readings"),
    [("a", 1), ("50%", 2), ("&", 2), ("\\", 2), ("<b", 2), ("<b\\", 3), ("\uff1cb", 2), ("\uff05", 2)],
)
def test_a_text_is_read_in_as_many_ways_as_it_may_differ(text: str, readings: int) -> None:
    assert len(suited(text, LETTERS)) == readings


@pytest.mark.parametrize(
    ("text", "tail"),
    [
        ("a \\U0000", "\\U0000"),
        ("a \\13", "\\13"),
        ("a <!-- b > c --", "<!-- b > c --"),
        ("a <!-- b > c -->", ""),
        ("a <" + "b" * (limits.secret_tag_characters_max - 1), "<" + "b" * (limits.secret_tag_characters_max - 1)),
        ("a <" + "b" * limits.secret_tag_characters_max, ""),
    ],
)
def test_what_begins_at_an_end_is_told(text: str, tail: str) -> None:
    assert text[begun(text, BARE, LETTERS)[0] :] == tail
    assert begun(text, PLAIN, LETTERS) == (len(text), len(text))


def test_the_list_of_what_is_not_seen_holds_no_letter() -> None:
    assert {unicodedata.category(chr(code)) for code in IGNORABLE} <= {"Cf", "Mn", "Lo", "Cn"}
