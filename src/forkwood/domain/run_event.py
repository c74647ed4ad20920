"""What happens in a run, as the run machine folds it: each is the payload of an event."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.ids import Id
from forkwood.domain.interaction import Answer, Question, Sort
from forkwood.domain.message import Attachment, Outcome, PartialReason, Text
from forkwood.domain.model import Usage

Verdict: TypeAlias = Literal["allow", "ask", "deny"]
EffectOfTool: TypeAlias = Literal["read", "write", "execute"]
AfterCrash: TypeAlias = Literal["again", "journal", "doubt"]


class CallAsked(Struct, frozen=True, kw_only=True):
    """One tool call of a reply as the machine sees it: judged when it was asked, by the sealed policy."""

    call: str
    name: str
    effect: EffectOfTool
    verdict: Verdict
    after_crash: AfterCrash
    question: bool = False
    """The tool is answered by a person (ask_user): its step is Ask, not UseTool."""
    spends_round: bool = True
    """The call counts towards the limit of rounds."""
    fault: str | None = None
    """Why the call reaches no tool: there is none of that name, or its arguments are not what the schema asks for."""
    granted: Id | None = None
    """The grant that allows it."""


class RunOpened(Struct, frozen=True, kw_only=True):
    """A run begins at a place. LEADS: the head follows its tip while it stands there. KEY is the one that the command
    carried which began it, of that CLIENT."""

    place: str | None
    model: str
    leads: bool
    client: str | None = None
    key: str | None = None


class RunSealed(Struct, frozen=True, kw_only=True):
    """The run's manifest, by digest. A run is sealed anew where a tool or the policy has changed since."""

    manifest: str
    rounds_max: int = limits.rounds_max


class Stop(Struct, frozen=True, kw_only=True):
    """How a run is going to end, and the error a person is shown: kind, message, hint and facts."""

    status: Literal["done", "failed", "cancelled"]
    error: dict[str, Any] | None = None


class Recipe(Struct, frozen=True, kw_only=True):
    """What a turn's prompt was made from; the prompt is a pure function of it.

    LOG: marks count as they were at this log number. FORM: version of the code that builds prompts. FRESH: digests of
    the last reply on the path and of all that came after it, by node: where a prompt no longer fits, they tell which
    entry changed.
    """

    place: str | None
    log: int
    manifest: str
    summary: str | None
    first_entry: Id | None
    tools_withdrawn: bool
    form: int
    prompt_digest: str
    request_digest: str
    fresh: dict[Id, str] = {}


class TurnStarted(Struct, frozen=True, kw_only=True):
    """The model is about to be called for turn TURN (from 1). ESTIMATE: the tokens of its prompt before any correction,
    by which the provider's count of it corrects later ones."""

    turn: int
    recipe: Recipe
    estimate: int = 0


class TryFailed(Struct, frozen=True, kw_only=True):
    """A try of a turn failed before its reply began. It is repeated after WAIT_MS, with the next key where one was
    refused; None: it is not, and the run ends."""

    turn: int
    number: int
    reason: str
    message: str
    wait_ms: int | None
    next_key: bool = False
    hint: str = ""
    facts: dict[str, Any] = {}


class ReplyKept(Struct, frozen=True, kw_only=True):
    """The model's reply of a turn is a node now (the event's node). EMPTY: it held no answer; without any part there is
    no node either. PROMPT_CUT: the server counted far fewer tokens than it was sent."""

    turn: int
    usage: Usage | None
    cost: float | None
    finish: str | None
    partial: PartialReason | None
    error: str | None = None
    calls: tuple[CallAsked, ...] = ()
    empty: bool = False
    prompt_cut: bool = False


class ReplyInterrupted(Struct, frozen=True, kw_only=True):
    """The driver died while the reply of a turn came in. What came is the event's node, a partial sibling of the reply
    that is asked for again; nothing had come where there is no node."""

    turn: int


