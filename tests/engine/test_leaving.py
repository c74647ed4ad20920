"""Leaving a generator: closed once, whoever else closes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from forkwood.domain.model import Delta, Reply
from forkwood.engine.leaving import Leaving, heard


async def counted(closed: list[str], gate: asyncio.Event | None = None) -> AsyncGenerator[int]:
    try:
        for number in range(9):
            yield number
    finally:
        if gate is not None:
            await gate.wait()
        closed.append("closed")


async def test_it_is_closed_however_the_body_is_left() -> None:
    closed: list[str] = []
    async with Leaving(counted(closed)) as coming:
        assert [await anext(coming), await anext(coming)] == [0, 1]
    leaving = Leaving(counted(closed))
    await anext(await leaving.__aenter__())
    await leaving.__aexit__(ValueError, ValueError(), None)
    assert closed == ["closed", "closed"]


async def test_one_that_is_being_closed_already_is_left_to_that() -> None:
    closed, gate = list[str](), asyncio.Event()
    async with Leaving(counted(closed, gate)) as coming:
        await anext(coming)
        other = asyncio.ensure_future(coming.aclose())  # as the loop does at its end
        await asyncio.sleep(0)
    assert not closed
    gate.set()
    await other
    assert closed == ["closed"]


async def test_what_breaks_in_the_closing_is_raised() -> None:
    async def broken() -> AsyncGenerator[int]:
        try:
            yield 1
        finally:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        async with Leaving(broken()) as coming:
            await anext(coming)


@pytest.mark.parametrize("ends", [True, False])
async def test_a_reply_is_heard_out_and_one_without_an_end_is_cut(ends: bool) -> None:
    whole, left = Reply(parts=()), list[str]()

    async def stream() -> AsyncGenerator[Delta | Reply]:
        try:
            yield Delta(index=0, kind="text", text="a")
            if ends:
                yield whole
                yield Delta(index=0, kind="text", text="never asked for")
        finally:
            left.append("closed")

    found = await heard(stream())
    assert (found is whole, found.partial, left) == (ends, None if ends else "cut", ["closed"])
