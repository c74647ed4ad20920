"""Following the log: what is done, a line for each thing as it is done, until the person has seen enough."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from contextlib import aclosing, suppress

from forkwood.domain.ids import Id, ending
from forkwood.domain.tree import Node
from forkwood.domain.watch import DeltaSeen, EventSeen, Seen
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.live import in_loop
from forkwood.surfaces.cli.screen_text import visible
from forkwood.surfaces.cli.show_lists import event_line
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.views import JsonLines

EVENTS_BEFORE = 10
"""How many events are shown of what was done before one began to follow."""
INDENT = " " * 8
ANEW = frozenset({"turn.started", "reply.interrupted", "try.failed"})
"""After these a reply begins from its first word."""


def follow_log(call: Call, after: int | None) -> None:
    """Write each event behind AFTER (None: behind all but the last few) and each scrap of a reply as it comes. Ctrl-C
    is how it ends, and nothing is interrupted by it; so does a reader who leaves."""
    watching: asyncio.Task[None] | None = None
    runtime, now = call.runtime, call.runtime.behind_last(0)
    view = (
        JsonLines(call.terminal)
        if call.as_json
        else Following(call.terminal, now, lambda node: runtime.show(node).node)
    )
    begin = call.runtime.behind_last(EVENTS_BEFORE, conversation=call.named) if after is None else after

    def stop() -> None:
        if watching is not None:
            watching.cancel()

    async def watch() -> None:
        nonlocal watching
        watching = asyncio.current_task()
        _when_left(call.terminal, stop)
        async with aclosing(call.runtime.watch(begin, conversation=call.named)) as items:
            async for seen in items:
                view.see(seen)
                if not call.terminal.is_heard:
                    return

    with suppress(asyncio.CancelledError):
        in_loop(watch(), stop)
    view.close()


class Following:
    """Events in a line each, and before a reply is told to be kept its words, as they come, each under its run.

    Of a reply that is kept behind the log number NOW the words that were missed follow; LOOK gives the node of an id.
    """

    def __init__(self, terminal: Terminal, now: int, look: Callable[[Id], Node]) -> None:
        self.terminal = terminal
        self.now = now
        self.look = look
        self._run: Id | None = None
        """Whose words stand on the line that is not ended yet."""
        self._shown: dict[Id, str] = {}
        """What was shown of the replies in flight, by run."""

    def see(self, seen: Seen) -> bool:
        """Show it; whether there was anything to show."""
        match seen:
            case EventSeen():
                self._tell(seen)
            case DeltaSeen(part="text"):
                self._add(seen.run, seen.text)
            case _:
                return False
        return True

    def close(self) -> None:
        """End the line that was begun."""
        if self._run is not None:
            self.terminal.put("\n")
        self._run = None

    def _tell(self, event: EventSeen) -> None:
        if event.kind == "reply.kept" and event.run and event.node and event.seq > self.now:
            text, shown = self.look(event.node).text, self._shown.pop(event.run, "")
            self._add(event.run, text.removeprefix(shown))
        if event.kind in ANEW:
            self._shown.pop(event.run or "", None)
        self.close()
        self.terminal.say(event_line(event, self.terminal.pen.inks))

    def _add(self, run: Id, text: str) -> None:
        if not text:
            return
        if run != self._run:
            self.close()
            self._run = run
            self.terminal.put(INDENT + self.terminal.pen.inks.dim(f"run {ending(run)}: "))
        self._shown[run] = self._shown.get(run, "") + text
        self.terminal.put(visible(text).replace("\n", f"\n{INDENT}"))


def _when_left(terminal: Terminal, stop: Callable[[], None]) -> None:
    """STOP when the reader of a pipe has left, also while nothing is written to it: its end becomes readable then."""
    loop = asyncio.get_running_loop()
    with suppress(OSError, NotImplementedError):  # it is no file, or pipes cannot be watched here
        pipe = terminal.out.fileno()

        def left() -> None:
            loop.remove_reader(pipe)
            stop()

        if stat.S_ISFIFO(os.fstat(pipe).st_mode):
            loop.add_reader(pipe, left)
