"""What a search gives back."""

from __future__ import annotations

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.message import Role


class Hit(Struct, frozen=True, kw_only=True):
    """One message that was found. `snippet` is plain text around the first place; `marks` are the ranges that match.

    `score` rises with how well it fits and can be compared within one response: above 1 the message holds the words
    themselves, up to 1 longer words that begin with them; 0 where messages were scanned.
    """

    node: Id
    conversation: Id
    role: Role
    snippet: str
    hidden: bool
    score: float
    marks: tuple[tuple[int, int], ...] = ()


class SearchResponse(Struct, frozen=True, kw_only=True):
    """The hits of a search, best first, and what a person should know about how they were found."""

    hits: tuple[Hit, ...]
    scanned: bool = False
    """Whether the index could not answer: messages were read one by one, newest first."""
    note: str | None = None
