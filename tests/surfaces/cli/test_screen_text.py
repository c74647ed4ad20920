"""What of a text a screen may show as it is, and how the rest is spelled."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.surfaces.cli.screen_text import cells, cropped, indented, visible, visible_line, wrapped

SHOWN = (
    ("plain words", "plain words"),
    ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ("windows\r\nline", "windows\nline"),
    ("back\rto the start", "back\\x0dto the start"),
    ("abc\0def", "abc\\x00def"),
    ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    ("\x7f\x9b", "\\x7f\\x9b"),
    ("evil\u202etxt.exe", "evil\\u202etxt.exe"),
    ("a\u2066b\u2069", "a\\u2066b\\u2069"),
    ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
    ("line\u2028break", "line\\u2028break"),
    ("soft\u00adhyphen", "soft\\xadhyphen"),
    ("hangul\u3164filler", "hangul\\u3164filler"),
    ("tag\U000e0041", "tag\\U000e0041"),
    ("lone \ud83d", "lone \\ud83d"),
    ("nö 你好 🌳 é\u0301", "nö 你好 🌳 é\u0301"),
    ("👩\u200d💻", "👩\u200d💻"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("pass\u200dword", "pass\\u200dword"),
    ("\u200d", "\\u200d"),
)


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_what_could_not_be_seen_is_spelled(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_nothing_that_acts_on_a_screen_is_left(text: str) -> None:
    left = visible(text)
    assert not {unicodedata.category(character) for character in left if character not in "\n\t\u200c\u200d"} & {
        "Cc",
        "Cf",
        "Cs",
        "Zl",
        "Zp",
    }


def test_a_line_is_one_line() -> None:
    assert visible_line("  two\nlines\t\0 ") == "two lines \\x00"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    (
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("你好世界", 8, "你好世界"),
        ("你好世界", 7, "你好世…"),
        ("你好世界", 6, "你好…"),
        ("e\u0301e\u0301", 2, "e\u0301e\u0301"),
    ),
)
def test_columns_are_counted_not_characters(text: str, width: int, shown: str) -> None:
    assert cropped(text, width) == shown
    assert cells(cropped(text, width)) <= width


def test_blank_lines_are_not_indented() -> None:
    assert indented("a\n\nb") == "  a\n\n  b"


@pytest.mark.parametrize(
    ("text", "width", "broken"),
    (
        ("one two three", 0, "one two three"),
        ("one two three", 7, "one two\nthree"),
        ("one two three", 8, "one two\nthree"),
        ("one\n\ntwo three", 5, "one\n\ntwo\nthree"),
        ("    deep words here", 14, "    deep words\n    here"),
        ("wordwithoutend and", 6, "wordwithoutend\nand"),
        ("木木 木木", 5, "木木\n木木"),
        ("", 5, ""),
    ),
)
def test_words_break_where_they_end_and_go_on_under_their_beginning(text: str, width: int, broken: str) -> None:
    assert wrapped(text, width) == broken


def test_our_own_colours_take_no_room() -> None:
    assert cells("\x1b[2mab\x1b[0m") == 2
    assert wrapped("\x1b[2mone two\x1b[0m three", 7) == "\x1b[2mone two\x1b[0m\nthree"
