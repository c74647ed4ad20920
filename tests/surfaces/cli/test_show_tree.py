"""The tree as lines of a terminal."""

from __future__ import annotations

import pytest

from forkwood.domain.message import Origin
from forkwood.surfaces.cli.glyphs import ASCII, COLOURED, PLAIN, UNICODE, Pen
from forkwood.surfaces.cli.screen_text import cells
from forkwood.surfaces.cli.show_tree import Marked, draw_tree, mark_of
from tests.surfaces.cli.made import graft, message, name

PEN = Pen(glyphs=UNICODE, inks=PLAIN, width=70)
NODES = [
    message(1, None, "What is a tree?"),
    message(2, 1, "A plant.", "assistant"),
    message(3, 2, "And a graph?"),
    message(4, 2, "And a\nmap?", revises=name(3)),
    graft(5, 4, 3, 1),
    message(6, f"{name(5)}~1", "In between", "assistant", origin=Origin(by="user", via="cli")),
    message(7, 5, "half a wo", "assistant", partial=True),
    message(8, 7, "secret", hidden=True),
]
DRAWN = """\
○ 00000001  What is a tree?
● 00000002  A plant.
├─○ 00000003  And a graph?
○ 00000004  And a map?  replaces 00000003
⇢ 00000005  carries 1 message up to 00000003
├─● 00000006  In between  without the last 1 message of 00000005  ✎ by you
◐ 00000007  half a wo  [here]  partial  working …  ◀ @
○ 00000008  secret  hidden"""
MARKED = Marked(head=name(7), labels={name(7): ["here"]}, working=frozenset({name(7)}))


def test_a_tree_is_drawn_with_all_that_is_particular() -> None:
    assert draw_tree(NODES, MARKED, PEN) == DRAWN


def test_a_run_that_nobody_drives_is_not_at_work() -> None:
    left = Marked(head=name(7), working=frozenset({name(7)}), left={name(7): name(42)})
    assert "partial  left at work, resume 00000042  ◀ @" in draw_tree(NODES, left, PEN)


def test_a_graft_shows_the_first_and_last_words_of_what_it_carries() -> None:
    many = Marked(carried={name(5): ("And a graph?", "Its end.")})
    assert "carries 1 message up to 00000003: And a graph? … Its end." in draw_tree(NODES, many, PEN)
    one = Marked(carried={name(5): ("And a graph?", "And a graph?")})
    assert draw_tree(NODES[:5], one, PEN).endswith("up to 00000003: And a graph?")


def test_the_same_in_ascii() -> None:
    drawn = draw_tree(NODES[:5], Marked(head=name(5)), Pen(glyphs=ASCII, inks=PLAIN, width=70))
    assert drawn.split("\n")[2:] == [
        "|-o 00000003  And a graph?",
        "o 00000004  And a map?  replaces 00000003",
        "> 00000005  carries 1 message up to 00000003  <- @",
    ]


def test_what_is_hidden_is_faint() -> None:
    line = draw_tree(NODES, MARKED, Pen(glyphs=UNICODE, inks=COLOURED, width=70)).split("\n")[-1]
    assert line.startswith("\x1b[2m○ 00000008")


def test_a_source_elsewhere_is_said_to_be_elsewhere() -> None:
    assert "up to 00000077 of another conversation" in draw_tree([graft(1, None, 77, 12)], Marked(), PEN)


def test_a_head_inside_a_graft_says_how_far() -> None:
    nodes = [message(1, None, "x"), graft(2, 1, 9, 4)]
    assert draw_tree(nodes, Marked(head=f"{name(2)}~3"), PEN).endswith("◀ @~3")


@pytest.mark.parametrize("width", (40, 70, 100))
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    nodes = [message(seq, seq - 1 or None, "长 words " * 40) for seq in range(1, 9)]
    pen = Pen(glyphs=UNICODE, inks=PLAIN, width=width)
    assert all(cells(line) <= width for line in draw_tree(nodes, Marked(head=name(8)), pen).split("\n"))


def test_ten_thousand_nodes_deep_or_wide_are_drawn() -> None:
    line = [message(1, None), *(message(seq, seq - 1, "x") for seq in range(2, 10_001))]
    stairs = [message(1, None), *(message(seq, seq - 2 if seq > 2 else 1, "x") for seq in range(2, 10_001))]
    assert draw_tree(line, Marked(head=name(10_000)), PEN).count("\n") == 9_999
    assert draw_tree(stairs, Marked(head=name(10_000)), PEN).count("\n") == 9_999
    assert draw_tree(line, Marked(head=name(10_000)), PEN, fold=True).split("\n")[0] == "⋮ 9,999 messages"


def test_deep_nesting_is_counted_not_drawn() -> None:
    nodes = [message(1, None)]
    for depth in range(1, 40):
        at = nodes[-1].seq
        nodes += [message(depth * 2, at), message(depth * 2 + 1, at)]
    drawn = draw_tree(nodes, Marked(head=name(2)), PEN)
    assert max(map(len, drawn.split("\n"))) <= 70


def test_nothing_said_is_said() -> None:
    assert draw_tree([], Marked(), PEN) == "Nothing is said here yet."


@pytest.mark.parametrize(("role", "mark"), (("user", "○"), ("assistant", "●"), ("tool", "◆"), ("system", "■")))
def test_each_role_has_its_mark(role: str, mark: str) -> None:
    assert mark_of(message(1, None, "x", role), UNICODE) == mark
