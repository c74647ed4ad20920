"""What a search gives back."""

from __future__ import annotations

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.message import Role


class Hit(Struct, frozen=True, kw_only=True):
    """One message that was found; `title` is its conversation's. `snippet` is plain text around the first place;
    `marks` are the ranges that match.

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
    tool: str | None = None
    """The tool of which the message holds the words in a call, or in its result (role tool); None: they were said."""
    title: str = ""
    created_ms: int = 0

    @property
    def from_tool(self) -> str:
        """Where a tool has to do with it: `called NAME` or `result of NAME`, else nothing."""
        return "" if self.tool is None else f"{'result of' if self.role == 'tool' else 'called'} {self.tool}"


class SearchResponse(Struct, frozen=True, kw_only=True):
    """The hits of a search, best first, and what a person should know about how they were found."""

    hits: tuple[Hit, ...]
    scanned: bool = False
    """Whether the index could not answer: messages were read one by one, newest first."""
    note: str | None = None
