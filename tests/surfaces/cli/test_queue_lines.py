"""What the queue sends is told between the replies, and each reply is shown once and whole."""

from __future__ import annotations

from msgspec.structs import replace

from forkwood.domain.ids import Id
from forkwood.domain.tree import Node
from forkwood.domain.watch import Seen
from forkwood.surfaces.cli.live import View
from forkwood.surfaces.cli.queue_lines import WithQueue
from forkwood.surfaces.cli.views import PlainReply, RepliesInTurn
from tests.surfaces.cli.desks import terminal, written
from tests.surfaces.cli.made import message, name
from tests.surfaces.cli.test_markdown import RUN, delta, result, turn_started
from tests.surfaces.cli.test_tool_lines import event

NEXT, BESIDE = name(21), name(22)
WORDS = {name(5): ("assistant", "First reply."), name(6): ("user", "And then?\nMore."), name(7): ("assistant", "Next.")}


def look(node: Id) -> Node:
    role, text = WORDS[node]
    return message(5, 4, text, role)


def of(run: Id, seen: Seen) -> Seen:
    return replace(seen, run=run)


def sent(run: Id, *runs: Id) -> Seen:
    return event("queue.moved", 9, name(6), run, queued=["q"], state="sent", behind=run, runs=list(runs))


def shown(view: View, *items: Seen) -> list[bool]:
    told = [view.see(item) for item in items]
    view.close()
    return told


def kept(run: Id, node: Id) -> Seen:
    return event("reply.kept", 8, node, run, calls=[])


def test_what_is_answered_next_stands_between_the_replies_and_none_is_shown_twice() -> None:
    here = terminal()
    shown(
        WithQueue(PlainReply(here), here, look),
        turn_started(),
        delta("First re"),
        kept(RUN, name(5)),
        sent(RUN, NEXT),
        of(NEXT, turn_started()),
        of(NEXT, delta("Ne")),
        kept(NEXT, name(7)),
        of(NEXT, result("Next.")),
        result("First reply."),
    )
    assert written(here.out) == "First reply.\nNext.\n"
    assert written(here.err) == "Next in the queue: And then?\n"


def test_of_several_replies_to_it_the_first_comes_and_the_others_follow_whole() -> None:
    here = terminal()
    shown(
        WithQueue(PlainReply(here), here, look),
        delta("First reply."),
        kept(RUN, name(5)),
        sent(RUN, NEXT, BESIDE),
        of(NEXT, delta("Ne")),
        of(BESIDE, delta("Bes")),
        of(NEXT, delta("xt.")),
        of(NEXT, result("Next.")),
        of(BESIDE, result("Beside.")),
        result("First reply."),
    )
    out = written(here.out)
    assert out.startswith("First reply.\nNext.") and "Beside." in out and out.count("reply") == 1


def test_a_run_that_gave_no_reply_shows_none_and_what_is_held_tells_nothing() -> None:
    here = terminal()
    held = event("queue.moved", 9, None, RUN, queued=["q"], state="held", behind=RUN, runs=[])
    told = shown(WithQueue(PlainReply(here), here, look), held, sent(RUN, NEXT), of(NEXT, result("Next.")))
    assert told == [False, True, True]
    assert (written(here.out), written(here.err)) == ("Next.\n", "Next in the queue: And then?\n")


def test_of_several_models_each_reply_is_shown_before_what_comes_next() -> None:
    here = terminal()
    view = WithQueue(RepliesInTurn(here, {RUN: "one:a", BESIDE: "two:b"}), here, look)
    shown(
        view, kept(RUN, name(5)), sent(RUN, NEXT), of(NEXT, result("Next.")), of(BESIDE, result("Beside.")), result("x")
    )
    assert [line for line in written(here.out).splitlines() if line.endswith(".")] == [
        "First reply.", "Next.", "Beside.",
    ]  # fmt: skip
