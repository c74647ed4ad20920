"""What a new version of a message holds, and the place behind it."""

from __future__ import annotations

from forkwood.domain.errors import Refused
from forkwood.domain.message import Origin, Part, Text, Thinking, calls_of
from forkwood.domain.tree import Node, Spot
from forkwood.runtime import naming
from forkwood.runtime.acts import OpenAct
from forkwood.store import grafts, walk


def editable(old: Node, name: str) -> Node:
    """OLD, if it can have a new version. Raises Refused."""
    if old.role == "tool":
        raise Refused(f"{name} holds the results of tools: nobody says them", hint="edit the message before them")
    if old.purged:
        raise Refused(f"{name} was purged: there is nothing to edit", hint="send a new message in its place with --at")
    return old


def edited(old: Node, text: str) -> tuple[Part, ...]:
    """The parts of the new version: its text replaced, attachments and calls kept, thinking gone."""
    kept = tuple(part for part in old.parts if not isinstance(part, Text | Thinking))
    return (Text(text=text), *kept)


def regrouped(act: OpenAct, entry: naming.Met, new: int, old: Node) -> Spot:
    """The place behind the new version: where OLD had calls, behind one graft of their results."""
    if len(entry.group) == 1 or not calls_of(old.parts):
        return walk.canonical(act.tx, new, 0)
    seq, _ = grafts.add_graft(
        act.tx,
        id=act.new_id(),
        conversation=act.conversation,
        at=Spot(new),
        source=Spot(entry.group[1]),
        count=1,
        origin=Origin(by=act.house.who.by, via=act.house.who.via),
        now_ms=act.now_ms,
    )
    return Spot(seq)
