"""Text is made storable, visibly, and cut to one line for titles (T24, T25)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from forkwood.domain.text import first_line, is_deeper, storable, storable_value


@given(some.text(some.characters(exclude_categories=[])))
def test_whatever_comes_can_be_written_as_utf_8(text: str) -> None:
    assert storable(text).encode().decode() == storable(text)


@given(some.text())
def test_valid_text_is_left_alone(text: str) -> None:
    assert storable(text) == text


def test_t24_a_lone_surrogate_is_spelled_out() -> None:
    assert storable("a\ud83db") == "a\\ud83db"
    assert storable("\ud83d\ude00") == "\\ud83d\\ude00"


def test_t25_a_nul_is_text() -> None:
    assert storable("abc\x00def") == "abc\x00def"


def test_values_are_made_storable_to_the_last_key() -> None:
    assert storable_value({"\udc00": ["\udfff", 1, None, {"a": "b"}]}) == {"\\udc00": ["\\udfff", 1, None, {"a": "b"}]}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one\ntwo", "one"),
        ("\n  \n  two   words \n", "two words"),
        ("", ""),
        (" \n\t", ""),
        ("abcdefghij", "abcdefghij"),
        ("abcdefghijk", "abcdefghi…"),
        ("abcdefgh ijkl", "abcdefgh…"),
    ],
)
def test_a_title_is_the_first_line_that_says_something(text: str, line: str) -> None:
    assert first_line(text, 10) == line


@pytest.mark.parametrize(
    ("json", "depth"),
    [
        ("1", 0),
        ('"[[["', 0),
        ('"\\"[[["', 0),
        ("[]", 1),
        ('[{"a":[1,{}]},[]]', 4),
        ('{"[[\\\\":"]]\\"[[","b":[]}', 2),
        ("[" * 9, 9),
        ("[][][][]", 1),
    ],
)
def test_how_deep_a_json_text_is_nested(json: str, depth: int) -> None:
    assert not is_deeper(json, depth)
    assert not depth or is_deeper(json, depth - 1)
