"""A streamed reply through the whole engine, in processor time, to reading the same bytes and decoding them bare."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from statistics import median

import httpx2
import msgspec

from benchmarks.table import Line, spelled
from benchmarks.world import world
from forkwood.domain.watch import DeltaSeen, Result
from forkwood.runtime import Runtime

TOKENS = 1_000


def measure(*, quick: bool) -> Iterator[Line]:
    """What the engine adds to a token: drafts, deltas, the reply's commit, the run around it."""
    rounds = 3 if quick else 9
    with _server() as origin, world() as (runtime, _):
        runtime.new(model=f"{origin}/v1#bench")
        times = asyncio.run(_timed(runtime, f"{origin}/v1/chat/completions", rounds))
    ours, floor = (median(column) for column in zip(*times, strict=True))
    yield Line(
        name="added to a streamed token", value=(ours - floor) / TOKENS * 1e6, unit="µs", most=60,
        against=f"{spelled(ours)} to {spelled(floor)} for {TOKENS:,}",
    )  # fmt: skip


@contextmanager
def _server() -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.replay", str(TOKENS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


async def _timed(runtime: Runtime, url: str, rounds: int) -> list[tuple[float, float]]:
    async with httpx2.AsyncClient() as client:

        async def bare() -> None:
            await _bare(client, url)

        async def ours() -> None:
            await _ours(runtime)

        return [(await _cpu_seconds(ours), await _cpu_seconds(bare)) for _ in range(rounds + 1)][1:]


async def _cpu_seconds(act: Callable[[], Awaitable[None]]) -> float:
    start = time.process_time()
    await act()
    return time.process_time() - start


async def _ours(runtime: Runtime) -> None:
    # A new conversation each time, so that the prompt does not grow.
    made = runtime.new(model=runtime.conversation().model)
    started = runtime.send("go on", conversation=made.id)
    seen = [one async for one in runtime.drive(started.runs)]
    assert sum(isinstance(one, DeltaSeen) for one in seen) == TOKENS, "every token is a delta"
    result = seen[-1]
    assert isinstance(result, Result)
    assert result.status == "done", result.error


async def _bare(client: httpx2.AsyncClient, url: str) -> None:
    count = 0
    async with client.stream("POST", url, json={"model": "bench", "stream": True}) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                msgspec.json.decode(line[6:])
                count += 1
    assert count > TOKENS