class CallJudged(Struct, frozen=True, kw_only=True):
    """A call was judged anew just before it was to run: what allowed it then holds no more, or something does now."""

    call: str
    verdict: Verdict
    granted: Id | None = None


class CallStarted(Struct, frozen=True, kw_only=True):
    """A call's effect is about to happen: committed before it does."""

    call: str


class CallSettled(Struct, frozen=True, kw_only=True):
    """How a call ended. What the model reads of it becomes part of the tool node when the last call is settled."""

    call: str
    outcome: Outcome
    parts: tuple[Text | Attachment, ...] = ()


class ResultsKept(Struct, frozen=True, kw_only=True):
    """The results of a turn are a node now (the event's node)."""

    turn: int


class InteractionOpened(Struct, frozen=True, kw_only=True):
    """A person is asked: an approval or question for a call, or a doubt about one (CALL null: about the prompt).

    HASH binds an approval to tool, schema and arguments; ABOUT says what is asked.
    """

    interaction: Id
    sort: Sort
    call: str | None
    hash: str | None = None
    questions: tuple[Question, ...] = ()
    about: str = ""
    expires_ms: int | None = None


class InteractionClosed(Struct, frozen=True, kw_only=True):
    """An interaction is answered, has expired, or is withdrawn because its run ended. GRANT is what the yes gave."""

    interaction: Id
    status: Literal["answered", "expired", "withdrawn"]
    answer: Answer | None = None
    grant: Id | None = None


class CancelAsked(Struct, frozen=True, kw_only=True):
    """Somebody wants the run to end."""


class SteerAsked(Struct, frozen=True, kw_only=True):
    """A message was accepted that is to come before the run's next turn."""

    queued: Id


class SteerTaken(Struct, frozen=True, kw_only=True):
    """That message is a node now (the event's node), at the run's tip."""

    queued: Id


class SteerWithdrawn(Struct, frozen=True, kw_only=True):
    """That message was taken out of the queue before a turn could take it."""

    queued: Id


class SummaryBegun(Struct, frozen=True, kw_only=True):
    """A model is about to be asked for a summary of so many messages (COVERS), for a prompt of ESTIMATE tokens would
    pass its BUDGET."""

    covers: int
    model: str
    estimate: int
    budget: int


class SummaryMade(Struct, frozen=True, kw_only=True):
    """A summary was made, because the prompt would have passed its budget or a person wanted it. COVERS: how many
    messages it stands for."""

    summary: Id
    covers: int
    model: str
    usage: Usage | None
    cost: float | None


class SummaryFailed(Struct, frozen=True, kw_only=True):
    """A summary that was wanted could not be made. USAGE and COST are of a reply that could not be taken for one."""

    reason: str
    message: str
    hint: str = ""
    facts: dict[str, Any] = {}
    usage: Usage | None = None
    cost: float | None = None


class RunDriven(Struct, frozen=True, kw_only=True):
    """A driver took the run over; NUMBER rises with each take-over."""

    driver: str
    number: int


class RunStopped(Struct, frozen=True, kw_only=True):
    """The run cannot go on: its model cannot be opened, its manifest does not hold. Its open calls are settled, then it
    ends failed."""

    error: dict[str, Any]


class RunEnded(Struct, frozen=True, kw_only=True):
    """Nothing happens to a run after this."""

    status: Literal["done", "failed", "cancelled"]
    error: dict[str, Any] | None = None


RunEvent: TypeAlias = (
    RunOpened
    | RunSealed
    | TurnStarted
    | TryFailed
    | ReplyKept
    | ReplyInterrupted
    | CallJudged
    | CallStarted
    | CallSettled
    | ResultsKept
    | InteractionOpened
    | InteractionClosed
    | CancelAsked
    | SteerAsked
    | SteerTaken
    | SteerWithdrawn
    | SummaryBegun
    | SummaryMade
    | SummaryFailed
    | RunDriven
    | RunStopped
    | RunEnded
)
