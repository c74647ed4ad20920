"""Marks and inks."""

from __future__ import annotations

import pytest

from forkwood.surfaces.cli.glyphs import ASCII, COLOURED, PLAIN, UNICODE, Glyphs


@pytest.mark.parametrize("glyphs", (UNICODE, ASCII))
def test_no_two_marks_of_nodes_look_alike(glyphs: Glyphs) -> None:
    marks = [glyphs.user, glyphs.reply, glyphs.partial, glyphs.tool, glyphs.system, glyphs.graft]
    assert len(set(marks)) == len(marks)


def test_the_second_alphabet_is_ascii() -> None:
    assert ASCII.all.isascii()
    assert not UNICODE.all.isascii()


def test_plain_inks_leave_no_trace() -> None:
    assert [PLAIN.bold("x"), PLAIN.dim("x"), PLAIN.mark("x"), PLAIN.alarm("x")] == ["x"] * 4
    assert COLOURED.bold("x") == "\x1b[1mx\x1b[0m"
