"""Attending: work goes on while a beat is kept, and ends when that says so, or fails."""

from __future__ import annotations

import asyncio

import pytest

from forkwood.domain import limits
from forkwood.engine.attend import Poke, attend


async def forever(closed: list[str]) -> str:
    try:
        await asyncio.Event().wait()
    finally:
        closed.append("closed")
    return "never"


async def test_the_result_of_the_work_is_given() -> None:
    async def work() -> str:
        return "done"

    assert await attend(work(), Poke(), lambda: True) == "done"


async def test_a_poke_is_looked_at_at_once_and_a_beat_that_says_so_stops_the_work() -> None:
    closed: list[str] = []
    beats = iter([False, True])
    poke = Poke()

    def beat() -> bool:
        poke.now()
        return next(beats)

    poke.now()
    assert await attend(forever(closed), poke, beat) is None
    assert closed == ["closed"] and next(beats, None) is None


async def test_the_beat_is_kept_without_a_poke(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "draft_ms", 1)
    closed: list[str] = []
    beats = iter([False, False, True])
    assert await attend(forever(closed), Poke(), lambda: next(beats)) is None
    assert closed == ["closed"] and next(beats, None) is None


async def test_what_the_work_raises_is_raised() -> None:
    async def work() -> str:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await attend(work(), Poke(), lambda: False)


async def test_what_the_beat_raises_is_raised_when_the_work_has_ended() -> None:
    closed: list[str] = []
    poke = Poke()
    poke.now()

    def beat() -> bool:
        raise ValueError("lost")

    with pytest.raises(ValueError, match="lost"):
        await attend(forever(closed), poke, beat)
    assert closed == ["closed"]


async def test_cancelling_the_one_who_attends_ends_the_work() -> None:
    closed: list[str] = []
    task = asyncio.ensure_future(attend(forever(closed), Poke(), lambda: False))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == ["closed"]


async def test_without_a_poke_the_beat_is_regular() -> None:
    closed: list[str] = []
    assert await attend(forever(closed), Poke(), lambda: True) is None
    assert closed == ["closed"]


async def test_work_that_somebody_else_cancels_has_no_result_and_passes_it_on() -> None:
    async def cancelled() -> str:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await attend(cancelled(), Poke(), lambda: False)
