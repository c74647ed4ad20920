"""A program that drives one run and stands still by itself: `python -m tests.crash.stopped HOME SCRIPT RUN TRACE N`.

It stops (SIGSTOP) when the Nth of these has come: a commit of its driver, an effect of one of its tools. Woken, it goes
on as if nothing had been.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from itertools import count
from pathlib import Path

from forkwood.domain.ids import make_id
from forkwood.domain.settings import Settings
from forkwood.engine.live import Feed
from forkwood.engine.showing import Engine
from forkwood.engine.supplies import Supplies
from forkwood.models.scripted import ScriptedModel
from forkwood.store.db import Store
from forkwood.store.opening import open_store
from tests.crash.cast import cast
from tests.crash.driven import now_ms


def engine_for(store: Store, home: Path, script: Path, trace: Path, *, stop_at: int = 0) -> Engine:
    """An engine whose only model is the script and whose tools leave their lines in TRACE."""
    moments, effects = count(1), count(1)

    def moment() -> None:
        if next(moments) == stop_at:
            os.kill(os.getpid(), signal.SIGSTOP)

    def effect() -> None:
        if next(effects) % 2 == 0:  # a tool ticks before its effect and after it
            moment()

    if stop_at:
        told = Feed.catch_up

        def committed(self: Feed) -> None:
            moment()
            told(self)

        Feed.catch_up = committed  # type: ignore[method-assign]
    return Engine(
        Supplies(
            store=store,
            clock=now_ms,
            new_id=lambda: make_id(now_ms(), os.urandom(10)),
            open_model=lambda _: ScriptedModel.open(str(script)),
            drivers=home / "drivers",
            settings=lambda: Settings(home=str(home)),
            tools=cast(trace, effect),
        )
    )


async def main(home: Path, script: Path, run: str, trace: Path, stop_at: int) -> None:
    store = open_store(home, now_ms=now_ms())
    engine = engine_for(store, home, script, trace, stop_at=stop_at)
    async for _ in engine.drive([run]):
        pass
    await engine.close()
    store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), int(sys.argv[5])))
