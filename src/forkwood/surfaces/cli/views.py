"""The ways a reply that comes is shown: JSON lines, plain text, Markdown on a screen, several replies one by one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from forkwood.domain.ids import Id, ending
from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen
from forkwood.surfaces.cli.live import View, note_try
from forkwood.surfaces.cli.screen_text import visible, visible_line
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.waiting import waiting


class JsonLines:
    """Everything that is seen, as it is."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def see(self, seen: Seen) -> bool:
        """Write it as one line."""
        self.terminal.json(seen)
        return True

    def close(self) -> None:
        """Nothing is left to say."""


class PlainReply:
    """One reply as plain text while it comes. What was missed follows when the whole is known."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.shown = ""
        self.part = -1

    def see(self, seen: Seen) -> bool:
        """Write what is new of the text."""
        match seen:
            case DeltaSeen(part="text"):
                return self._add(seen)
            case EventSeen(kind="turn.started"):
                self._end_line()
            case Result():
                self._finish(seen.text)
                return True
            case _:
                note_try(seen, self.terminal)
        return False

    def close(self) -> None:
        """End the line that was begun."""
        self._end_line()

    def _add(self, delta: DeltaSeen) -> bool:
        text = delta.text if self.part in {-1, delta.index} else f"\n\n{delta.text}"
        self.part = delta.index
        self.shown += text
        self.terminal.put(visible(text))
        return True

    def _finish(self, text: str) -> None:
        rest = text[len(self.shown) :] if text.startswith(self.shown) else f"\n{text}"
        self.shown += rest
        self.terminal.put(visible(rest))

    def _end_line(self) -> None:
        if self.shown and not self.shown.endswith("\n"):
            self.terminal.put("\n")
        self.shown, self.part = "", -1


class RepliesInTurn:
    """Several replies to one message: each whole when it is there, under the name of its model."""

    def __init__(self, terminal: Terminal, models: Mapping[Id, str]) -> None:
        self.terminal = terminal
        self.models = models

    def see(self, seen: Seen) -> bool:
        """Write a reply that rests."""
        note_try(seen, self.terminal)
        if not isinstance(seen, Result):
            return False
        model = visible_line(self.models.get(seen.run, ""))
        name = f"{ending(seen.node)}  " if seen.node else ""
        self.terminal.say(self.terminal.pen.inks.bold(f"{name}{model}"))
        self._show(seen.text)
        return True

    def _show(self, text: str) -> None:
        if is_pretty(self.terminal):
            from forkwood.surfaces.cli.markdown import show

            show(text, self.terminal)
            self.terminal.say("")
        else:
            self.terminal.say(f"{visible(text)}\n")

    def close(self) -> None:
        """Nothing is left to say."""


class Finishing:
    """Replies that were left and are finished first: said to be, with a sign of life, and where each is kept."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.run: Id | None = None
        self._turning = ExitStack()

    def see(self, seen: Seen) -> bool:
        """Say which reply is being finished, and how that ended."""
        if isinstance(seen, Result):
            self.close()
            self.terminal.note(_finished(seen))
        elif seen.run != self.run:
            self.close()
            self.run = seen.run
            name = ending(seen.run or "")
            self.terminal.note(
                f"A run was left here that is not over (run {name}): it goes on first, and what had come is kept."
            )
            self._turning.enter_context(waiting("Finishing it", self.terminal))
        note_try(seen, self.terminal)
        return True

    def close(self) -> None:
        """Nothing turns any more."""
        self._turning.close()


def _finished(result: Result) -> str:
    kept = f" It is kept as {ending(result.node)}." if result.node else ""
    if result.error:
        return f"It failed: {visible_line(str(result.error.get('message', 'the run failed')))}.{kept}"
    return f"It is {result.status}.{kept}"


def is_pretty(terminal: Terminal) -> bool:
    """Whether Markdown is drawn here."""
    return terminal.is_screen and terminal.environ.get("TERM") != "dumb"


def view_for(terminal: Terminal, models: Mapping[Id, str], *, as_json: bool) -> View:
    """The way to show the replies of MODELS here."""
    if as_json:
        return JsonLines(terminal)
    if len(models) > 1:
        return RepliesInTurn(terminal, models)
    if is_pretty(terminal):
        from forkwood.surfaces.cli.markdown import MarkdownReply

        return MarkdownReply(terminal)
    return PlainReply(terminal)
