"""A path as a person reads it."""

from __future__ import annotations

from forkwood.domain.message import Origin
from forkwood.domain.tree import Notice
from forkwood.surfaces.cli.glyphs import PLAIN, UNICODE, Pen
from forkwood.surfaces.cli.show_path import draw_entry, draw_node, draw_path
from tests.surfaces.cli.made import entry, message, name

PEN = Pen(glyphs=UNICODE, inks=PLAIN, width=80)


def test_each_message_stands_under_who_said_it_and_its_name() -> None:
    entries = [
        entry(message(1, None, "What is\na tree?")),
        entry(
            message(2, 1, "A plant.", "assistant", origin=Origin(by="model", via="cli", model="embedded:smollm2")), 2, 3
        ),
    ]
    assert draw_path(entries, PEN, head=name(2)) == (
        "you  00000001 #1\n  What is\n  a tree?\n\nreply  00000002 #2 embedded:smollm2 ‹2/3›  ◀ @\n  A plant."
    )


def test_all_marks_of_an_entry() -> None:
    node = message(
        7,
        6,
        "half",
        "assistant",
        origin=Origin(by="user", via="web"),
        partial=True,
        partial_reason="cancelled",
        hidden=True,
        revises=name(3),
    )
    notices = (Notice(seq=9, what="partial", text="The stream\nbroke off\x1b[2J"),)
    assert draw_entry(entry(node, graft=name(5), notices=notices), PEN) == (
        "reply  00000007 #7 ✎ by you via web replaces 00000003 ◐ partial (cancelled) hidden ⇢ carried 00000005\n"
        "  half\n"
        "  ▲ The stream broke off\\x1b[2J"
    )


def test_the_head_is_marked_where_it_stands_and_nowhere_else() -> None:
    entries = [entry(message(1, None, "x")), entry(message(2, 1, "y"))]
    assert "@" not in draw_path(entries, PEN, head=name(3))
    assert "@" not in draw_path(entries, PEN)
    carried = [entry(message(2, 1, "y"), graft=name(8))]
    assert draw_path(carried, PEN, head=f"{name(8)}~2").split("\n")[0].endswith("◀ @")


def test_text_that_would_act_on_the_screen_is_spelled() -> None:
    assert "abc\\x00def" in draw_node(message(1, None, "abc\0def"), PEN)


def test_an_empty_path_says_so() -> None:
    assert draw_path([], PEN) == "Nothing is said here yet."


def test_of_long_results_a_path_shows_the_beginning_and_the_node_all() -> None:
    for words, shown in (("x\n" * 30, 20), ("y" * 3_000, 1), ("z", 1)):
        node = message(3, 2, words, "tool")
        drawn = draw_entry(entry(node), PEN).split("\n")[1:]
        cut = len(words) > 1
        assert (drawn[-1] == "  [the rest: forkwood show 00000003]") == cut
        assert len(drawn) == shown + cut and len("".join(drawn)) < 2_100
        assert draw_node(node, PEN).count(words[0]) == len(words.replace("\n", ""))
    assert draw_entry(entry(message(1, None, "x\n" * 30)), PEN).count("x") == 30
