"""Markdown cut while it comes, where nothing that follows can change how what stands before is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_GOES_ON = re.compile(r"( |\t|[-*+] |\d+[.)] |>|\|)")
"""How a line begins that belongs to what stands before it, blank line or not."""
_ITEM = re.compile(r"(?:([-*+])|(\d{1,9})([.)])) +\S")


class Piece(Struct, frozen=True):
    """Markdown that is drawn by itself. APART: a blank line stands between it and what follows."""

    text: str
    apart: bool


class Mark(Struct, frozen=True):
    """How an item of a list begins: its SIGN, which is the same for a whole list, and its number (0: a bullet)."""

    sign: str
    number: int = 0


class Cutter:
    """One text as it comes, and what of it is open. Each line is looked at once, so that it costs what it is long.

    It is cut before a paragraph, list or other block, and between the items of a list; never inside a fence, nor where
    a quotation or table may go on. The pieces are the same into whatever scraps the text is torn.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._scraps: list[str] = []
        self._fence = ""
        self._blank = False
        self._list: Mark | None = None
        """The mark of the item that the open piece is."""
        self._doubt = False
        """Whether it may be over, or another may have begun: numbers say nothing then."""

    @property
    def open(self) -> str:
        """What has come and is not settled."""
        return "".join((*self._lines, *self._scraps))

    def add(self, text: str) -> Iterator[Piece]:
        """The pieces that are settled now that TEXT has come."""
        *ends, rest = text.split("\n")
        for end in ends:
            line = "".join((*self._scraps, end))
            self._scraps.clear()
            yield from self._take(line)
        if rest:
            self._scraps.append(rest)

    def _take(self, line: str) -> Iterator[Piece]:
        is_blank = not line.strip()
        apart = None if is_blank or self._fence or not self._lines else self._cut(line)
        if apart is not None:
            yield Piece("".join(self._lines), apart)
            self._lines.clear()
        if not self._lines:
            if is_blank:
                return
            self._list, self._doubt = _mark(line), False
        elif not (is_blank or self._fence or line.startswith((" ", "\t"))):
            self._doubt |= self._list is not None or _mark(line) is not None
        self._lines.append(line + "\n")
        self._fence = _fence_after(self._fence, line)
        self._blank = is_blank and not self._fence

    def _cut(self, line: str) -> bool | None:
        """Whether the open piece ends before LINE, and apart from it; None where it goes on."""
        mark = _mark(line)
        if mark is None:
            return True if self._blank and not _GOES_ON.match(line) else None
        if self._list is not None and mark.sign == self._list.sign:
            follows = mark.number == self._list.number + 1 and not self._doubt
            return False if follows or not mark.number else None  # drawn alone it would begin with its own number
        if self._doubt and mark.number:
            return None
        return True if mark.number < 2 or self._blank else None  # no other number interrupts a paragraph


def _mark(line: str) -> Mark | None:
    found = _ITEM.match(line)
    if found is None:
        return None
    bullet, number, sign = found.groups()
    return Mark(bullet) if bullet else Mark(sign, int(number))


def _fence_after(fence: str, line: str) -> str:
    """The fence that is open after LINE, where FENCE was open before it; empty for none."""
    found = _FENCE.match(line)
    if not found:
        return fence
    mark, rest = found.groups()
    if not fence:
        return mark if "`" not in rest or mark[0] == "~" else ""
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip()
    return "" if closes else fence
