"""Where Markdown that comes is cut, and that the pieces are drawn as the whole is."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.markdown import Markdown

from forkwood.surfaces.cli.pieces import Cutter, Piece


def pieces_of(text: str) -> tuple[list[Piece], str]:
    cutter = Cutter()
    return list(cutter.add(text)), cutter.open


@pytest.mark.parametrize(
    ("text", "settled"),
    (
        ("", ""),
        ("one line", ""),
        ("one\n\n", ""),
        ("one\n\ntwo", ""),
        ("one\n\ntwo\n", "one\n\n"),
        ("one\n\ntwo\n\nthree\n", "one\n\n|two\n\n"),
        ("- a\n- b\n- c", "- a\n"),
        ("- a\n- b\n- c\n", "- a\n+- b\n"),
        ("- a\n\n- b\n", "- a\n\n"),
        ("- a\n\n  more of a\n", ""),
        ("- a\n  - aa\n  - ab\n- b\n", "- a\n  - aa\n  - ab\n"),
        ("- a\n* b\n", "- a\n"),
        ("so:\n- a\n- b\n", "so:\n|- a\n"),
        ("1. a\n2. b\n3. c\n", "1. a\n+2. b\n"),
        ("1. a\n1. b\n1. c\n", ""),
        ("1. a\n2) b\n", ""),
        ("1. a\n\n2. b\n\nafter\n", "1. a\n\n+2. b\n\n"),
        ("in\n1986. A great year\n", ""),
        ("in two\nlines\n\n1. a\n2. b\n", "in two\nlines\n\n|1. a\n"),
        ("# h\n\n3. c\n4. d\n", "# h\n\n|3. c\n"),
        ("```\na\n\nb\n", ""),
        ("```\n- a\n- b\n", ""),
        ("- a\n  ```\n  x\n  ```\n- b\n", "- a\n  ```\n  x\n  ```\n"),
        ("```\na\n\nb\n```\n\nafter\n", "```\na\n\nb\n```\n\n"),
        ("~~~~\n```\n\nx\n~~~\n\nstill\n", ""),
        ("> quoted\n\n> on\n", ""),
        ("a `b\n\nc` d\n", "a `b\n\n"),
    ),
)
def test_it_is_cut_only_between_what_is_drawn_apart_and_between_items(text: str, settled: str) -> None:
    """`|` stands where a blank line is drawn between two pieces, `+` where none is."""
    pieces, rest = pieces_of(text)
    cuts = ["|" if piece.apart else "+" for piece in pieces[:-1]]
    assert "".join(piece.text + cut for piece, cut in zip(pieces, [*cuts, ""], strict=False)) == settled
    assert "".join(piece.text for piece in pieces) + rest == text


LINES = st.lists(st.sampled_from(["a\n", "\n", "```\n", "- x\n", "* y\n", "  - n\n", "# h\n", "1. x\n", "2. y\n", "b"]))


@given(LINES.map("".join), st.data())
def test_however_it_is_torn_the_pieces_are_the_same_and_nothing_is_lost(text: str, data: st.DataObject) -> None:
    at = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    cutter, pieces = Cutter(), list[Piece]()
    for start, end in zip([0, *at], [*at, len(text)], strict=True):
        pieces += cutter.add(text[start:end])
    assert (pieces, cutter.open) == pieces_of(text)
    whole = "".join(piece.text for piece in pieces) + cutter.open
    assert whole == text or whole == text.lstrip("\n")


def drawn(*texts: str) -> list[str]:
    """The lines on the screen, whatever room is made for numbers: an item drawn alone does not know the last one."""
    out = io.StringIO()
    for text in texts:
        Console(file=out, width=60, color_system=None).print(Markdown(text))
    return [" ".join(line.split()) for line in out.getvalue().split("\n") if line.strip()]


PIECES = (
    "para;;```\ncode\n\n- x\n```;- x;* y;  - n;  more;# h;> q;1. x;2. y;3. z;7. q;---;***;    deep;| a | b |;|---|---|"
)
WRITTEN = st.lists(st.sampled_from([f"{line}\n" for line in PIECES.split(";")]), max_size=12).map("".join)


@given(WRITTEN)
def test_the_pieces_are_drawn_as_the_whole_is(text: str) -> None:
    pieces, rest = pieces_of(text)
    assert drawn(*(piece.text for piece in pieces), rest) == drawn(text)
