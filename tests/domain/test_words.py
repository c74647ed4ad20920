"""What a search takes for equal, and what it takes for a term."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forkwood.domain import words
from forkwood.domain.message import Attachment, Part, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.words import TERM_CHARACTERS, fold, indexed, is_unspaced, keeps_places, pieces, searchable, terms

_PICTURE = Attachment(blob="0" * 64, media="image", name="cat photo.png", mime="image/png", size=1)


@pytest.mark.parametrize(
    ("said", "folded"),
    [
        ("Hello WORLD", "hello world"),
        ("Straße", "strasse"),
        ("crème brûlée", "creme brulee"),
        ("cre\u0300me", "creme"),
        ("Łódź, Ørsted, Đà Nẵng", "lodz, orsted, da nang"),
        ("İstanbul Işık", "istanbul isik"),
        ("Ёлка", "елка"),
        ("мой и мои", "мой и мои"),
        ("Άνθρωπος", "ανθρωποσ"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("ＦＵＬＬ　１２３", "full 123"),
        ("ﾀﾞｲｶﾞｸ", "ダイガク"),
        ("\u30cf\u3099", "バ"),
        ("\u1112\u1161\u11ab", "한"),
        ("ﬁne ②", "fine 2"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("don’t “say” a–b", 'don\'t "say" a-b'),
        ("हिन्दी", "हिन्दी"),
        ("น้ำ", "น\u0e49\u0e4dา"),
    ],
)
def test_what_a_person_takes_for_equal_folds_to_the_same(said: str, folded: str) -> None:
    assert fold(said) == folded


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("use foo-bar, then snake_case.", ["use", "foo", "bar", "then", "snake", "case"]),
        ("c++ or C#", ["c", "or", "c"]),
        ('a"b', ["a", "b"]),
        ("/usr/local/.env", ["usr", "local", "env"]),
        ("me@example.com 3.11", ["me", "example", "com", "3", "11"]),
        ("我们讨论数据库 ok设计", ["我", "们", "讨", "论", "数", "据", "库", "ok", "设", "计"]),
        ("スーパー", ["ス", "ー", "パ", "ー"]),
        ("데이터를", ["데", "이", "터", "를"]),
        ("ไทยดี", ["ไ", "ท", "ย", "ด", "ี"]),
        ("हिन्दी में।", ["हिन्दी", "में"]),
        ("-> !! 🎉", []),
        ("\x00a\x00b", ["a", "b"]),
    ],
)
def test_terms_are_runs_of_letters_or_single_characters(said: str, found: list[str]) -> None:
    assert terms(fold(said)) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("getUserName", ["get", "user", "name"]),
        ("HTTPServer", ["http", "server"]),
        ("utf8Codec parseV2Header", ["utf8", "codec", "parse", "v2", "header"]),
        ("userName and userName again", ["user", "name"]),
        ("snake_case Plain WORDS and v2", []),
    ],
)
def test_identifiers_with_humps_have_pieces(said: str, found: list[str]) -> None:
    assert pieces(said) == found


def test_a_long_term_is_indexed_by_its_beginning() -> None:
    assert terms("a" * TERM_CHARACTERS) == ["a" * TERM_CHARACTERS]
    assert terms("a" * (TERM_CHARACTERS + 1) + " b") == ["a" * TERM_CHARACTERS, "b"]


def test_every_text_of_every_part_is_searchable() -> None:
    parts: tuple[Part, ...] = (
        Text(text="said"),
        Thinking(text="thought"),
        ToolCall(call="1", name="code_grep", arguments={"pattern": "x", "deep": [{"n": 7, "off": None, "on": True}]}),
        ToolCall(call="2", name="raw", arguments="{broken"),
        ToolResult(call="1", name="code_grep", outcome="ok", parts=(Text(text="result"), _PICTURE)),
        _PICTURE,
    )
    assert list(searchable(parts)) == [
        *("said", "thought", "code_grep", "pattern", "x", "deep", "n", "7", "off", "on", "raw", "{broken"),
        *("code_grep", "result", "cat photo.png", "cat photo.png"),
    ]


def test_the_index_takes_terms_in_order_and_then_pieces() -> None:
    assert indexed((Text(text="call getName now"), Text(text="数据 x"))) == "call getname now 数 据 x get name"


@given(st.text())
def test_folding_again_changes_no_term(said: str) -> None:
    assert terms(fold(fold(said))) == terms(fold(said))


@given(st.text())
@example("数据 getName")
def test_terms_come_back_from_the_index_as_they_went_in(said: str) -> None:
    stored = indexed((Text(text=said),))
    assert stored.split(" ") == [*terms(fold(said)), *pieces(said)] or not stored
    assert all(term.isalnum() or not term.isascii() for term in stored.split())


def test_what_needs_no_look_at_each_character_folds_as_if_it_had_one() -> None:
    known = [character for code in range(0xD7A4) if words._ONLY_CASE.fullmatch(character := chr(code))]
    assert {"a", "Z"} <= set(known)
    for character in known:
        assert words._folds[ord(character)] == fold(character) == unicodedata.normalize("NFKC", character).lower()


@given(st.text())
def test_where_places_are_kept_lengths_are_too(said: str) -> None:
    assert not keeps_places(said) or len(fold(said)) == len(said)


@pytest.mark.parametrize(("character", "is_one"), [("数", True), ("한", True), ("ไ", True), ("a", False), ("ж", False)])
def test_scripts_without_spaces_are_known(character: str, is_one: bool) -> None:
    assert is_unspaced(character) is is_one
