"""What a person sees of a call before the yes: nothing in it hides."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain.visible import visible

SHOWN = {
    "words": ("plain words\nand a line", "plain words\nand a line"),
    "other scripts": ("nö 你好 🌳 é\u0301", "nö 你好 🌳 é\u0301"),
    "a control": ("a\x1b[31mb", "a\\u001b[31mb"),
    "a carriage return that hides what was before": ("rm\rls", "rm\\u000dls"),
    "a tab": ("a\tb", "a\\u0009b"),
    "a C1 control": ("a\x9bb", "a\\u009bb"),
    "text turned around": ("evil\u202etxt.exe", "evil\\u202etxt.exe"),
    "an isolate": ("a\u2066b\u2069", "a\\u2066b\\u2069"),
    "zero width": ("a\u200bb\ufeff\u2060", "a\\u200bb\\ufeff\\u2060"),
    "joiners": ("pass\u200dword \u200c", "pass\\u200dword \\u200c"),
    "a soft hyphen": ("a\u00adb", "a\\u00adb"),
    "tags": ("a\U000e0041\U000e007f", "a\\U000e0041\\U000e007f"),
    "variation selectors": ("a\ufe0f\U000e0100", "a\\ufe0f\\U000e0100"),
    "a blank that is none": ("a\u00a0b\u3000c\u2003d", "a\\u00a0b\\u3000c\\u2003d"),
    "letters with nothing to see": ("a\u3164\u115f\u2800", "a\\u3164\\u115f\\u2800"),
    "marks with nothing to see": ("a\u034f\u17b4\u180b", "a\\u034f\\u17b4\\u180b"),
    "line separators": ("a\u2028b\u2029c\x85", "a\\u2028b\\u2029c\\u0085"),
    "private and unassigned": ("\ue000\u0378", "\\ue000\\u0378"),
    "half a pair": ("\ud83d", "\\ud83d"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_hides_is_spelled(name: str) -> None:
    text, shown = SHOWN[name]
    assert visible(text) == shown


@given(st.text())
def test_nothing_is_left_that_could_not_be_seen(text: str) -> None:
    left = {unicodedata.category(character) for character in visible(text) if character not in " \n"}
    assert not left & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_what_is_shown_twice_is_shown_the_same(text: str) -> None:
    assert visible(visible(text)) == visible(text)
