"""The fold of a run's events: what its state says after them, and what cannot follow."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forkwood.domain import limits
from forkwood.domain.model import Usage
from forkwood.domain.run import RunState, apply, fold
from forkwood.domain.run_event import (
    CallJudged,
    InteractionOpened,
    ResultsKept,
    RunEnded,
    RunEvent,
    RunSealed,
    SteerAsked,
    SteerTaken,
    SummaryFailed,
    SummaryMade,
)
from tests.domain.happened import (
    CANCEL,
    DONE,
    DRIVEN,
    FAULTY,
    OPENED,
    READ,
    WRITE,
    asks,
    begun,
    closed,
    failed,
    kept,
    opened,
    rounds,
    settled,
    turn,
)


def test_only_calls_that_reach_no_tool_are_failures() -> None:
    number = limits.loop_failures_max - 1
    state = fold([*rounds(number - 1, "error", fault="no such tool"), turn(number), kept(number, READ, FAULTY)])
    assert state.failures == number - 1
    assert fold([settled("f", "error")], state).failures == number
    assert fold([settled("a", "denied")], state).failures == number - 1
    assert fold([settled("a", "error")], state).failures == 0, "what a tool answers is no failure of the loop"
    assert fold([settled("a")], state).failures == 0


def test_what_is_sealed_is_the_runs() -> None:
    state = fold([OPENED, DRIVEN, RunSealed(manifest="m", rounds_max=3)])
    assert (state.manifest, state.rounds_max) == ("m", 3)


def test_a_call_judged_anew_keeps_all_else() -> None:
    state = fold([OPENED, DRIVEN, *asks(READ, WRITE), CallJudged(call="b", verdict="allow", granted="g")])
    assert [(one.call, one.verdict, one.granted) for one in state.calls] == [("a", "allow", None), ("b", "allow", "g")]


def test_steering_messages_keep_their_order() -> None:
    state = fold([OPENED, DRIVEN, SteerAsked(queued="s"), SteerAsked(queued="t"), SteerAsked(queued="u")])
    assert fold([SteerTaken(queued="t")], state).steers == ("s", "u")


def test_summaries_are_counted_for_one_turn_and_paid_by_the_run() -> None:
    made = SummaryMade(summary="s", covers=2, model="m", usage=Usage(input=5, output=1), cost=None)
    state = fold([OPENED, DRIVEN, made, SummaryFailed(reason="timeout", message="late")])
    assert (state.summary_tries, state.usage) == (2, Usage(input=5, output=1))
    assert fold([turn(), kept()], state).summary_tries == 0


@pytest.mark.parametrize(
    "impossible",
    [
        [*asks(READ), settled("a"), settled("a")],
        [*asks(READ), ResultsKept(turn=1)],
        [*asks(READ), turn(2)],
        [turn(), kept(2)],
        [*asks(READ), RunEnded(status="done")],
        [*asks(), RunEnded(status="done"), CANCEL],
        [*asks(WRITE), opened("approval", "b"), closed("allow"), closed("deny")],
        [DRIVEN],
        [*asks(READ), begun("zzz")],
    ],
)
def test_what_cannot_follow_is_no_event(impossible: Sequence[RunEvent]) -> None:
    before = fold([OPENED, DRIVEN, *impossible[:-1]])
    with pytest.raises(AssertionError):
        apply(before, impossible[-1])


def test_usage_adds_up_and_tries_begin_anew_with_each_turn() -> None:
    state = fold([OPENED, DRIVEN, turn(), failed(1), failed(2, 0, next_key=True)])
    assert (state.tries, state.waits, state.calling) == (2, 1, True)
    state = fold([kept(1, READ), settled("a"), DONE, turn(2), kept(2)], state)
    assert (state.tries, state.waits, state.usage) == (0, 0, Usage(input=6, output=2))


def test_folding_in_pieces_is_folding_at_once() -> None:
    events: list[RunEvent] = [OPENED, DRIVEN, *asks(READ), settled("a"), DONE]
    for at in range(len(events)):
        assert fold(events[at:], fold(events[:at])) == fold(events)
    assert fold([]) == RunState()


def test_what_is_overdue_is_what_is_open_past_its_time() -> None:
    timed = InteractionOpened(interaction="i", sort="approval", call="b", expires_ms=10)
    state = fold([OPENED, DRIVEN, *asks(WRITE), timed, InteractionOpened(interaction="j", sort="approval", call="a")])
    assert (state.overdue(9), state.overdue(10), state.overdue(11)) == ((), ("i",), ("i",))
    assert fold([closed("allow")], state).overdue(99) == ()
