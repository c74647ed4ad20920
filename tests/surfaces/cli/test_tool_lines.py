"""Tools while a reply comes: each call in a line as it begins, another as it ends, none of them among the words."""

from __future__ import annotations

from typing import Any

from forkwood.domain.ids import Id
from forkwood.domain.message import Text, ToolCall
from forkwood.domain.tree import Node
from forkwood.domain.watch import EventSeen, Seen
from forkwood.surfaces.cli.tool_lines import WithTools
from forkwood.surfaces.cli.views import PlainReply, RepliesInTurn
from tests.surfaces.cli.desks import terminal, written
from tests.surfaces.cli.made import message, name
from tests.surfaces.cli.test_markdown import RUN, delta, result, turn_started

CALLS = (
    ToolCall(call="a", name="look", arguments={"at": "here\n"}),
    ToolCall(call="b", name="find", arguments="{not JSON\x1b"),
)


def event(kind: str, at_ms: int, node: Id | None = None, run: Id = RUN, **payload: Any) -> EventSeen:
    return EventSeen(
        seq=at_ms, at_ms=at_ms, kind=kind, conversation=name(9), run=run, node=node, by="system", via="cli",
        payload=payload,
    )  # fmt: skip


def settled(call: str, at_ms: int, outcome: str, words: str = "", run: Id = RUN) -> EventSeen:
    parts = [{"kind": "text", "text": words}] if words else []
    return event("call.settled", at_ms, run=run, call=call, outcome=outcome, parts=parts)


def kept(run: Id = RUN) -> EventSeen:
    return event("reply.kept", 1, name(5), run, calls=[{"call": "a"}])


def look(_node: Id) -> Node:
    return message(5, 4, "Let me see.", "assistant", parts=(Text(text="Let me see."), *CALLS))


def seen(*items: Seen) -> tuple[str, str]:
    """What stands on standard output and on standard error."""
    here = terminal()
    view = WithTools(PlainReply(here), here, {RUN: ""}, look)
    for item in items:
        view.see(item)
    view.close()
    return written(here.out), written(here.err)


def test_calls_are_told_as_they_begin_and_end_beside_the_words() -> None:
    out, err = seen(
        turn_started(),
        delta("Let me see."),
        kept(),
        event("call.started", 1_000, call="a"),
        settled("a", 1_340, "ok", "There it is.\nAnd more."),
        settled("b", 1_350, "error", "the arguments are not one JSON object"),
        turn_started(),
        delta("It is here."),
        result("It is here."),
    )
    assert out == "Let me see.\nIt is here.\n"
    assert err.splitlines() == [
        '◆ look {"at": "here\\n"}',
        "  look: ok, 0.3 s: There it is. And more.",
        "◆ find {not JSON\\x1b",
        "  find: error: the arguments are not one JSON object",
    ]


def test_what_was_missed_of_a_reply_that_calls_stands_before_its_calls() -> None:
    out, err = seen(delta("Let me"), kept(), event("call.started", 1, call="a"))
    assert out == "Let me see.\n" and err == '◆ look {"at": "here\\n"}\n'


def test_a_run_that_ends_with_its_tools_says_its_words_once() -> None:
    out, _ = seen(delta("Let me see."), kept(), settled("a", 1, "denied"), result("Let me see.", status="failed"))
    assert out == "Let me see.\n"


def test_of_several_models_each_line_names_its_own() -> None:
    here = terminal()
    other = name(3)
    view = WithTools(RepliesInTurn(here, {RUN: "one:a", other: "two:b"}), here, {RUN: "one:a", other: "two:b"}, look)
    for item in (
        kept(),
        kept(other),
        event("call.started", 1, run=other, call="a"),
        settled("a", 1, "ok", run=other),
        result("one"),
    ):
        view.see(item)
    assert written(here.err).splitlines() == ['◆ look {"at": "here\\n"}  (two:b)', "  look: ok, 0.0 s  (two:b)"]
    assert written(here.out) == "00000002  one:a\none\n\n"


def test_a_line_is_as_wide_as_the_drawing_and_calls_nobody_knows_of_are_left_out() -> None:
    _, err = seen(kept(), settled("a", 1, "ok", "x" * 5_000), event("call.started", 1, call="z"), settled("z", 1, "ok"))
    assert [len(line) for line in err.splitlines()] == [23, 100] and err.endswith("…\n")


def test_an_error_is_told_whole() -> None:
    _, err = seen(kept(), settled("a", 1, "error", "wrong " * 40 + "at $.questions"))
    assert err.endswith("at $.questions\n")
