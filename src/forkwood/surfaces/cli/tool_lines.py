"""What is told of tools while a reply comes: each call as it begins, and how it ended, beside the model's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forkwood.domain.ids import Id
from forkwood.domain.message import calls_of
from forkwood.domain.model import Usage
from forkwood.domain.tree import Node
from forkwood.domain.watch import EventSeen, Result, Seen
from forkwood.surfaces.cli.live import View
from forkwood.surfaces.cli.screen_text import cropped, visible_line
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.words import arguments_words

PREVIEW_CHARACTERS = 500


class _Call(Struct, frozen=True):
    """A call of the present turn: its name, all of it in one line, and when it began (None: it has not)."""

    name: str
    words: str
    began_ms: int | None = None


class WithTools:
    """VIEW, and between what it shows a line for each call that begins or ends. LOOK gives the node of an id.

    The lines go to standard error: what is piped away are the model's words alone. MODELS names the runs where there
    are several; what VIEW shows of those it shows when they rest.
    """

    def __init__(self, view: View, terminal: Terminal, models: Mapping[Id, str], look: Callable[[Id], Node]) -> None:
        self.view = view
        self.terminal = terminal
        self.models = models
        self.look = look
        self._calls: dict[tuple[Id | None, str], _Call] = {}
        self._shown = frozenset[Id]()
        """Runs whose last reply is shown already: nothing but tools came after it."""

    def see(self, seen: Seen) -> bool:
        """Show it; whether there was anything to show."""
        match seen:
            case EventSeen(kind="reply.kept", node=str(node)) if seen.payload.get("calls"):
                self._keep(seen.run or "", self.look(node))
                return True
            case EventSeen(kind="turn.started"):
                self._shown -= {seen.run or ""}
            case EventSeen(kind="call.started"):
                self._begin(seen)
                return True
            case EventSeen(kind="call.settled"):
                self._end(seen)
                return True
            case Result() if seen.run in self._shown:
                return self.view.see(replace(seen, text=""))
        return self.view.see(seen)

    def close(self) -> None:
        """Nothing more comes."""
        self.view.close()

    def _keep(self, run: Id, node: Node) -> None:
        """A reply that calls tools is whole: its words are shown to their end before the first line about a tool."""
        for call in calls_of(node.parts):
            self._calls[run, call.call] = _Call(
                visible_line(call.name), f"{visible_line(call.name)} {arguments_words(call)}"
            )
        if len(self.models) > 1:
            return
        self.view.see(Result(run=run, status="running", node=node.id, text=node.text, usage=Usage(), error=None))
        self.view.close()
        self._shown |= {run}

    def _begin(self, seen: EventSeen) -> None:
        key = seen.run, seen.payload["call"]
        call = self._calls.get(key)
        if call is not None:
            self._calls[key] = _Call(call.name, call.words, seen.at_ms)
            self._note(seen, f"{self.terminal.pen.glyphs.tool} {call.words}")

    def _end(self, seen: EventSeen) -> None:
        call = self._calls.pop((seen.run, seen.payload["call"]), None)
        if call is None:
            return
        took = ""
        if call.began_ms is None:
            self._note(seen, f"{self.terminal.pen.glyphs.tool} {call.words}")
        else:
            took = f", {max(0, seen.at_ms - call.began_ms) / 1000:.1f} s"
        line = f"  {call.name}: {seen.payload['outcome']}{took}{_preview(seen.payload)}"
        self._note(seen, line, is_whole=seen.payload["outcome"] == "error")

    def _note(self, seen: EventSeen, line: str, *, is_whole: bool = False) -> None:
        """Tell LINE; an error IS_WHOLE, for what is to be mended can stand at its end."""
        model = visible_line(self.models.get(seen.run or "", "")) if len(self.models) > 1 else ""
        pen = self.terminal.pen
        told = f"{line}  ({model})" if model else line
        self.terminal.note(pen.inks.dim(told if is_whole else cropped(told, pen.width)))


def _preview(payload: Mapping[str, Any]) -> str:
    text = next((part["text"] for part in payload["parts"] if part.get("kind") == "text"), "")
    line = visible_line(text[:PREVIEW_CHARACTERS])
    return f": {line}" if line else ""
