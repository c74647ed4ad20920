"""Acts: one command of one door with all it caused, and the effects that make it invertible.

Undo applies the inverses of an act's effects as a new act. Effects are on what can change: the head, marks, settings,
labels, the trash, the queue; nodes are only ever added.
"""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.message import By, Part, Via


class Who(Struct, frozen=True, kw_only=True):
    """Who does a thing, and through which door."""

    by: By
    via: Via


class HeadMoved(Struct, frozen=True, kw_only=True, tag_field="effect", tag="head"):
    """The head went from a place to another.

    `*_run` names the leading run whose tip stood there then: that tip may go on, and coming back is coming back to it.
    """

    before: str | None
    after: str | None
    before_run: Id | None = None
    after_run: Id | None = None


class MarkChanged(Struct, frozen=True, kw_only=True, tag_field="effect", tag="mark"):
    """Nodes became hidden (HIDDEN true) or visible again. Only those whose state did change are named."""

    nodes: tuple[Id, ...]
    hidden: bool


class SettingChanged(Struct, frozen=True, kw_only=True, tag_field="effect", tag="setting"):
    """A setting of the conversation went from a value to another; both stay readable here."""

    key: str
    before: Any
    after: Any


class LabelMoved(Struct, frozen=True, kw_only=True, tag_field="effect", tag="label"):
    """A label went from a node to another; None is nowhere."""

    name: str
    before: Id | None
    after: Id | None


class TrashChanged(Struct, frozen=True, kw_only=True, tag_field="effect", tag="trash"):
    """A conversation went into the trash (HIDDEN true) or came out of it, as those that `new` and `fork` make do."""

    conversation: Id
    hidden: bool


class RunStarted(Struct, frozen=True, kw_only=True, tag_field="effect", tag="run"):
    """The act started a run: undo cancels it, redo starts nothing."""

    run: Id


class QueuedStands(Struct, frozen=True, kw_only=True, tag_field="effect", tag="queued"):
    """A message came into the queue (WAITS true) or was taken out of it. Of one that was sent by then, undo ends the
    runs that reply to it."""

    queued: Id
    waits: bool


class QueuedChanged(Struct, frozen=True, kw_only=True, tag_field="effect", tag="queued_parts"):
    """A message in the queue came to say something else."""

    queued: Id
    before: tuple[Part, ...]
    after: tuple[Part, ...]


Effect: TypeAlias = (
    HeadMoved | MarkChanged | SettingChanged | LabelMoved | TrashChanged | RunStarted | QueuedStands | QueuedChanged
)


def inverse(effect: Effect) -> Effect | None:
    """The effect that takes EFFECT back; None for a run, which is cancelled, not inverted."""
    match effect:
        case HeadMoved(before=before, after=after, before_run=left, after_run=came):
            return HeadMoved(before=after, after=before, before_run=came, after_run=left)
        case MarkChanged(nodes=nodes, hidden=hidden):
            return MarkChanged(nodes=nodes, hidden=not hidden)
        case SettingChanged(key=key, before=before_value, after=after_value):
            return SettingChanged(key=key, before=after_value, after=before_value)
        case LabelMoved(name=name, before=was, after=now):
            return LabelMoved(name=name, before=now, after=was)
        case TrashChanged(conversation=conversation, hidden=hidden):
            return TrashChanged(conversation=conversation, hidden=not hidden)
        case QueuedStands(queued=queued, waits=waits):
            return QueuedStands(queued=queued, waits=not waits)
        case QueuedChanged(queued=queued, before=old_parts, after=new_parts):
            return QueuedChanged(queued=queued, before=new_parts, after=old_parts)
        case RunStarted():
            return None
        case _:
            assert_never(effect)


class Act(Struct, frozen=True, kw_only=True):
    """What every act's payload has: its effects, in the order they happened."""

    effects: tuple[Effect, ...]


class ConversationCreated(Act, frozen=True, kw_only=True):
    """`new`: SETTINGS are the values it began with."""

    settings: dict[str, Any]


class ConversationForked(Act, frozen=True, kw_only=True):
    """`fork`: a conversation whose first node is one graft of the path to an entry."""

    source_conversation: Id
    source_node: Id
    settings: dict[str, Any]


class MessageSent(Act, frozen=True, kw_only=True):
    """`send`: the event's node is the message."""

    runs: tuple[Id, ...] = ()


class MessageEdited(Act, frozen=True, kw_only=True):
    """`edit`: the event's node is the new version, REVISES the old one, KEPT the graft of what followed."""

    revises: Id
    kept: Id | None = None
    runs: tuple[Id, ...] = ()


class ReplyRetried(Act, frozen=True, kw_only=True):
    """`retry`: the event's node is the one that was retried."""

    runs: tuple[Id, ...]


class RunResumed(Act, frozen=True, kw_only=True):
    """`resume` of an ended run: a new run at its tip."""

    resumes: Id
    runs: tuple[Id, ...]


class EntryDropped(Act, frozen=True, kw_only=True):
    """`drop`: the event's node is the dropped one, GRAFT what carries the rest (None: nothing followed)."""

    graft: Id | None


class EntriesCarried(Act, frozen=True, kw_only=True):
    """`graft`: the event's node is the graft."""

    source: str
    count: int


class HeadSwitched(Act, frozen=True, kw_only=True):
    """`switch`."""


class NodesHidden(Act, frozen=True, kw_only=True):
    """`hide` of a message (with its tool group)."""


class NodesShown(Act, frozen=True, kw_only=True):
    """`unhide` of a message."""


class ConversationHidden(Act, frozen=True, kw_only=True):
    """`hide` of a conversation: into the trash."""


class ConversationShown(Act, frozen=True, kw_only=True):
    """`unhide` of a conversation."""


class SettingSet(Act, frozen=True, kw_only=True):
    """`set`, and what `models use` or a profile does to a conversation."""


class LabelSet(Act, frozen=True, kw_only=True):
    """`label` and `unlabel`."""


class ActUndone(Act, frozen=True, kw_only=True):
    """`undo`: ACT is the seq of the act's event, KIND its kind."""

    act: int
    kind: str


class ActRedone(Act, frozen=True, kw_only=True):
    """`redo`: UNDO is the seq of the undo's event, KIND the kind of the act that stands again."""

    undo: int
    kind: str
