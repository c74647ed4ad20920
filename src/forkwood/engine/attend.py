"""Attending to work that takes its time: while it goes on, a beat is kept, and it is stopped when that says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from forkwood.domain import limits

T = TypeVar("T")


class Poke:
    """Wakes whoever attends before the next beat is due. `is_due` until somebody has looked."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.is_due = False

    def now(self) -> None:
        """Look at once."""
        self.is_due = True
        self._event.set()

    async def comes(self) -> None:
        """Until `now` is called."""
        await self._event.wait()
        self._event.clear()


async def attend(work: Coroutine[Any, Any, T], poke: Poke, beat: Callable[[], bool]) -> T | None:
    """The result of WORK; None where it was stopped: where BEAT, called every `limits.draft_ms` and at pokes, says so.

    Raises what WORK or BEAT raises; WORK has ended by then in any case. Where somebody else cancels WORK (a loop that
    ends does), that is passed on: nobody wanted the run to end.
    """
    stopped = False
    task = asyncio.ensure_future(work)
    poked = asyncio.ensure_future(poke.comes())
    try:
        while not task.done():
            await asyncio.wait({task, poked}, timeout=limits.draft_ms / 1000, return_when=asyncio.FIRST_COMPLETED)
            if poked.done():
                poked = asyncio.ensure_future(poke.comes())
            stopped = not task.done() and beat()
            if stopped:
                break
    finally:
        poked.cancel()
        task.cancel()
        await asyncio.wait({task, poked})
    return None if stopped and task.cancelled() else task.result()
