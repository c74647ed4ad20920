"""Messages that were accepted while a run is at work, as the outside sees them, and what becomes of them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from forkwood.domain.act import Act
from forkwood.domain.ids import Id
from forkwood.domain.message import By, Part, Via

QueuedState: TypeAlias = Literal["waiting", "held", "sent", "removed"]
"""`waiting` for the run it stands behind; `held` until a person goes on there; `sent`: it is a node now."""

IN_QUEUE: frozenset[QueuedState] = frozenset({"waiting", "held"})
"""What may still come: it can be changed and taken out."""


class Queued(Struct, frozen=True, kw_only=True, tag_field="type", tag="queued"):
    """A message that stands BEHIND a run. STEERS: it comes before that run's next turn; STEERED: it was to, and the run
    was over first. MODELS reply (none: the conversation's); NODE is what it became, RUNS those that reply to it."""

    id: Id
    conversation: Id
    behind: Id
    steers: bool
    state: QueuedState
    text: str
    parts: tuple[Part, ...]
    models: tuple[str, ...]
    node: Id | None
    runs: tuple[Id, ...]
    by: By
    via: Via
    created_ms: int
    steered: bool = False


class MessageQueued(Act, frozen=True, kw_only=True):
    """`send` at the tip of a run at work: the message stands BEHIND it, or STEERS it."""

    queued: Id
    behind: Id
    steers: bool


class QueueEdited(Act, frozen=True, kw_only=True):
    """`queue --edit`: a message that waits says something else now."""

    queued: Id


class QueueRemoved(Act, frozen=True, kw_only=True):
    """`queue --remove`: a message that waited comes no more."""

    queued: Id


class QueueMoved(Struct, frozen=True, kw_only=True):
    """What became of messages that waited, none of it by hand: they stand BEHIND another run, are HELD, or were sent
    (the event's node), and RUNS reply."""

    queued: tuple[Id, ...]
    state: QueuedState
    behind: Id
    runs: tuple[Id, ...] = ()
