"""Markdown while it comes: where it may be cut, and what is on the screen at the end."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from forkwood.domain.event import Event
from forkwood.domain.ids import Id
from forkwood.domain.model import Usage
from forkwood.domain.watch import DeltaSeen, EventSeen, Result
from forkwood.surfaces.cli.markdown import MarkdownReply, settle
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


@pytest.mark.parametrize(
    ("text", "settled"),
    (
        ("", ""),
        ("one line", ""),
        ("one\n\n", ""),
        ("one\n\ntwo", ""),
        ("one\n\ntwo\n", "one\n\n"),
        ("one\n\ntwo\n\nthree\n", "one\n\ntwo\n\n"),
        ("- a\n\n- b\n", ""),
        ("- a\n\n  more of a\n", ""),
        ("1. a\n\n2. b\n\nafter\n", "1. a\n\n2. b\n\n"),
        ("```\na\n\nb\n", ""),
        ("```\na\n\nb\n```\n\nafter\n", "```\na\n\nb\n```\n\n"),
        ("~~~~\n```\n\nx\n~~~\n\nstill\n", ""),
        ("> quoted\n\n> on\n", ""),
        ("a `b\n\nc` d\n", "a `b\n\n"),
    ),
)
def test_it_is_cut_only_between_blocks(text: str, settled: str) -> None:
    assert settle(text) == (settled, text[len(settled) :])


@given(st.lists(st.sampled_from(["a\n", "\n", "```\n", "- x\n", "# h\n", "b"]), max_size=30).map("".join))
def test_nothing_is_lost_by_cutting(text: str) -> None:
    settled, open_ = settle(text)
    assert settled + open_ == text
    assert settle(open_)[0] == "" or settle(open_)[0] != open_


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
