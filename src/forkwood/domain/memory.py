"""What is remembered: named facts in versions. What a model proposes counts once a person has accepted it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.message import Via

MemoryState: TypeAlias = Literal["proposed", "accepted", "rejected"]


class Memory(Struct, frozen=True, kw_only=True):
    """One version of one fact, and where it comes from: the run, the reply and the call that proposed it."""

    id: Id
    name: str
    value: str
    version: int
    state: MemoryState
    superseded_by: Id | None
    conversation: Id | None
    run: Id | None
    node: Id | None
    call: str | None
    by: Literal["user", "model"]
    via: Via
    created_ms: int
    decided_ms: int | None
    purged: bool = False


class Proposal(Struct, frozen=True, kw_only=True):
    """A fact as a model proposes it. CONVERSATION is the row's seq; RUN and CALL tell one proposal from another."""

    name: str
    value: str
    conversation: int
    run: Id
    node: Id
    call: str
    via: Via
