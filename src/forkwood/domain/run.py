"""The run machine: fold what happened (`apply`); what is next follows from that (`plan`). Pure.

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
    CallJudged,
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
    SteerAsked,
    SteerTaken,
    SteerWithdrawn,
    Stop,
    SummaryBegun,
    SummaryFailed,
    SummaryMade,
    TryFailed,
    TurnStarted,
)

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
    rounds_max: int = limits.rounds_max
    failures: int = 0
    """Calls that reached no tool, since one last did."""
    summary_tries: int = 0
    """Summaries that were tried for the present turn."""
    steers: tuple[Id, ...] = ()
    """Messages that come before the next turn."""
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

    def overdue(self, now_ms: int) -> tuple[Id, ...]:
        """Open interactions whose time is over: nobody can answer them any more."""
        late = {one.interaction for one in self.asked if one.expires_ms is not None and one.expires_ms <= now_ms}
        return tuple(one for one in self.open_interactions if one in late)

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


def apply(run: RunState, event: RunEvent) -> RunState:
    """RUN after EVENT. Asserts that the event can follow: nothing happens after the end, no call is settled twice."""
    assert run.ended is None, "nothing happens after the end"
    match event:
        case RunOpened():
            return run
        case RunDriven(number=number):
            return _taken_over(run, number)
        case RunSealed(manifest=manifest, rounds_max=rounds_max):
            return replace(run, manifest=manifest, rounds_max=rounds_max)
        case TurnStarted(turn=turn, recipe=recipe):
            assert turn == run.turns + 1 and not run.open_calls, "a turn begins when the last one is closed"
            return replace(run, calling=True, withdrawn=recipe.tools_withdrawn)
        case TryFailed():
            return _try_failed(run, event)
        case ReplyKept():
            return _replied(run, event)
        case ReplyInterrupted() | SummaryBegun():
            return run
        case CallJudged() | CallStarted() | CallSettled() | ResultsKept():
            return _call_moved(run, event)
        case SteerAsked(queued=queued):
            return replace(run, steers=(*run.steers, queued))
        case SteerTaken(queued=queued) | SteerWithdrawn(queued=queued):
            return replace(run, steers=tuple(one for one in run.steers if one != queued))
        case SummaryMade(usage=usage) | SummaryFailed(usage=usage):
            return replace(run, summary_tries=run.summary_tries + 1, usage=run.usage + (usage or Usage()))
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
        summary_tries=0,
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
    return Stop(status="done")


def _failed(reason: str, message: str, hint: str) -> Stop:
    return Stop(status="failed", error={"kind": "provider", "reason": reason, "message": message, "hint": hint})


def _call_moved(run: RunState, event: CallJudged | CallStarted | CallSettled | ResultsKept) -> RunState:
    match event:
        case CallJudged(call=call, verdict=verdict, granted=granted):
            judged = tuple(
                replace(one, verdict=verdict, granted=granted) if one.call == call else one for one in run.calls
            )
            return replace(run, calls=judged)
        case CallStarted(call=call):
            assert call in {one.call for one in run.open_calls}, "only an open call can begin"
            doubted = tuple(one for one in run.asked if (one.sort, one.call) != ("doubt", call))
            return replace(run, begun=run.begun | {call}, broken=run.broken - {call}, asked=doubted)
        case CallSettled():
            return _settled(run, event)
        case ResultsKept(turn=turn):
            assert turn == run.turns and run.calls and not run.open_calls
            return replace(run, calls=(), settled=())
        case _:
            assert_never(event)


def _settled(run: RunState, event: CallSettled) -> RunState:
    """Calls that reach no tool end the run when there are too many in a row; what a tool answers is never counted."""
    call = next((one for one in run.open_calls if one.call == event.call), None)
    assert call is not None, "a call is settled once"
    reached = event.outcome in {"ok", "error"}
    failures = run.failures + 1 if call.fault else 0 if reached else run.failures
    stop = run.stop
    if failures >= limits.loop_failures_max:
        stop = stop or _failed("tools", f"{failures} calls in a row reached no tool: {call.fault}", _ASK_AGAIN)
    return replace(run, settled=(*run.settled, event), failures=failures, stop=stop)


def _answered(run: RunState, event: InteractionClosed) -> RunState:
    assert event.interaction in run.open_interactions, "the first answer counts"
    answered = replace(run, answers=(*run.answers, event))
    about = next(one for one in run.asked if one.interaction == event.interaction)
    if about.call is not None:
        return answered
    if event.answer == "go-on":
        return replace(answered, prompt_cut=False)
    decided = run.stop is not None and run.stop.status != "done"
    return replace(answered, stop=run.stop if decided else _failed("prompt_cut", _CUT, _MAKE_ROOM))


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
_MAKE_ROOM = "'forkwood set context N' asks for more room; dropping or hiding messages makes the prompt shorter"
_GO_ON = "what came is kept: 'forkwood resume RUN' goes on from it, 'forkwood retry NODE' asks again"
_ASK_AGAIN = "'forkwood retry NODE' asks again; another model may do better: --model"
