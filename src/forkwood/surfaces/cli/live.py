"""Replies as they come: runs are driven here until they rest, each thing seen is shown, and Ctrl-C ends them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack, aclosing, suppress
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.ids import Id
from forkwood.domain.watch import EventSeen, Result, Seen
from forkwood.surfaces.cli.failures import EXIT_CODES_BY_KIND, INTERRUPTED, WAITING
from forkwood.surfaces.cli.screen_text import visible_line
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.waiting import waiting

if TYPE_CHECKING:
    from forkwood.domain.run import Run
    from forkwood.runtime import Runtime

WORST_FIRST = (7, 6, 1, WAITING, INTERRUPTED, 0)
"""Which exit code counts where several runs have several."""
CODES = {"done": 0, "queued": 0, "running": 0, "waiting": WAITING, "failed": 1, "cancelled": INTERRUPTED}


class Heard(Struct, frozen=True, kw_only=True):
    """How runs ended: their results, the exit code, and which had their last reply cut by the token limit. FOLLOWED:
    the results of runs that the queue began behind them."""

    results: tuple[Result, ...]
    code: int
    followed: tuple[Result, ...] = ()
    cut: frozenset[Id] = frozenset()


class View(Protocol):
    """What shows a reply that comes."""

    def see(self, seen: Seen) -> bool:
        """Show it; whether there was anything to show."""
        ...

    def close(self) -> None:
        """Nothing more comes."""
        ...


def follow(runtime: Runtime, runs: Sequence[Id], view: View, terminal: Terminal) -> Heard:
    """Drive RUNS to their rest, and what the queue begins behind them, showing what comes.

    The first Ctrl-C cancels them and what came is kept; a second one leaves at once.
    """
    results: list[Result] = []
    finishes: dict[Id | None, object] = {}
    driven = list(runs)
    interrupted = False

    def stop() -> None:
        nonlocal interrupted
        interrupted = True
        for run in driven:
            runtime.cancel(run)

    async def watch() -> None:
        with ExitStack() as until_first:
            until_first.enter_context(waiting("Waiting for the model", terminal))
            async with aclosing(runtime.drive(runs)) as items:
                async for seen in items:
                    if view.see(seen):
                        until_first.close()
                    if isinstance(seen, Result):
                        results.append(seen)
                    elif isinstance(seen, EventSeen) and seen.kind == "reply.kept":
                        finishes[seen.run] = seen.payload.get("finish")
                    elif isinstance(seen, EventSeen) and seen.kind == "queue.moved" and seen.payload["state"] == "sent":
                        driven.extend(seen.payload["runs"])
                        if interrupted:
                            stop()

    try:
        with terminal.unechoed():
            in_loop(watch(), stop)
    finally:
        view.close()
    own = tuple(result for result in results if result.run in runs)
    return Heard(
        results=own,
        code=INTERRUPTED if interrupted else exit_code(own),
        followed=tuple(result for result in results if result.run not in runs),
        cut=frozenset(run for run, finish in finishes.items() if run and finish == "length"),
    )


def until_ended(runtime: Runtime, run: Run) -> Run:
    """RUN, which another process was asked to end, when it has ended; as it stands where that takes too long."""

    async def watch() -> None:
        with suppress(TimeoutError):
            async with (
                asyncio.timeout(limits.cancel_wait_ms / 1000),
                aclosing(runtime.watch(None, run=run.id)) as items,
            ):
                async for _ in items:
                    pass

    asyncio.run(watch())
    return next((one for one in runtime.runs(conversation=run.conversation) if one.id == run.id), run)


def exit_code(results: Sequence[Result]) -> int:
    """The exit code of runs that rest: the first of 7, 6, 1, 5 that one has; 130 where one was cancelled; else 0."""
    codes = {_code(result) for result in results}
    return next((code for code in WORST_FIRST if code in codes), 0)


def _code(result: Result) -> int:
    if result.status == "failed" and result.error:
        kind = EXIT_CODES_BY_KIND.get(str(result.error.get("kind")), 1)
        return kind if kind in {6, 7} else 1
    return CODES[result.status]


def in_loop(work: Coroutine[Any, Any, None], stop: Callable[[], None]) -> None:
    """Carry out WORK in an event loop of its own, where the first Ctrl-C calls STOP rather than tearing it down.

    The second one leaves at once: KeyboardInterrupt, when all of WORK has been let go. Any more are not heard: they
    would come while that is done.
    """
    before = signal.getsignal(signal.SIGINT)
    with asyncio.Runner() as runner:
        hears = _hear_interrupts(runner.get_loop(), stop)
        try:
            runner.run(work)
        finally:
            runner.close()
            if hears:
                signal.signal(signal.SIGINT, before)


def _hear_interrupts(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> bool:
    """Let Ctrl-C act inside LOOP until that is closed; False where signals cannot be heard so."""
    heard = 0

    def interrupted() -> None:
        nonlocal heard
        heard += 1
        if heard == 1:
            stop()
        elif heard == 2:
            loop.set_exception_handler(lambda *_: None)  # what breaks in the tearing down is no news
            raise KeyboardInterrupt

    try:
        loop.add_signal_handler(signal.SIGINT, interrupted)
    except (NotImplementedError, ValueError, RuntimeError):  # no such signals here, or not the main thread
        return False
    return True


def note_try(seen: Seen, terminal: Terminal) -> None:
    """Say that a try failed, or that a summary is made first, and what happens now: waiting is explained."""
    match seen:
        case EventSeen(kind="try.failed", payload=payload):
            _note_failure(payload, terminal)
        case EventSeen(kind="summary.begun", payload=payload):
            room = f"about {payload['estimate']:,} tokens, where there is room for {payload['budget']:,}"
            terminal.note(
                f"The prompt has {room}: a summary of the first {payload['covers']:,} messages is made first."
            )
        case EventSeen(kind="summary.failed", payload=payload):
            terminal.note(f"No summary came of it: {visible_line(str(payload['message']))}")
        case _:
            pass


def _note_failure(payload: Mapping[str, Any], terminal: Terminal) -> None:
    wait = payload.get("wait_ms")
    message = visible_line(str(payload.get("message", "")))
    if payload.get("next_key"):
        terminal.note(f"{message}: trying the next key")
    elif wait is not None:
        terminal.note(f"{message}: trying again in {wait / 1000:.1f} s")
