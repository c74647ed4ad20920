"""What is next, rule by rule: a script of events, and the step that is due after it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.interaction import Question
from forkwood.domain.message import Text
from forkwood.domain.plan import plan, status_of
from forkwood.domain.run import fold
from forkwood.domain.run_event import (
    CallJudged,
    InteractionOpened,
    ResultsKept,
    RunDriven,
    RunEnded,
    RunEvent,
    RunSealed,
    RunStopped,
    SteerAsked,
    SteerTaken,
)
from forkwood.domain.step import (
    Ask,
    Asking,
    CallModel,
    End,
    KeepResults,
    Settle,
    Step,
    TakeSteers,
    UseReads,
    UseTool,
)
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
READ_2, WRITE2 = call("a2", "read", "allow"), call("w2", "write", "allow")
STEER = SteerAsked(queued="s")
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
    "also where the reply is the last": (asks(prompt_cut=True), asking(("doubt", None))),
    "which is done then": ([*asks(prompt_cut=True), *answered("doubt", None, "go-on")], End(status="done")),
    "reads run side by side": (asks(READ, call("a2", "read", "allow"), WRITE2), UseReads(calls=(READ, READ_2))),
    "up to the first call that is none": (asks(READ, WRITE2, call("a2", "read", "allow")), UseTool(call=READ)),
    "a steering message comes before the next turn": ([STEER], TakeSteers(queued=("s",))),
    "not while calls are open": ([*asks(READ), STEER], UseTool(call=READ)),
    "and not behind a last reply": ([*asks(), STEER], End(status="done")),
    "nor behind a cancel": ([STEER, CANCEL], End(status="cancelled")),
    "once it is taken the model answers": ([STEER, SteerTaken(queued="s")], CallModel(turn=1)),
    "a call that needs a yes after all": (
        [*asks(READ), CallJudged(call="a", verdict="ask")],
        asking(("approval", "a")),
    ),
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
    assert isinstance(step, Settle) and step.closings[0].parts == (Text(text="red\n\nblue"),)
    step = plan(fold([OPENED, DRIVEN, *asks(QUESTION), *answered("question", "q", "light blue")]))
    assert isinstance(step, Settle) and step.closings[0].parts == (Text(text="light blue"),), "one is taken as it is"


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
        ("error", True, limits.rounds_max),
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


@pytest.mark.parametrize("outcome", ["ok", "denied", "error"])
def test_a_run_is_sealed_with_its_own_number_of_rounds(outcome: str) -> None:
    sealed = [OPENED, DRIVEN, RunSealed(manifest="m", rounds_max=2), *rounds(2, outcome)[2:]]
    assert plan(fold(sealed)) == CallModel(turn=3, withdrawn=True)


def test_calls_in_a_row_that_reach_no_tool_end_the_run() -> None:
    number, fault = limits.loop_failures_max, "there is no tool 't'"
    going = fold(rounds(number - 1, "error", fault=fault))
    assert plan(going) == CallModel(turn=number, withdrawn=False)
    ended = plan(fold(rounds(number, "error", fault=fault)))
    assert isinstance(ended, End) and ended.status == "failed" and ended.error is not None
    assert ended.error["reason"] == "tools" and fault in ended.error["message"]


def test_the_calls_behind_the_last_failure_do_not_run() -> None:
    faults = [call(f"f{n}", "read", "allow") for n in range(limits.loop_failures_max)]
    faulty = [replace(one, fault="no such tool") for one in faults]
    state = fold([OPENED, DRIVEN, *asks(*faulty, READ)])
    step = plan(state)
    assert isinstance(step, Settle) and len(step.closings) == len(faulty)
    left = plan(fold(step.closings, state))
    assert isinstance(left, Settle) and [(one.call, one.outcome) for one in left.closings] == [("a", "interrupted")]


def test_the_third_failure_in_a_row_brings_a_reminder() -> None:
    going = fold(rounds(limits.loop_failures_reminded_min - 2, "error", fault="no"))
    number = limits.loop_failures_reminded_min - 1
    two = (replace(FAULTY, call="f1"), replace(FAULTY, call="f2"))
    step = plan(fold([turn(number), kept(number, *two)], going))
    assert isinstance(step, Settle)
    said = [part.text for one in step.closings for part in one.parts if isinstance(part, Text)]
    assert ["Reminder" in words for words in said] == [False, True]


def test_answers_to_several_questions_stand_behind_them() -> None:
    asked = InteractionOpened(
        interaction="i", sort="question", call="q", questions=(Question(text="Which?"), Question(text="When?"))
    )
    step = plan(fold([OPENED, DRIVEN, *asks(QUESTION), asked, closed(("red", "now"))]))
    assert isinstance(step, Settle) and step.closings[0].parts == (Text(text="Which?\nred\n\nWhen?\nnow"),)


def test_a_cancel_does_not_undo_an_end_that_was_decided() -> None:
    assert plan(fold([OPENED, DRIVEN, *asks(), CANCEL])) == End(status="done")
    assert plan(fold([OPENED, DRIVEN, turn(), CANCEL, kept()])) == End(status="cancelled")


def test_a_run_nobody_has_begun_is_queued() -> None:
    assert status_of(fold([OPENED])) == "queued"
    assert status_of(fold([OPENED, DRIVEN])) == "running"
    assert status_of(fold([OPENED, CANCEL, RunEnded(status="cancelled")])) == "cancelled"
