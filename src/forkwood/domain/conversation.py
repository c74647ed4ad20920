"""A conversation as the store keeps it, the settings it begins with, and the leaves its branches end in."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.message import Role
from forkwood.domain.settings import Approvals, Parameters
from forkwood.domain.tree import Spot

TitledBy: TypeAlias = Literal["rule", "model", "user"]


class ConversationSettings(Struct, frozen=True, kw_only=True):
    """What a conversation can be begun with, and what a fork takes along. None: the program's own setting holds."""

    model: str | None = None
    system: str | None = None
    approvals: Approvals = "ask"
    tools_off: tuple[str, ...] = ()
    params: Parameters = Parameters()
    profile: str | None = None
    tags: tuple[str, ...] = ()
    folder: str | None = None


class ConversationUsage(Struct, frozen=True, kw_only=True):
    """What all replies of a conversation took: turns, tokens, and US dollars as far as prices are known."""

    turns: int = 0
    input: int = 0
    output: int = 0
    cost: float | None = None


class ForkedFrom(Struct, frozen=True, kw_only=True):
    """The conversation a fork was made from, and the message it ends with."""

    conversation: Id
    node: Id


class Conversation(Struct, frozen=True, kw_only=True):
    """A conversation as every door shows it. `head` is a place; null where it stands on the empty path."""

    id: Id
    title: str
    titled_by: TitledBy
    head: str | None
    model: str | None
    system: str | None
    approvals: Approvals
    tools_off: tuple[str, ...]
    params: Parameters
    profile: str | None
    usage: ConversationUsage
    project: str | None
    created_ms: int
    updated_ms: int
    forked_from: ForkedFrom | None
    tags: tuple[str, ...]
    folder: str | None
    pinned: bool
    archived: bool
    hidden: bool
    purged: bool


class Leaf(Struct, frozen=True, kw_only=True):
    """Where a branch ends: its place, the last message on its path, and the age of the node that made it."""

    spot: Spot
    node: Id
    role: Role
    text: str
    length: int
    hidden: bool
    created_ms: int
