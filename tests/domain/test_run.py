"""The run machine, rule by rule: a script of events, and the step that is due after it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forkwood.domain import limits
from forkwood.domain.message import Text
from forkwood.domain.model import Usage
from forkwood.domain.run import RunState, apply, fold, plan, status_of
from forkwood.domain.run_event import ResultsKept, RunDriven, RunEnded, RunEvent, RunSealed, RunStopped
from forkwood.domain.step import Ask, Asking, CallModel, End, KeepResults, Settle, Step, UseTool
from tests.crash.worlds import call
from tests.domain.happened import (
    AGAIN,
    CANCEL,
    DENIED,
    DONE,
    DRIVEN,
    EDIT,
    FAULTY,
    OPENED,
    QUESTION,
    READ,
    TEST,
    WRITE,
    answered,
    asks,
    begun,
    closed,
    died,
    failed,
    kept,
    opened,
    rounds,
    settled,
    turn,
)


def asking(*about: tuple[str, str | None]) -> Ask:
    return Ask(asks=tuple(Asking(sort=sort, call=of) for sort, of in about))  # type: ignore[arg-type]


EVERYBODY = asking(("approval", "b"), ("approval", "d"))
DIED_AGAIN = [*died("c"), *answered("doubt", "c", "retry"), begun("c"), RunDriven(driver="f", number=3)]
STEPS: dict[str, tuple[Sequence[RunEvent], Step | None]] = {
    "it begins with the model": ([], CallModel(turn=1)),
    "a turn that was announced is called again": ([turn()], CallModel(turn=1)),
    "a failed try is repeated": ([turn(), failed(1)], CallModel(turn=1)),
    "a whole reply ends it": (asks(), End(status="done")),
    "a read runs": (asks(READ), UseTool(call=READ)),
    "results are kept when all is settled": ([*asks(READ), begun("a"), settled("a")], KeepResults(turn=1)),
    "then the model goes on": ([*asks(READ), settled("a"), DONE], CallModel(turn=2)),
    "approvals are asked together, before anything runs": (asks(READ, WRITE, call("d", "write")), EVERYBODY),
    "calls before the one that waits run": ([*asks(READ, WRITE), opened("approval", "b")], UseTool(call=READ)),
    "then it waits": ([*asks(WRITE), opened("approval", "b")], None),
    "a yes lets it run": ([*asks(WRITE), *answered("approval", "b", "allow")], UseTool(call=WRITE)),
    "a question is asked in its turn": (asks(QUESTION, READ), asking(("question", "q"))),
    "a read that died runs again": ([*asks(READ), *died("a")], UseTool(call=READ)),
    "of a write the journal is asked": ([*asks(EDIT), *died("w")], UseTool(call=EDIT, inspect=True)),
    "of anything else a person is": ([*asks(TEST), *died("c")], asking(("doubt", "c"))),
    "what had not begun is not in doubt": ([*asks(TEST), AGAIN], UseTool(call=TEST)),
    "a doubt retried runs": ([*asks(TEST), *died("c"), *answered("doubt", "c", "retry")], UseTool(call=TEST)),
    "and is in doubt again when it dies again": ([*asks(TEST), *DIED_AGAIN], asking(("doubt", "c"))),
    "a prompt that the server cut is a doubt": (asks(READ, prompt_cut=True), asking(("doubt", None))),
    "go on": ([*asks(READ, prompt_cut=True), *answered("doubt", None, "go-on")], UseTool(call=READ)),
    "a cut prompt of a last reply is past caring": (asks(prompt_cut=True), End(status="done")),
    "cancelled before it began": ([CANCEL], End(status="cancelled")),
    "an end withdraws what is open": ([*asks(), opened("approval", "b")], End(status="done", withdraw=("i",))),
    "length is done, and noted": (asks(partial="length"), End(status="done")),
    "cancelled in mid-reply": (asks(partial="cancelled"), End(status="cancelled")),
    "sealing changes nothing": ([RunSealed(manifest="m")], CallModel(turn=1)),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_step_that_is_due(name: str) -> None:
    events, step = STEPS[name]
    state = fold([OPENED, DRIVEN, *events])
    assert plan(state) == step
    assert status_of(state) == ("waiting" if step is None else "running")


STOPPED = RunStopped(error={"kind": "conflict"})
SETTLED: dict[str, tuple[Sequence[RunEvent], dict[str, str]]] = {
    "no": ([*asks(WRITE), *answered("approval", "b", "deny")], {"b": "denied"}),
    "too late": ([*asks(WRITE), *answered("approval", "b", None)], {"b": "denied"}),
    "what cannot run, at once": (asks(READ, DENIED, FAULTY), {"x": "denied", "f": "error"}),
    "cancel, all at once": ([*asks(READ, WRITE), CANCEL], {"a": "cancelled", "b": "cancelled"}),
    "cancel of what had begun": ([*asks(TEST, READ), *died("c"), CANCEL], {"c": "unknown", "a": "cancelled"}),
    "cancel of what is under way": ([*asks(TEST), begun("c"), CANCEL], {"c": "unknown"}),
    "cancel of a read under way": ([*asks(READ), begun("a"), CANCEL], {"a": "cancelled"}),
    "a partial reply's calls never run": (asks(READ, partial="cut"), {"a": "interrupted"}),
    "nor those of a reply at its limit": (asks(READ, partial="length"), {"a": "interrupted"}),
    "the run cannot go on": ([*asks(READ), STOPPED], {"a": "interrupted"}),
    "a question answered": ([*asks(QUESTION), *answered("question", "q", "blue")], {"q": "ok"}),
    "a question nobody answered": ([*asks(QUESTION), *answered("question", "q", None)], {"q": "denied"}),
    "a doubt: done": ([*asks(TEST), *died("c"), *answered("doubt", "c", "done")], {"c": "ok"}),
    "a doubt: failed": ([*asks(TEST), *died("c"), *answered("doubt", "c", "failed")], {"c": "error"}),
    "a doubt nobody answered": ([*asks(TEST), *died("c"), *answered("doubt", "c", None)], {"c": "unknown"}),
    "the prompt was cut: stop": (
        [*asks(READ, prompt_cut=True), *answered("doubt", None, "stop")],
        {"a": "interrupted"},
    ),
}


@pytest.mark.parametrize("name", SETTLED)
def test_calls_that_are_closed_without_running(name: str) -> None:
    events, outcomes = SETTLED[name]
    step = plan(fold([OPENED, DRIVEN, *events]))
    assert isinstance(step, Settle)
    assert {one.call: one.outcome for one in step.closings} == outcomes
    assert all(one.parts for one in step.closings), "the model is told why"


def test_open_interactions_are_withdrawn_with_their_calls() -> None:
    step = plan(fold([OPENED, DRIVEN, *asks(WRITE), opened("approval", "b"), CANCEL]))
    assert isinstance(step, Settle) and step.withdraw == ("i",)


def test_a_persons_answers_are_the_calls_result() -> None:
    step = plan(fold([OPENED, DRIVEN, *asks(QUESTION), *answered("question", "q", ("red", "blue"))]))
    assert isinstance(step, Settle) and step.closings[0].parts == (Text(text="red\nblue"),)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (kept(partial="cut"), "cut"),
        (kept(partial="error", error="words"), "error"),
        (kept(partial="stalled"), "stalled"),
        (kept(partial="refused"), "refused"),
        (kept(empty=True), "empty"),
        (kept(partial="length", empty=True), "empty"),
    ],
)
def test_replies_that_fail_the_run(reply: RunEvent, reason: str) -> None:
    step = plan(fold([OPENED, DRIVEN, turn(), reply]))
    assert isinstance(step, End) and step.status == "failed" and step.error is not None
    assert step.error["reason"] == reason and step.error["message"] and step.error["hint"]


def test_the_last_failed_try_is_told_with_its_facts() -> None:
    told = failed(1, None, hint="wait", facts={"status": 529})
    step = plan(fold([OPENED, DRIVEN, turn(), told]))
    assert step == End(
        status="failed",
        error={"kind": "provider", "reason": "overloaded", "message": "busy", "hint": "wait", "status": 529},
    )


@pytest.mark.parametrize(
    ("outcome", "spends", "limit"),
    [
        ("ok", True, limits.rounds_max),
        ("denied", True, limits.rounds_max),
        ("error", True, limits.call_failures_max),
        ("error", False, limits.call_failures_max),
        ("ok", False, limits.turns_max - 1),
    ],
)
def test_tools_are_withdrawn_for_a_last_turn_at_the_limit(outcome: str, limit: int, *, spends: bool) -> None:
    events = rounds(limit, outcome, spends=spends)
    assert plan(fold(events[:-4])) == CallModel(turn=limit, withdrawn=False)
    assert plan(fold(events)) == CallModel(turn=limit + 1, withdrawn=True)


def test_the_last_turn_ends_the_run_with_words() -> None:
    number = limits.rounds_max + 1
    last = fold([*rounds(limits.rounds_max, "ok"), turn(number, withdrawn=True)])
    assert plan(fold([kept(number)], last)) == End(status="done")
    disobeyed = plan(fold([kept(number, READ), settled("a", "interrupted"), ResultsKept(turn=number)], last))
    assert isinstance(disobeyed, End) and disobeyed.error is not None and disobeyed.error["reason"] == "protocol"


def test_calls_that_keep_failing_end_the_run_failed() -> None:
    number = limits.call_failures_max + 1
    failing = [*rounds(limits.call_failures_max, "error"), turn(number, withdrawn=True), kept(number)]
    ended = plan(fold(failing))
    assert isinstance(ended, End) and ended.status == "failed" and ended.error is not None
    assert ended.error["reason"] == "tools"


def test_a_success_resets_the_failures_and_a_denial_does_not_count() -> None:
    number = limits.call_failures_max
    state = fold([*rounds(number - 1, "error"), turn(number), kept(number, READ)])
    assert fold([settled("a", "denied")], state).failures == number - 1
    assert fold([settled("a", "error")], state).failures == number
    assert fold([settled("a")], state).failures == 0


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


def test_a_cancel_does_not_undo_an_end_that_was_decided() -> None:
    assert plan(fold([OPENED, DRIVEN, *asks(), CANCEL])) == End(status="done")
    assert plan(fold([OPENED, DRIVEN, turn(), CANCEL, kept()])) == End(status="cancelled")


def test_a_run_nobody_has_begun_is_queued() -> None:
    assert status_of(fold([OPENED])) == "queued"
    assert status_of(fold([OPENED, DRIVEN])) == "running"
    assert status_of(fold([OPENED, CANCEL, RunEnded(status="cancelled")])) == "cancelled"


def test_folding_in_pieces_is_folding_at_once() -> None:
    events: list[RunEvent] = [OPENED, DRIVEN, *asks(READ), settled("a"), DONE]
    for at in range(len(events)):
        assert fold(events[at:], fold(events[:at])) == fold(events)
    assert fold([]) == RunState()
