"""A program that drives one run and can kill itself: `python driven.py HOME SCRIPT RUN [COMMIT]`.

It says each delta on a line of its own, and `over` at the end. With COMMIT it is killed inside that commit, from 1.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

from forkwood.domain.ids import make_id
from forkwood.domain.settings import Settings
from forkwood.domain.watch import DeltaSeen
from forkwood.engine.showing import Engine
from forkwood.engine.supplies import Supplies
from forkwood.models.scripted import ScriptedModel
from forkwood.store.db import Store
from forkwood.store.opening import open_store


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def engine_for(store: Store, home: Path, script: Path) -> Engine:
    """An engine as the Runtime makes one, whose only model is the script."""
    return Engine(
        Supplies(
            store=store,
            clock=now_ms,
            new_id=lambda: make_id(now_ms(), os.urandom(10)),
            open_model=lambda _: ScriptedModel.open(str(script)),
            drivers=home / "drivers",
            settings=lambda: Settings(home=str(home)),
        )
    )


def die_in_commit(store: Store, number: int) -> None:
    """Be killed when SQLite is about to commit for the NUMBERth time."""
    left = number

    def count() -> bool:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    store._connection.set_commit_hook(count)


async def main(home: Path, script: Path, run: str, commit: int) -> None:
    store = open_store(home, now_ms=now_ms())
    if commit:
        die_in_commit(store, commit)
    engine = engine_for(store, home, script)
    async for seen in engine.drive([run]):
        if isinstance(seen, DeltaSeen):
            sys.stdout.write(f"{seen.text}\n")
            sys.stdout.flush()
    await engine.close()
    store.close()
    sys.stdout.write("over\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int((*sys.argv, "0")[4])))
