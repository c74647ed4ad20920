"""A reply as Markdown on a person's screen while it comes: what is settled scrolls up, what is open is drawn anew.

What is open is drawn by the timer of the screen, not by what comes, and rests the longer the more there is to draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import dropwhile
from threading import Event, RLock, Thread

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment
from rich.text import Text

from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen
from forkwood.surfaces.cli.live import note_try
from forkwood.surfaces.cli.pieces import Cutter, Piece
from forkwood.surfaces.cli.screen_text import visible
from forkwood.surfaces.cli.terminal import Terminal

THOUGHT_LINES = 4
THOUGHT_CHARACTERS = 1_000
REDRAWN_PER_SECOND = 12
REST = 10
"""How many times as long as it took to draw what is open is waited before it is drawn anew."""


class MarkdownReply:
    """One reply, drawn while it comes. Thinking is shown faintly and gives way to the answer."""

    def __init__(self, terminal: Terminal, console: Console | None = None) -> None:
        self.terminal = terminal
        self.console = console or Console(file=terminal.out, width=terminal.pen.width, highlight=False)
        self.live: Live | None = None
        self.over = Event()
        self.thought = ""
        self.lock = RLock()
        """Held by whoever draws: what comes, or the timer in a thread of its own."""
        self._begin()

    def see(self, seen: Seen) -> bool:
        """Draw what is new."""
        match seen:
            case DeltaSeen(part="text"):
                self._add(seen)
                return True
            case DeltaSeen(part="thinking"):
                self.thought = (self.thought + seen.text)[-THOUGHT_CHARACTERS:]
                self._show()
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
        last = Drawn(self.text.open)
        with self.lock:
            self.over.set()
            if self.live is not None:
                self.live.update(last)
                self.live.stop()
                self.live = None
            else:
                self.console.print(last, end="")
        self._begin()

    def _begin(self) -> None:
        self.text = Cutter()
        self.tail = Tail(self._open)
        self.came: list[str] = []
        self.thought = ""
        self.part = -1

    def _add(self, delta: DeltaSeen) -> None:
        text = delta.text if self.part in {-1, delta.index} else f"\n\n{delta.text}"
        self.part = delta.index
        self._grow(text)
        self._show()

    def _grow(self, text: str) -> None:
        """Add TEXT, and let what it settles scroll up above what is open."""
        self.came.append(text)
        with self.lock:
            for piece in self.text.add(text):
                self.tail.forget()
                scroll(piece, self.console)

    def _finish(self, text: str) -> None:
        whole = "".join(self.came)
        if not text.startswith(whole):
            self.text = Cutter()
        self._grow(text.removeprefix(whole))
        self.close()

    def _show(self) -> None:
        if self.live is None:
            self.live = Live(self.tail, console=self.console, auto_refresh=False, redirect_stderr=False)
            self.live.start()
            self.over = Event()
            Thread(target=self._redraw, args=(self.live, self.over), daemon=True).start()

    def _redraw(self, live: Live, over: Event) -> None:
        while not over.wait(1 / REDRAWN_PER_SECOND):
            with self.lock:
                if not over.is_set():
                    live.refresh()

    def _open(self) -> RenderableType:
        if self.came:
            return Drawn(self.text.open)
        return Text("\n".join(visible(self.thought).split("\n")[-THOUGHT_LINES:]), style="dim italic")


class Drawn:
    """TEXT as Markdown, without the blank lines that some of it begins with: a piece is kept apart from outside."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(Markdown(visible(self.text)), options, pad=False) if self.text.strip() else []
        for line in dropwhile(_is_blank, lines):
            yield from line
            yield Segment.line()


def _is_blank(line: list[Segment]) -> bool:
    return not any(piece.text.strip() or (piece.style and piece.style.bgcolor) for piece in line)


class Tail:
    """The end of what DRAWN gives, as much as the screen holds; drawn anew when it may have changed and has rested."""

    def __init__(self, drawn: Callable[[], RenderableType], clock: Callable[[], float] = time.perf_counter) -> None:
        self._drawn = drawn
        self._clock = clock
        self._lines: list[list[Segment]] = []
        self._due = 0.0

    def forget(self) -> None:
        """What was drawn stands elsewhere now: draw anew at the next occasion."""
        self._due = 0.0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        begun = self._clock()
        if begun >= self._due:
            self._lines = console.render_lines(self._drawn(), options, pad=False)[1 - console.height :]
            ended = self._clock()
            self._due = ended + REST * (ended - begun)
        for number, line in enumerate(self._lines):
            if number:
                yield Segment.line()
            yield from line


def show(text: str, terminal: Terminal) -> None:
    """A whole reply as Markdown."""
    console, whole = Console(file=terminal.out, width=terminal.pen.width, highlight=False), Cutter()
    for piece in whole.add(text):
        scroll(piece, console)
    console.print(Drawn(whole.open), end="")


def scroll(piece: Piece, console: Console) -> None:
    """Draw a piece, and what keeps it apart from what follows."""
    console.print(Drawn(piece.text), end="")
    if piece.apart:
        console.print()
