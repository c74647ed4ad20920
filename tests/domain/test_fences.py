"""Attachments as words: whole between fences, or by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forkwood.domain import fences
from tests.domain.paths import CAT, NOTES


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"plain", "plain"),
        (b"\xef\xbb\xbfwith a mark", "with a mark"),
        ("é\r\n".encode(), "é\r\n"),
        (b"\xff\xfe", None),
        (b"nul\0", None),
        (b"", ""),
    ],
)
def test_text_is_valid_utf_8_without_nul(content: bytes, text: str | None) -> None:
    assert fences.text_of_file(content) == text


@given(st.text(alphabet="`a\n", max_size=30))
def test_a_fence_is_longer_than_any_in_the_text(text: str) -> None:
    fence = fences.fence_around(text)
    assert fence not in text and set(fence) == {"`"} and len(fence) >= 3


def test_a_file_is_shown_whole_up_to_the_limit() -> None:
    assert fences.is_shown(replace(NOTES, size=100), 100) and not fences.is_shown(replace(NOTES, size=101), 100)
    assert not fences.is_shown(replace(NOTES, state="removed"), 100)
    assert not fences.is_shown(CAT, 100) and fences.is_picture(CAT)


def test_others_stand_by_name_type_and_size() -> None:
    assert fences.shown(CAT, None).text == "[attached: cat.png (image/png, 70 bytes)]"
    gone = replace(NOTES, state="removed", name="a\nb")
    assert fences.shown(gone, None).text == "[attached: a b (text/plain, 20 bytes, no longer kept)]"


def test_the_last_line_ends_before_the_fence() -> None:
    assert fences.shown(NOTES, b"a").text == fences.shown(NOTES, b"a\n").text == "notes.txt:\n```\na\n```"
