"""Following the log: what is done, a line for each thing as it is done, until the person has seen enough."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from contextlib import aclosing, suppress
from functools import partial

from forkwood.domain.watch import EventSeen
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.live import in_loop
from forkwood.surfaces.cli.show_lists import event_line
from forkwood.surfaces.cli.terminal import Terminal


def follow_log(call: Call, after: int) -> None:
    """Write each event behind AFTER as it comes; as JSON the deltas between them too. Ctrl-C is how it ends, and
    nothing is interrupted by it; so does a reader who leaves."""
    watching: asyncio.Task[None] | None = None
    inks = call.terminal.pen.inks

    def stop() -> None:
        if watching is not None:
            watching.cancel()

    async def watch() -> None:
        nonlocal watching
        watching = asyncio.current_task()
        _when_left(call.terminal, stop)
        async with aclosing(call.runtime.watch(after, conversation=call.named)) as items:
            async for seen in items:
                if isinstance(seen, EventSeen):
                    call.give(seen, partial(event_line, seen, inks))
                elif call.as_json:
                    call.terminal.json(seen)
                if not call.terminal.is_heard:
                    return

    with suppress(asyncio.CancelledError):
        in_loop(watch(), stop)


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
