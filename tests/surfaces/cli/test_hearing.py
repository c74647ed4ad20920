"""What is said when runs have ended."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.surfaces.cli.desk import Call, Desk
from forkwood.surfaces.cli.hearing import tell_ends
from forkwood.surfaces.cli.live import Heard
from tests.surfaces.cli.desks import terminal, written
from tests.surfaces.cli.made import name
from tests.surfaces.cli.test_markdown import result

WAY_ON = "forkwood resume 00000001 goes on from where it stopped."
ASKED = "Your message stands at 00000009: forkwood retry 00000009 --model M answers it, forkwood undo takes it back."


def call(desk: Desk) -> Call:
    return Call(desk, conversation=None, key=None, as_json=False)


@pytest.mark.parametrize(
    ("end", "said"),
    (
        ({"status": "done"}, ""),
        (
            {"status": "cancelled"},
            "The run was cancelled. What came is kept as 00000002, marked partial. forkwood resume 00000001 goes on.\n",
        ),
        ({"status": "cancelled", "node": None}, "The run was cancelled. forkwood resume 00000001 goes on.\n"),
        (
            {"status": "failed", "error": {"kind": "provider", "message": "no server", "hint": "start it"}},
            f"forkwood: no server\n  start it\n{WAY_ON}\n",
        ),
        ({"status": "running"}, "The run 00000001 is running.\n"),
        ({"status": "queued"}, "The run 00000001 is queued.\n"),
    ),
)
def test_an_end_is_told_with_the_way_on(end: dict[str, Any], said: str) -> None:
    desk = Desk(terminal())
    tell_ends(call(desk), Heard(results=(result("", run=name(1), **end),), code=0))
    assert written(desk.terminal.err) == said


def test_a_message_that_got_no_reply_is_named_with_both_ways_out() -> None:
    desk = Desk(terminal())
    failed = result("", run=name(1), node=None, status="failed", error={"message": "no server"})
    tell_ends(call(desk), Heard(results=(failed,), code=1), asked=name(9))
    assert written(desk.terminal.err) == f"forkwood: no server\n{ASKED}\n"


def test_a_reply_that_was_cut_is_not_taken_for_a_whole_one() -> None:
    desk = Desk(terminal())
    tell_ends(call(desk), Heard(results=(result("x", run=name(1)),), code=0, cut=frozenset({name(1)})))
    assert written(desk.terminal.err) == "The reply was cut at the token limit: forkwood resume 00000001 goes on.\n"


def test_a_person_at_a_screen_hears_how_the_reply_is_named() -> None:
    desk = Desk(terminal(is_screen=True, NO_COLOR="1"))
    tell_ends(call(desk), Heard(results=(result("x", run=name(1)),), code=0))
    assert written(desk.terminal.err) == "00000002\n\n"
