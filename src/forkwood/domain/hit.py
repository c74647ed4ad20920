"""What a search gives back."""

from __future__ import annotations

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.message import Role


class Hit(Struct, frozen=True, kw_only=True):
    """One message that was found. `snippet` is plain text around the first place; `marks` are the ranges that match.

    `score`: the higher, the better; comparable only within one response. 0 where the messages were scanned.
    """

    node: Id
    conversation: Id
    role: Role
    snippet: str
    hidden: bool
    score: float
    marks: tuple[tuple[int, int], ...] = ()


class Found(Struct, frozen=True, kw_only=True):
    """The hits of a search, best first, and what a person should know about how they were found."""

    hits: tuple[Hit, ...]
    scanned: bool = False
    """The index could not answer: messages were read one by one, newest first."""
    note: str | None = None
