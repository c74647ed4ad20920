"""What a run does next, from its state alone. Pure: `plan` gives None when only a person can move the run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from forkwood.domain import limits
from forkwood.domain.run import RunState, RunStatus
from forkwood.domain.run_event import CallAsked, CallSettled, InteractionClosed, Stop
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
    closing,
)


def plan(run: RunState) -> Step | None:
    """The next step; None when only a person can move the run, or nothing can any more."""
    if run.ended:
        return None
    if run.open_calls:
        return _closing(run, run.stop) if run.stop else _next_of_calls(run, run.open_calls)
    if run.calls:
        return KeepResults(turn=run.turns)
    if run.prompt_cut and (run.stop is None or run.stop.status == "done"):
        return _once(run, Asking(sort="doubt", call=None))
    if run.stop:
        return End(status=run.stop.status, error=run.stop.error, withdraw=run.open_interactions)
    if run.steers and not run.calling:
        return TakeSteers(queued=run.steers)
    return CallModel(turn=run.turns + 1, withdrawn=_withdraws(run))


def status_of(run: RunState) -> RunStatus:
    """Where the run stands: waiting is having nothing to do before a person has answered."""
    if run.ended:
        return run.ended.status
    if not run.takeover:
        return "queued"
    return "waiting" if plan(run) is None else "running"


def _withdraws(run: RunState) -> bool:
    return run.rounds >= run.rounds_max or run.turns >= limits.turns_max - 1


def _closing(run: RunState, stop: Stop) -> Settle:
    """All open calls at once: what had begun and cannot be repeated has an unknown end."""
    closings = []
    for call in run.open_calls:
        if call.call in run.broken or (call.call in run.begun and call.after_crash != "again"):
            closings.append(
                closing(call, "unknown", "the run ended while this was under way: how it went is not known")
            )
        elif stop.status == "cancelled":
            closings.append(closing(call, "cancelled", "cancelled before it ran"))
        else:
            closings.append(closing(call, "interrupted", "the run ended before this ran"))
    return Settle(closings=tuple(closings), withdraw=run.open_interactions)


def _next_of_calls(run: RunState, calls: tuple[CallAsked, ...]) -> Step | None:
    impossible = tuple(call for call in calls if call.fault or call.verdict == "deny")
    if impossible:
        return Settle(closings=tuple(_refusals(run, impossible)))
    if run.prompt_cut:
        return _once(run, Asking(sort="doubt", call=None))
    approvals = (Asking(sort="approval", call=call.call) for call in calls if call.verdict == "ask")
    unasked = tuple(one for one in approvals if run.interaction(one.sort, one.call) is None)
    if unasked:
        return Ask(asks=unasked)
    reads = tuple(takewhile(lambda call: _reads_freely(run, call), calls))
    return UseReads(calls=reads) if len(reads) > 1 else _next_of_call(run, calls[0])


def _refusals(run: RunState, calls: tuple[CallAsked, ...]) -> Iterator[CallSettled]:
    """What the model reads of calls that reach no tool; several of them one after another bring a reminder."""
    failures = run.failures
    for call in calls:
        if not call.fault:
            yield closing(call, "denied", "a rule denies this tool")
            continue
        failures += 1
        yield closing(call, "error", f"{call.fault}\n\n{_REMINDER}" if failures == _REMIND_AT else call.fault)


def _reads_freely(run: RunState, call: CallAsked) -> bool:
    """Whether a call waits for nobody and for no call before it."""
    return (
        (call.effect, call.after_crash) == ("read", "again")
        and not call.question
        and (call.verdict == "allow" or _is_allowed(run.answer("approval", call.call)))
    )


def _is_allowed(answer: InteractionClosed | None) -> bool:
    return answer is not None and answer.answer == "allow"


def _once(run: RunState, ask: Asking) -> Ask | None:
    return None if run.interaction(ask.sort, ask.call) else Ask(asks=(ask,))


def _next_of_call(run: RunState, call: CallAsked) -> Step | None:
    """The first open call: calls run in their order."""
    if call.question:
        answer = run.answer("question", call.call)
        return _once(run, Asking(sort="question", call=call.call)) if answer is None else _told(run, call, answer)
    if call.verdict == "ask":
        answer = run.answer("approval", call.call)
        if answer is None:
            return None
        if not _is_allowed(answer):
            return Settle(closings=(closing(call, "denied", _DENIED[answer.status]),))
    if call.call not in run.broken:
        return UseTool(call=call)
    if call.after_crash == "journal":
        return UseTool(call=call, inspect=True)
    return _in_doubt(run, call)


def _told(run: RunState, call: CallAsked, answer: InteractionClosed) -> Settle:
    """A person's answer to a question is the call's result; of several questions each stands before its answer."""
    if answer.status != "answered":
        return Settle(closings=(closing(call, "denied", "nobody answered"),))
    words = (answer.answer,) if isinstance(answer.answer, str) else answer.answer or ()
    opened = run.interaction("question", call.call)
    questions = [] if opened is None else [question.text for question in opened.questions]
    if len(words) > 1 and len(words) == len(questions):
        words = tuple(f"{question}\n{word}" for question, word in zip(questions, words, strict=True))
    return Settle(closings=(closing(call, "ok", "\n\n".join(words)),))


def _in_doubt(run: RunState, call: CallAsked) -> Step | None:
    doubt = run.answer("doubt", call.call)
    if doubt is None:
        return _once(run, Asking(sort="doubt", call=call.call))
    match doubt.answer:
        case "retry":
            return UseTool(call=call)
        case "done":
            return Settle(closings=(closing(call, "ok", "a person says that this was done"),))
        case "failed":
            return Settle(closings=(closing(call, "error", "a person says that this failed"),))
        case _:
            return Settle(closings=(closing(call, "unknown", "how this went is not known"),))


_DENIED = {
    "answered": "a person said no",
    "expired": "nobody said yes in time",
    "withdrawn": "the question was withdrawn",
}
_REMIND_AT = limits.loop_failures_reminded_min
_REMINDER = (
    f"Reminder: {_REMIND_AT} calls in a row reached no tool. Look at the names of the tools there are and at what they "
    "ask for, then call one of them so, or answer in words."
)
