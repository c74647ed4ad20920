"""How runs that rest become an exit code, and Ctrl-C while they work."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

import pytest

from forkwood.domain.watch import Seen
from forkwood.surfaces.cli.live import exit_code, follow, in_loop, note_try
from tests.surfaces.cli.desks import terminal, written
from tests.surfaces.cli.made import name
from tests.surfaces.cli.test_markdown import RUN, delta, result, turn_started

LIMIT = {"kind": "limit", "message": "too much", "hint": ""}
STORE = {"kind": "store", "message": "full", "hint": ""}
PROVIDER = {"kind": "provider", "message": "no", "hint": ""}


@pytest.mark.parametrize(
    ("ends", "code"),
    (
        ([("done", None)], 0),
        ([("queued", None)], 0),
        ([("waiting", None)], 5),
        ([("failed", PROVIDER)], 1),
        ([("failed", {"kind": "not_found"})], 1),
        ([("failed", None)], 1),
        ([("failed", LIMIT)], 6),
        ([("failed", STORE)], 7),
        ([("cancelled", None)], 130),
        ([("done", None), ("failed", PROVIDER)], 1),
        ([("failed", PROVIDER), ("failed", LIMIT)], 6),
        ([("failed", LIMIT), ("failed", STORE)], 7),
        ([("waiting", None), ("failed", PROVIDER)], 1),
        ([("done", None), ("waiting", None)], 5),
        ([("done", None), ("cancelled", None)], 130),
        ([], 0),
    ),
)
def test_the_worst_of_several_counts(ends: list[tuple[str, Any]], code: int) -> None:
    assert exit_code([result("", status=status, error=error) for status, error in ends]) == code


class View:
    """Keeps what it sees."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.closed = False

    def see(self, seen: Seen) -> bool:
        self.seen.append(seen)
        return True

    def close(self) -> None:
        self.closed = True


class Runs:
    """A Runtime with one run that ends, or where INTERRUPTED meets a Ctrl-C and talks until it is cancelled."""

    def __init__(self, *, interrupted: bool) -> None:
        self.interrupted = interrupted
        self.cancelled: list[str] = []
        self.ended = asyncio.Event()

    def cancel(self, run: str) -> None:
        self.cancelled.append(run)
        self.ended.set()

    async def drive(self, runs: list[str]) -> Any:
        yield delta("hi")
        if self.interrupted:
            signal.raise_signal(signal.SIGINT)
            await self.ended.wait()
        yield result("hi", status="cancelled" if self.cancelled else "done")


def test_what_comes_is_shown_to_the_end() -> None:
    view = View()
    heard = follow(Runs(interrupted=False), [RUN], view, terminal())  # type: ignore[arg-type]
    assert [type(seen).__name__ for seen in view.seen] == ["DeltaSeen", "Result"]
    assert ([one.status for one in heard.results], heard.code, view.closed) == (["done"], 0, True)


def test_ctrl_c_cancels_the_runs_and_hears_their_end() -> None:
    runs, view = Runs(interrupted=True), View()
    heard = follow(runs, [RUN, name(5)], view, terminal())  # type: ignore[arg-type]
    assert runs.cancelled == [RUN, name(5)]
    assert ([one.status for one in heard.results], heard.code) == (["cancelled"], 130)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("interrupts", [1, 2, 3, 5])
def test_the_second_ctrl_c_leaves_at_once_and_more_are_not_heard(interrupts: int) -> None:
    stopped: list[str] = []
    let_go: list[str] = []

    async def work() -> None:
        try:
            for _ in range(min(interrupts, 2)):
                signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait() if interrupts > 1 else await asyncio.sleep(0)
        finally:
            for _ in range(interrupts - 2):
                signal.raise_signal(signal.SIGINT)
                await asyncio.sleep(0)
            let_go.append("all")

    before = signal.getsignal(signal.SIGINT)
    if interrupts == 1:
        in_loop(work(), lambda: stopped.append("once"))
    else:
        with pytest.raises(KeyboardInterrupt):
            in_loop(work(), lambda: stopped.append("once"))
    assert (stopped, let_go) == (["once"], ["all"])
    assert signal.getsignal(signal.SIGINT) is before


def test_what_breaks_while_all_is_torn_down_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    async def breaks() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("torn down")

    async def work() -> None:
        breaking = asyncio.ensure_future(breaks())
        await asyncio.sleep(0)
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        await breaking

    with pytest.raises(KeyboardInterrupt):
        in_loop(work(), lambda: None)
    assert caplog.records == []


def test_off_the_main_thread_work_is_done_without_hearing_ctrl_c() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("work")

    thread = threading.Thread(target=lambda: in_loop(work(), lambda: None))
    thread.start()
    thread.join()
    assert done == ["work"]


@pytest.mark.parametrize(
    ("payload", "said"),
    (
        ({"message": "busy\x1b", "wait_ms": 1500, "next_key": False}, "busy\\x1b: trying again in 1.5 s\n"),
        ({"message": "wrong key", "wait_ms": 0, "next_key": True}, "wrong key: trying the next key\n"),
        ({"message": "over", "wait_ms": None, "next_key": False}, ""),
    ),
)
def test_waiting_is_explained(payload: dict[str, Any], said: str) -> None:
    import msgspec

    here = terminal()
    note_try(msgspec.structs.replace(turn_started(), kind="try.failed", payload=payload), here)
    note_try(turn_started(), here)
    assert written(here.err) == said


def test_that_a_summary_is_made_first_is_told() -> None:
    import msgspec

    here = terminal()
    begun = {"covers": 4, "model": "m", "estimate": 1600, "budget": 1500}
    note_try(msgspec.structs.replace(turn_started(), kind="summary.begun", payload=begun), here)
    failed = {"reason": "empty", "message": "nothing\x1b came"}
    note_try(msgspec.structs.replace(turn_started(), kind="summary.failed", payload=failed), here)
    assert written(here.err) == (
        "The prompt has about 1,600 tokens, where there is room for 1,500: "
        "a summary of the first 4 messages is made first.\n"
        "No summary came of it: nothing\\x1b came\n"
    )
