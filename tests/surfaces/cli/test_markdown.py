"""Markdown while it comes: what is on the screen at the end, and what it takes to get there."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from forkwood.domain.event import Event
from forkwood.domain.ids import Id
from forkwood.domain.model import Usage
from forkwood.domain.watch import DeltaSeen, EventSeen, Result
from forkwood.surfaces.cli import markdown as room
from forkwood.surfaces.cli.markdown import MarkdownReply
from tests.surfaces.cli.desks import terminal
from tests.surfaces.cli.made import name

RUN: Id = name(1)


def delta(text: str, part: str = "text", index: int = 0) -> DeltaSeen:
    return DeltaSeen(run=RUN, part=part, index=index, text=text)  # type: ignore[arg-type]


def result(text: str, **fields: Any) -> Result:
    usual: dict[str, Any] = {"run": RUN, "status": "done", "node": name(2), "usage": Usage(), "error": None}
    return Result(text=text, **{**usual, **fields})


def turn_started() -> EventSeen:
    usual: dict[str, Any] = dict.fromkeys(Event.__struct_fields__)
    return EventSeen(
        **{**usual, "seq": 1, "at_ms": 1, "kind": "turn.started", "by": "system", "via": "cli", "payload": {}}
    )


def drawn(*seen: Any) -> str:
    """What stands on a screen after SEEN, as plain text, without its blank lines."""
    out = io.StringIO()
    reply = MarkdownReply(terminal(), Console(file=out, width=60, color_system=None, force_terminal=False))
    for one in seen:
        reply.see(one)
    reply.close()
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n") if line.strip())


WHOLE = "# Trees\n\nA tree *is*:\n\n- one\n- two\n\n```\ncode  here\n```\n\nDone."


def test_however_it_comes_the_same_stands_there_at_the_end() -> None:
    at_once = drawn(delta(WHOLE), result(WHOLE))
    by_letter = drawn(*(delta(letter) for letter in WHOLE), result(WHOLE))
    assert at_once == by_letter
    for words in ("Trees", "A tree is:", " • one", "code  here", "Done."):
        assert words in at_once


def test_paragraphs_are_apart_and_items_are_not() -> None:
    out = io.StringIO()
    reply = MarkdownReply(terminal(), Console(file=out, width=30, color_system=None))
    text = "Two\nlines:\n\n1. a\n2. b\n   - c\n   - d\n\n3. e\n\n# Head\n\n- f\n* g\n\nEnd."
    for letter in text:
        reply.see(delta(letter))
    reply.see(result(text))
    shown = [line.strip() for line in out.getvalue().strip().split("\n")]
    assert shown == [
        "Two lines:",
        "",
        "1 a",
        "2 b",
        "• c",
        "• d",
        "3 e",
        "",
        "Head",
        "",
        "• f",
        "",
        "• g",
        "",
        "End.",
    ]


def test_what_was_missed_follows_with_the_result() -> None:
    assert "hello world" in drawn(delta("hello "), result("hello world"))
    assert "all of it" in drawn(result("all of it"))


def test_nothing_is_said_twice() -> None:
    assert drawn(delta("once"), result("once")).count("once") == 1


def test_a_reply_cannot_act_on_the_screen() -> None:
    assert "\x1b" not in drawn(delta("\x1b]0;title\x07 \x1b[2J"), result("\x1b]0;title\x07 \x1b[2J"))


def test_thinking_gives_way_to_the_answer() -> None:
    assert "answer" in drawn(delta("hm, let me see", "thinking"), delta("answer", index=1), result("answer"))


def test_each_turn_is_a_reply_of_its_own() -> None:
    shown = drawn(turn_started(), delta("first"), turn_started(), delta("second"), result("second"))
    assert shown.index("first") < shown.index("second")
    assert shown.count("second") == 1


@pytest.mark.parametrize("items", (100, 400))
def test_what_comes_is_parsed_once_however_long_it_is(monkeypatch: pytest.MonkeyPatch, items: int) -> None:
    parsed: list[str] = []

    def counted(text: str) -> Markdown:
        parsed.append(text)
        return Markdown(text)

    monkeypatch.setattr(room, "Markdown", counted)
    text = "So:\n" + "- one word and another\n" * items
    drawn(*(delta(scrap) for scrap in text.split(" ")), result(text))
    assert sum(map(len, parsed)) <= len(text)


def test_what_is_open_is_drawn_when_it_has_rested_and_no_more_of_it_than_the_screen_holds() -> None:
    clock = iter((1.0, 3.0, 22.9, 23.1, 23.2, 23.3, 23.4))
    drawings: list[int] = []

    def draw() -> Text:
        drawings.append(len(drawings) + 1)
        return Text("\n".join(f"{line}.{drawings[-1]}" for line in range(1, 9)))

    out = io.StringIO()
    console = Console(file=out, width=20, height=4, color_system=None)
    tail = room.Tail(draw, lambda: next(clock))
    for _ in range(3):  # the first took 2 seconds: 20 are rest
        console.print(tail, "")
    tail.forget()
    console.print(tail, "")
    assert out.getvalue().split() == [f"{line}.{n}" for n in (1, 1, 2, 3) for line in (6, 7, 8)]


def test_thinking_is_held_to_its_last_lines() -> None:
    reply = MarkdownReply(terminal(), Console(file=io.StringIO(), color_system=None))
    for _ in range(1_000):
        reply.see(delta("a long thought\n", "thinking"))
    assert len(reply.thought) == room.THOUGHT_CHARACTERS
    reply.close()
