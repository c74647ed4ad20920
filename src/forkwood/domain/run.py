"""The run machine: fold what happened (`apply`), decide what is next (`plan`). Pure.

Waiting for a person is a state: `plan` gives None, and the run goes on whenever the answer is folded, in whichever
process. A driver that dies leaves nothing that the fold of its events does not tell the next one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, Literal, TypeAlias, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.ids import Id
from forkwood.domain.message import PartialReason
from forkwood.domain.model import Usage
from forkwood.domain.run_event import (
    CallAsked,
    CallSettled,
    CallStarted,
    CancelAsked,
    InteractionClosed,
    InteractionOpened,
    ReplyInterrupted,
    ReplyKept,
    ResultsKept,
    RunDriven,
    RunEnded,
    RunEvent,
    RunOpened,
    RunSealed,
    RunStopped,
    Stop,
    TryFailed,
    TurnStarted,
)
from forkwood.domain.step import Ask, Asking, CallModel, End, KeepResults, Settle, Step, UseTool, closing

RunStatus: TypeAlias = Literal["queued", "running", "waiting", "done", "failed", "cancelled"]
ACTIVE: frozenset[RunStatus] = frozenset({"queued", "running", "waiting"})
MOVING: frozenset[RunStatus] = frozenset({"queued", "running"})
"""A run that waits stands still until a person has answered."""


class Run(Struct, frozen=True, kw_only=True):
    """A run as the outside sees it. Places are text; `manifest` is a digest."""

    id: Id
    conversation: Id
    start: str | None = field(name="from")
    tip: str | None
    status: RunStatus
    model: str
    manifest: str | None
    turns: int
    usage: Usage
    error: dict[str, Any] | None


class RunState(Struct, frozen=True, kw_only=True):
    """A run as its events tell it. What is said of calls and interactions is of the present turn."""

    takeover: int = 0
    manifest: str | None = None
    turns: int = 0
    """Replies kept."""
    calling: bool = False
    """The model has been called for the turn after these, and its reply is not kept yet."""
    tries: int = 0
    """Failed tries of that turn; WAITS of them were followed by a wait, the others by another key."""
    waits: int = 0
    withdrawn: bool = False
    rounds: int = 0
    failures: int = 0
    """Calls that failed, since one last went well."""
    calls: tuple[CallAsked, ...] = ()
    settled: tuple[CallSettled, ...] = ()
    begun: frozenset[str] = frozenset()
    """Calls whose effect this driver has begun."""
    broken: frozenset[str] = frozenset()
    """Calls whose effect had begun when their driver died."""
    asked: tuple[InteractionOpened, ...] = ()
    answers: tuple[InteractionClosed, ...] = ()
    prompt_cut: bool = False
    usage: Usage = Usage()
    cancelling: bool = False
    stop: Stop | None = None
    ended: RunEnded | None = None

    @property
    def open_calls(self) -> tuple[CallAsked, ...]:
        """Calls that are not settled, in their order."""
        closed = {call.call for call in self.settled}
        return tuple(call for call in self.calls if call.call not in closed)

    @property
    def open_interactions(self) -> tuple[Id, ...]:
        """Interactions that nobody has answered."""
        closed = {answer.interaction for answer in self.answers}
        return tuple(one.interaction for one in self.asked if one.interaction not in closed)

    def answer(self, sort: str, call: str | None) -> InteractionClosed | None:
        """How the newest interaction of SORT about CALL was closed; None while it is open or was never opened."""
        named = self.interaction(sort, call)
        return next((one for one in self.answers if named and one.interaction == named.interaction), None)

    def interaction(self, sort: str, call: str | None) -> InteractionOpened | None:
        """The newest interaction of SORT about CALL."""
        return next((one for one in reversed(self.asked) if (one.sort, one.call) == (sort, call)), None)


def fold(events: Iterable[RunEvent], run: RunState | None = None) -> RunState:
    """The state after EVENTS, from RUN on (None: from the beginning)."""
    return reduce(apply, events, run or RunState())


def status_of(run: RunState) -> RunStatus:
    """Where the run stands: waiting is having nothing to do before a person has answered."""
    if run.ended:
        return run.ended.status
    if not run.takeover:
        return "queued"
    return "waiting" if plan(run) is None else "running"


# What happened ------------------------------------------------------------------------------------------------------


def apply(run: RunState, event: RunEvent) -> RunState:
    """RUN after EVENT. Asserts that the event can follow: nothing happens after the end, no call is settled twice."""
    assert run.ended is None, "nothing happens after the end"
    match event:
        case RunOpened():
            return run
        case RunDriven(number=number):
            return _taken_over(run, number)
        case RunSealed(manifest=manifest):
            return replace(run, manifest=manifest)
        case TurnStarted(turn=turn, recipe=recipe):
            assert turn == run.turns + 1 and not run.open_calls, "a turn begins when the last one is closed"
            return replace(run, calling=True, withdrawn=recipe.tools_withdrawn)
        case TryFailed():
            return _try_failed(run, event)
        case ReplyKept():
            return _replied(run, event)
        case ReplyInterrupted():
            return run
        case CallStarted() | CallSettled() | ResultsKept():
            return _call_moved(run, event)
        case InteractionOpened():
            return replace(run, asked=(*run.asked, event))
        case InteractionClosed():
            return _answered(run, event)
        case CancelAsked():
            return replace(run, cancelling=True, stop=run.stop or Stop(status="cancelled"))
        case RunStopped(error=error):
            return replace(run, calling=False, stop=run.stop or Stop(status="failed", error=error))
        case RunEnded():
            assert not run.open_calls, "no call is left dangling"
            return replace(run, calling=False, ended=event)
        case _:
            assert_never(event)


def _taken_over(run: RunState, number: int) -> RunState:
    """What had begun under a driver that is gone has no known end; a read is simply begun again."""
    assert number > run.takeover
    lost = {call.call for call in run.open_calls if call.call in run.begun and call.after_crash != "again"}
    return replace(run, takeover=number, calling=False, begun=frozenset(), broken=run.broken | lost)


def _try_failed(run: RunState, event: TryFailed) -> RunState:
    tried = replace(run, tries=run.tries + 1, waits=run.waits + (not event.next_key))
    if event.wait_ms is not None:
        return tried
    error = {"kind": "provider", "reason": event.reason, "message": event.message, "hint": event.hint, **event.facts}
    return replace(tried, calling=False, stop=run.stop or Stop(status="failed", error=error))


def _replied(run: RunState, event: ReplyKept) -> RunState:
    assert event.turn == run.turns + 1 and not run.open_calls
    return replace(
        run,
        turns=event.turn,
        calling=False,
        tries=0,
        waits=0,
        rounds=run.rounds + any(call.spends_round for call in event.calls),
        calls=event.calls,
        settled=(),
        begun=frozenset(),
        broken=frozenset(),
        asked=(),
        answers=(),
        prompt_cut=event.prompt_cut,
        usage=run.usage + (event.usage or Usage()),
        stop=run.stop or _stop_after(run, event),
    )


def _stop_after(run: RunState, reply: ReplyKept) -> Stop | None:
    """Whether the run ends with this reply, and how."""
    if reply.partial == "cancelled":
        return Stop(status="cancelled")
    if reply.partial is not None and reply.partial != "length":
        return _failed(reply.partial, reply.error or _PARTIAL[reply.partial], _GO_ON)
    if reply.empty:
        return _failed("empty", _EMPTY if reply.partial is None else _EMPTY_BY_LENGTH, _ASK_AGAIN)
    if reply.partial == "length":
        return Stop(status="done")
    if not run.withdrawn:
        return None if reply.calls else Stop(status="done")
    if reply.calls:
        return _failed("protocol", "the model called tools after they had been withdrawn", _ASK_AGAIN)
    if run.failures >= limits.call_failures_max:
        return _failed("tools", f"{run.failures} tool calls failed one after another", "see the log for their results")
    return Stop(status="done")


def _failed(reason: str, message: str, hint: str) -> Stop:
    return Stop(status="failed", error={"kind": "provider", "reason": reason, "message": message, "hint": hint})


def _call_moved(run: RunState, event: CallStarted | CallSettled | ResultsKept) -> RunState:
    match event:
        case CallStarted(call=call):
            assert call in {one.call for one in run.open_calls}, "only an open call can begin"
            doubted = tuple(one for one in run.asked if (one.sort, one.call) != ("doubt", call))
            return replace(run, begun=run.begun | {call}, broken=run.broken - {call}, asked=doubted)
        case CallSettled(call=call, outcome=outcome):
            assert call in {one.call for one in run.open_calls}, "a call is settled once"
            failures = {"ok": 0, "error": run.failures + 1}.get(outcome, run.failures)
            return replace(run, settled=(*run.settled, event), failures=failures)
        case ResultsKept(turn=turn):
            assert turn == run.turns and run.calls and not run.open_calls
            return replace(run, calls=(), settled=())
        case _:
            assert_never(event)


def _answered(run: RunState, event: InteractionClosed) -> RunState:
    assert event.interaction in run.open_interactions, "the first answer counts"
    answered = replace(run, answers=(*run.answers, event))
    about = next(one for one in run.asked if one.interaction == event.interaction)
    if about.call is not None:
        return answered
    if event.answer == "go-on":
        return replace(answered, prompt_cut=False)
    return replace(answered, stop=run.stop or _failed("prompt_cut", _CUT, "shorten the path: drop or hide messages"))


# What is next -------------------------------------------------------------------------------------------------------


def plan(run: RunState) -> Step | None:
    """The next step; None when only a person can move the run, or nothing can any more."""
    if run.ended:
        return None
    if run.open_calls:
        return _closing(run, run.stop) if run.stop else _next_of_calls(run, run.open_calls)
    if run.calls:
        return KeepResults(turn=run.turns)
    if run.stop:
        return End(status=run.stop.status, error=run.stop.error, withdraw=run.open_interactions)
    return CallModel(turn=run.turns + 1, withdrawn=_withdraws(run))


def _withdraws(run: RunState) -> bool:
    return (
        run.rounds >= limits.rounds_max or run.failures >= limits.call_failures_max or run.turns >= limits.turns_max - 1
    )


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
    impossible = tuple(_refusal(call) for call in calls if call.fault or call.verdict == "deny")
    if impossible:
        return Settle(closings=impossible)
    if run.prompt_cut:
        return _once(run, Asking(sort="doubt", call=None))
    approvals = (Asking(sort="approval", call=call.call) for call in calls if call.verdict == "ask")
    unasked = tuple(one for one in approvals if run.interaction(one.sort, one.call) is None)
    if unasked:
        return Ask(asks=unasked)
    return _next_of_call(run, calls[0])


def _refusal(call: CallAsked) -> CallSettled:
    return closing(call, "error", call.fault) if call.fault else closing(call, "denied", "a rule denies this tool")


def _once(run: RunState, ask: Asking) -> Ask | None:
    return None if run.interaction(ask.sort, ask.call) else Ask(asks=(ask,))


def _next_of_call(run: RunState, call: CallAsked) -> Step | None:
    """The first open call: calls run in their order."""
    if call.question:
        answer = run.answer("question", call.call)
        return _once(run, Asking(sort="question", call=call.call)) if answer is None else _told(call, answer)
    if call.verdict == "ask":
        answer = run.answer("approval", call.call)
        if answer is None:
            return None
        if answer.answer != "allow":
            return Settle(closings=(closing(call, "denied", _DENIED[answer.status]),))
    if call.call not in run.broken:
        return UseTool(call=call)
    if call.after_crash == "journal":
        return UseTool(call=call, inspect=True)
    return _in_doubt(run, call)


def _told(call: CallAsked, answer: InteractionClosed) -> Settle:
    """A person's answer to a question is the call's result."""
    if answer.status != "answered":
        return Settle(closings=(closing(call, "denied", "nobody answered"),))
    words = answer.answer if isinstance(answer.answer, str) else "\n".join(answer.answer or ())
    return Settle(closings=(closing(call, "ok", words),))


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
_PARTIAL: dict[PartialReason, str] = {
    "cut": "the reply ended early: the stream closed before its end",
    "error": "the reply broke off with an error",
    "refused": "the provider refused to go on with the reply",
    "stalled": "the reply stalled: nothing came for too long",
    "interrupted": "the reply was interrupted",
}
_EMPTY = "the model gave no answer"
_EMPTY_BY_LENGTH = "the model reached its limit of tokens before it gave an answer"
_CUT = "the server cut the beginning of the prompt, and a person said to stop"
_GO_ON = "what came is kept: 'forkwood resume RUN' goes on from it, 'forkwood retry NODE' asks again"
_ASK_AGAIN = "'forkwood retry NODE' asks again; another model may do better: --model"
