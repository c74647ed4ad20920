"""The log's vocabulary: the event, the facts that are neither acts nor of a run, and the list of all kinds."""

from __future__ import annotations

from typing import Any, get_args

from msgspec import Struct

from forkwood.domain.act import (
    Act,
    ActRedone,
    ActUndone,
    ConversationCreated,
    ConversationForked,
    ConversationHidden,
    ConversationShown,
    EntriesCarried,
    EntryDropped,
    HeadSwitched,
    LabelSet,
    MessageEdited,
    MessageSent,
    NodesHidden,
    NodesShown,
    ReplyRetried,
    RunResumed,
    SettingSet,
)
from forkwood.domain.ids import Id
from forkwood.domain.memory import MemoryDecided, MemoryProposed
from forkwood.domain.message import By, Via
from forkwood.domain.model import Usage
from forkwood.domain.policy import Scope
from forkwood.domain.queued import MessageQueued, QueueEdited, QueueMoved, QueueRemoved
from forkwood.domain.run_event import (
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
    SummaryBegun,
    SummaryFailed,
    SummaryMade,
    TryFailed,
    TurnStarted,
)
from forkwood.domain.tree import NoticeKind


class Event(Struct, frozen=True, kw_only=True):
    """A numbered fact, for ever. `payload` is the JSON of the kind's payload."""

    seq: int
    at_ms: int
    kind: str
    conversation: Id | None
    run: Id | None
    node: Id | None
    by: By
    via: Via
    payload: dict[str, Any]


class ConversationUsed(Struct, frozen=True, kw_only=True):
    """`use`: made current."""


class ConversationTitled(Struct, frozen=True, kw_only=True):
    """A title made by the model, of the messages NODES: it goes when one of them is purged. USAGE and COST count."""

    before: str
    after: str
    nodes: tuple[Id, ...] = ()
    usage: Usage | None = None
    cost: float | None = None


class Purged(Struct, frozen=True, kw_only=True):
    """`purge`: how much went. The names of husks stand here, never their words."""

    nodes: tuple[Id, ...]
    conversations: tuple[Id, ...]
    kept: tuple[Id, ...]
    queued: tuple[Id, ...] = ()


class NoticeGiven(Struct, frozen=True, kw_only=True):
    """A notice tied to the event's node."""

    what: NoticeKind
    text: str


class GrantGiven(Struct, frozen=True, kw_only=True):
    """A person gave a yes beforehand, for one tool: it holds for the run or conversation OF, until it is revoked."""

    grant: Id
    tool: str
    scope: Scope
    of: str
    hash: str | None = None


class GrantRevoked(Struct, frozen=True, kw_only=True):
    """It holds no more: the tool asks again."""

    grant: Id


class StoreSalvaged(Struct, frozen=True, kw_only=True):
    """`doctor --repair` made this store out of a corrupt one."""

    rows: int
    lost: int


PAYLOADS: dict[str, type[Struct]] = {
    "conversation.created": ConversationCreated,
    "conversation.forked": ConversationForked,
    "conversation.used": ConversationUsed,
    "conversation.titled": ConversationTitled,
    "conversation.hidden": ConversationHidden,
    "conversation.shown": ConversationShown,
    "setting.changed": SettingSet,
    "label.changed": LabelSet,
    "message.sent": MessageSent,
    "message.queued": MessageQueued,
    "message.edited": MessageEdited,
    "reply.retried": ReplyRetried,
    "entry.dropped": EntryDropped,
    "entries.carried": EntriesCarried,
    "head.switched": HeadSwitched,
    "node.hidden": NodesHidden,
    "node.shown": NodesShown,
    "act.undone": ActUndone,
    "act.redone": ActRedone,
    "purge.done": Purged,
    "notice.given": NoticeGiven,
    "queue.edited": QueueEdited,
    "queue.removed": QueueRemoved,
    "queue.moved": QueueMoved,
    "grant.given": GrantGiven,
    "grant.revoked": GrantRevoked,
    "memory.proposed": MemoryProposed,
    "memory.decided": MemoryDecided,
    "store.salvaged": StoreSalvaged,
    "run.opened": RunOpened,
    "run.resumed": RunResumed,
    "run.sealed": RunSealed,
    "run.driven": RunDriven,
    "run.stopped": RunStopped,
    "run.ended": RunEnded,
    "turn.started": TurnStarted,
    "try.failed": TryFailed,
    "reply.kept": ReplyKept,
    "reply.interrupted": ReplyInterrupted,
    "call.judged": CallJudged,
    "call.started": CallStarted,
    "call.settled": CallSettled,
    "results.kept": ResultsKept,
    "interaction.opened": InteractionOpened,
    "interaction.closed": InteractionClosed,
    "cancel.asked": CancelAsked,
    "steer.asked": SteerAsked,
    "steer.taken": SteerTaken,
    "steer.withdrawn": SteerWithdrawn,
    "summary.begun": SummaryBegun,
    "summary.made": SummaryMade,
    "summary.failed": SummaryFailed,
}
"""Every kind of event and its payload: the list that `docs/schema.md` is checked against."""

KINDS: dict[type[Struct], str] = {payload: kind for kind, payload in PAYLOADS.items()}
RUN_KINDS = frozenset(KINDS[payload] for payload in get_args(RunEvent))
"""What the run machine folds; other events of a run (notices) are for people."""
ACT_KINDS = frozenset(kind for kind, payload in PAYLOADS.items() if issubclass(payload, Act))

assert len(KINDS) == len(PAYLOADS)
