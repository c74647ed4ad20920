"""The tree: nodes that hang at places, the entries a path is made of, and what stands beside an entry.

A *place* is (node, cut): the path of NODE without its last CUT entries. A *graft* is a node that carries the last COUNT
entries of the path at another place. Nothing is ever cut or copied.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from forkwood.domain.errors import Misused
from forkwood.domain.ids import Id, is_ending, plain
from forkwood.domain.message import Origin, Part, Role

NodeKind: TypeAlias = Literal["message", "graft"]
NoticeKind: TypeAlias = Literal["partial", "repair", "recovered", "reply", "queue"]


class Spot(Struct, frozen=True, gc=False):
    """A place as the store spells it: the node by its seq, and how many of its path's last entries are left out.

    The one spelling: `0 <= cut < own(node)`. Node 0 stands for the empty path, where first nodes hang (NULL in SQL).
    """

    node: int
    cut: int = 0


ROOT = Spot(0, 0)


class Node(Struct, frozen=True, gc=False):
    """One node, whole, in the shape it has at every door. Places are text; `text` is what the parts say aloud.

    One is made per entry of every path read: it may be built by position, which costs a sixth of keywords. What few
    messages have stands last.
    """

    id: Id
    seq: int
    conversation: Id
    at: str | None
    role: Role | None
    parts: tuple[Part, ...]
    text: str
    origin: Origin
    length: int
    created_ms: int
    kind: NodeKind = "message"
    source: str | None = None
    count: int | None = None
    revises: Id | None = None
    hidden: bool = False
    partial: bool = False
    partial_reason: str | None = None
    purged: bool = False


class Siblings(Struct, frozen=True, gc=False):
    """Where an entry stands among those that could stand there: INDEX counts from 1 (0: it is hidden itself)."""

    ids: tuple[Id, ...]
    index: int = 1
    count: int = 1


class Notice(Struct, frozen=True, kw_only=True):
    """Something a person should know about a node: shown in place, never part of a prompt. `seq` is its event's."""

    seq: int
    what: NoticeKind
    text: str


class Entry(Struct, frozen=True, gc=False):
    """A node as met on a path: through which graft, if any, and the place before it, where its siblings hang."""

    node: Node
    at: str | None
    siblings: Siblings
    graft: Id | None = None
    notices: tuple[Notice, ...] = ()


def parse_place(text: str) -> tuple[str, int]:
    """The name and the cut in `NAME` or `NAME~CUT`. Raises Misused where the cut is no whole number."""
    name, tilde, cut = text.partition("~")
    if not tilde:
        return name, 0
    if not cut.isascii() or not cut.isdigit() or len(cut) > 9:
        raise Misused(f"'{text}' is no place: after ~ a whole number is due", hint="for example 3f9a12c4~2")
    return name, int(cut)


def is_node_ending(name: str) -> bool:
    """Whether NAME could be an id or the ending of one."""
    return is_ending(plain(name))
