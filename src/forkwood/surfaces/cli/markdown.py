"""A reply as Markdown on a person's screen while it comes: what is settled scrolls up, its last block is drawn anew."""

from __future__ import annotations

import re

from rich.console import Console, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen
from forkwood.surfaces.cli.live import note_try
from forkwood.surfaces.cli.screen_text import visible
from forkwood.surfaces.cli.terminal import Terminal

THOUGHT_LINES = 4
REDRAWN_PER_SECOND = 12
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_GOES_ON = re.compile(r"( |\t|[-*+] |\d+[.)] |>|\|)")
"""How a line begins that belongs to the block before it, blank line or not."""


class MarkdownReply:
    """One reply, drawn while it comes. Thinking is shown faintly and gives way to the answer."""

    def __init__(self, terminal: Terminal, console: Console | None = None) -> None:
        self.terminal = terminal
        self.console = console or Console(file=terminal.out, width=terminal.pen.width, highlight=False)
        self.live: Live | None = None
        self._begin()

    def see(self, seen: Seen) -> bool:
        """Draw what is new."""
        match seen:
            case DeltaSeen(part="text"):
                return self._add(seen)
            case DeltaSeen(part="thinking"):
                self.thought += seen.text
                self._draw(Text("\n".join(visible(self.thought).split("\n")[-THOUGHT_LINES:]), style="dim italic"))
                return True
            case EventSeen(kind="turn.started"):
                self.close()
            case Result():
                self._finish(seen.text)
                return True
            case _:
                note_try(seen, self.terminal)
        return False

    def close(self) -> None:
        """Leave on the screen what is there."""
        self._stop(Markdown(visible(self.open)) if self.open.strip() else Text(""))
        self._begin()

    def _begin(self) -> None:
        self.whole = self.open = self.thought = ""
        self.part = -1

    def _add(self, delta: DeltaSeen) -> bool:
        text = delta.text if self.part in {-1, delta.index} else f"\n\n{delta.text}"
        self.part = delta.index
        self.whole += text
        settled, self.open = settle(self.open + text)
        if settled.strip():
            self._stop(Markdown(visible(settled)))
            self.console.print()
        self._draw(Markdown(visible(self.open)))
        return True

    def _finish(self, text: str) -> None:
        if text.startswith(self.whole):
            self.open += text[len(self.whole) :]
        else:
            self.open = text
        self.close()

    def _draw(self, what: RenderableType) -> None:
        if self.live is None:
            self.live = Live(console=self.console, refresh_per_second=REDRAWN_PER_SECOND, redirect_stderr=False)
            self.live.start()
        self.live.update(what)

    def _stop(self, what: RenderableType) -> None:
        if self.live is None:
            self.console.print(what, end="")
            return
        self.live.update(what)
        self.live.stop()
        self.live = None


def show(text: str, terminal: Terminal) -> None:
    """A whole reply as Markdown."""
    Console(file=terminal.out, width=terminal.pen.width, highlight=False).print(Markdown(visible(text)))


def settle(text: str) -> tuple[str, str]:
    """TEXT cut where nothing that comes can change how its beginning is drawn: at the last blank line between blocks.

    A blank line inside a fence, or before a line that may belong to a list, quotation or table, is no such place.
    """
    fence, at, cut, blank = "", 0, 0, False
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        bare = line.rstrip("\n")
        if not fence and blank and bare.strip() and not _GOES_ON.match(bare):
            cut = at
        fence = _fence_after(fence, bare)
        blank = not bare.strip() and not fence
        at += len(line)
    return text[:cut], text[cut:]


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
