"""Events of runs, shortly spelled: what tests of the run machine fold."""

from __future__ import annotations

from typing import Any

from forkwood.domain.model import Usage
from forkwood.domain.run_event import (
    CallAsked,
    CallSettled,
    CallStarted,
    CancelAsked,
    InteractionClosed,
    InteractionOpened,
    Recipe,
    ReplyKept,
    ResultsKept,
    RunDriven,
    RunEvent,
    RunOpened,
    TryFailed,
    TurnStarted,
)
from tests.crash.worlds import call

OPENED = RunOpened(place=None, model="m", leads=True)
DRIVEN = RunDriven(driver="d", number=1)
AGAIN = RunDriven(driver="e", number=2)
CANCEL = CancelAsked()
READ, WRITE, TEST = call("a", "read", "allow"), call("b", "write"), call("c", "execute", "allow")
EDIT, QUESTION = call("w", "write", "allow"), call("q", "read", "question")
DENIED = call("x", "write", "deny")
FAULTY = CallAsked(
    call="f", name="f", effect="read", verdict="allow", after_crash="again", fault="there is no tool 'f'"
)
DONE: RunEvent = ResultsKept(turn=1)


def turn(number: int = 1, *, withdrawn: bool = False) -> RunEvent:
    recipe = Recipe(
        place=None,
        log=0,
        manifest="",
        summary=None,
        first_entry=None,
        tools_withdrawn=withdrawn,
        form=1,
        prompt_digest="",
        request_digest="",
    )
    return TurnStarted(turn=number, recipe=recipe)


def kept(number: int = 1, *calls: CallAsked, **fields: Any) -> RunEvent:
    values: dict[str, Any] = {"usage": Usage(input=3, output=1), "cost": None, "finish": "stop", "partial": None}
    return ReplyKept(turn=number, calls=calls, **(values | fields))


def asks(*calls: CallAsked, **fields: Any) -> list[RunEvent]:
    """The first turn's reply, with its calls."""
    return [turn(), kept(1, *calls, **fields)]


def opened(sort: Any, of: str | None, name: str = "i") -> RunEvent:
    return InteractionOpened(interaction=name, sort=sort, call=of)


def closed(answer: Any, status: Any = "answered") -> RunEvent:
    return InteractionClosed(interaction="i", status=status, answer=answer)


def answered(sort: Any, of: str | None, answer: Any) -> list[RunEvent]:
    """An interaction, opened and answered; with no answer it has expired."""
    return [opened(sort, of), closed(answer, "expired" if answer is None else "answered")]


def begun(name: str) -> RunEvent:
    return CallStarted(call=name)


def died(name: str) -> list[RunEvent]:
    """A call begins, and its driver dies."""
    return [begun(name), AGAIN]


def settled(name: str, outcome: Any = "ok") -> RunEvent:
    return CallSettled(call=name, outcome=outcome)


def failed(number: int, wait: int | None = 500, **fields: Any) -> RunEvent:
    return TryFailed(turn=1, number=number, reason="overloaded", message="busy", wait_ms=wait, **fields)


def rounds(count: int, outcome: str, *, spends: bool = True, fault: str | None = None) -> list[RunEvent]:
    """A run of COUNT turns that each called one tool, which ended so; with a FAULT it reached none."""
    events: list[RunEvent] = [OPENED, DRIVEN]
    for number in range(1, count + 1):
        asked = CallAsked(
            call="a", name="t", effect="read", verdict="allow", after_crash="again", spends_round=spends, fault=fault
        )
        events += [turn(number), kept(number, asked), settled("a", outcome), ResultsKept(turn=number)]
    return events
