"""Tells thinking from answer where a model writes both as text: `<think>…</think>` at a reply's start, in any cut."""

from __future__ import annotations

from typing import Literal, TypeAlias

Piece: TypeAlias = tuple[Literal["text", "thinking"], str]

OPEN = "<think>"
CLOSE = "</think>"
LEADING_BLANKS_MAX = 256
"""A tag behind more white space than this is no longer the start of the reply."""


class ThinkTags:
    """Splits the text of one reply. Only the first thing said can be thinking; any later tag is text.

    A closing tag between backticks is a word about tags, not the end. White space next to the tags belongs to them.
    """

    __slots__ = ("_held", "_state")

    def __init__(self, *, opened: bool = False) -> None:
        self._state: Literal["start", "opened", "inside", "closed", "text"] = "opened" if opened else "start"
        self._held = ""

    @property
    def plain(self) -> bool:
        """Whether all that still comes is text."""
        return self._state == "text"

    def feed(self, piece: str) -> list[Piece]:
        """What PIECE makes certain, in order."""
        pieces: list[Piece] = []
        rest = self._held + piece
        self._held = ""
        while rest:
            match self._state:
                case "start":
                    rest = self._start(rest)
                case "opened" | "closed":
                    rest = rest.lstrip()
                    if rest:
                        self._state = "inside" if self._state == "opened" else "text"
                case "inside":
                    rest = self._inside(rest, pieces)
                case "text":
                    pieces.append(("text", rest))
                    rest = ""
        return pieces

    def rest(self) -> list[Piece]:
        """What was still uncertain when the reply ended."""
        held, self._held = self._held, ""
        if self._state == "start":
            return [("text", held)] if held else []
        held = held.removesuffix(CLOSE)
        return [("thinking", held)] if held else []

    def _start(self, rest: str) -> str:
        said = rest.lstrip()
        if len(rest) - len(said) > LEADING_BLANKS_MAX:
            self._state = "text"
            return rest
        if said.startswith(OPEN):
            self._state = "opened"
            return said.removeprefix(OPEN)
        if OPEN.startswith(said):
            self._held = rest
            return ""
        self._state = "text"
        return rest

    def _inside(self, rest: str, pieces: list[Piece]) -> str:
        at = _closing(rest)
        if at is None:
            self._held = _uncertain(rest)
            said = rest[: len(rest) - len(self._held)]
            after = ""
        else:
            self._state = "closed"
            said, after = rest[:at], rest[at + len(CLOSE) :]
        if said:
            pieces.append(("thinking", said))
        return after


def _closing(text: str) -> int | None:
    """Where the tag that ends the thinking stands in TEXT; None while there is none, or it might stand in backticks."""
    at = text.find(CLOSE)
    while at > 0 and text[at - 1] == "`":
        after = text[at + len(CLOSE) :]
        if not after:
            return None
        if not after.startswith("`"):
            return at
        at = text.find(CLOSE, at + 1)
    return at if at >= 0 else None


def _uncertain(text: str) -> str:
    """The longest end of TEXT that may still become a closing tag, or one between backticks."""
    quoted = f"`{CLOSE}"
    for length in range(min(len(quoted), len(text)), 0, -1):
        end = text[-length:]
        if quoted.startswith(end) or CLOSE.startswith(end):
            return end
    return ""
