"""What a watcher of a run gets, line by line: deltas, events, and one result at the end."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from forkwood.domain.event import Event
from forkwood.domain.ids import Id
from forkwood.domain.model import DeltaKind, Usage
from forkwood.domain.run import RunStatus


class DeltaSeen(Struct, frozen=True, kw_only=True, tag_field="type", tag="delta", gc=False):
    """A scrap of a reply in flight: TEXT goes to the end of part number INDEX, which is of kind PART. May be missed."""

    run: Id
    part: DeltaKind
    index: int
    text: str


class EventSeen(Event, frozen=True, kw_only=True, tag_field="type", tag="event"):
    """An event of the run. Never missed."""


class Result(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """How a run stands when it stops moving. NODE and TEXT are of its last reply, USAGE of all of them."""

    run: Id
    status: RunStatus
    node: Id | None
    text: str
    usage: Usage
    error: dict[str, Any] | None


Seen: TypeAlias = DeltaSeen | EventSeen | Result
