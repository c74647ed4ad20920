"""Starting: the command itself, a short path, and a long list, to a Python that does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.floors import Act, interleaved
from benchmarks.table import Line, ratio, spelled
from benchmarks.world import new_id, now_ms, straight, world
from forkwood.domain.conversation import ConversationSettings
from forkwood.runtime import Runtime
from forkwood.store import conversations

FORKWOOD = str(Path(sys.executable).parent / "forkwood")
CONVERSATIONS = 10_000


def measure(*, quick: bool) -> Iterator[Line]:
    """Commands as a person starts them."""
    rounds, many = (5, CONVERSATIONS // 10) if quick else (15, CONVERSATIONS)
    with world() as (runtime, home):
        straight(runtime, 100)
        bare = command(home, sys.executable, "-c", "pass")
        yield ratio("forkwood --version", *interleaved(command(home, FORKWOOD, "--version"), bare, rounds), 6.0)
        yield ratio("forkwood path of 100", *interleaved(command(home, FORKWOOD, "path"), bare, rounds), 12.0)
        _add_conversations(runtime, many)
        ours, floor = interleaved(command(home, FORKWOOD, "ls", "--json"), bare, rounds)
        yield ratio(f"forkwood ls of {many:,}", ours, floor)
        store = runtime.house.store
        with store.read() as tx:
            ours, floor = interleaved(
                lambda: conversations.listed(tx),
                lambda: tx.rows("SELECT * FROM conversation WHERE archived = 0 ORDER BY updated_ms DESC, seq DESC"),
                rounds,
            )
        yield Line(
            name=f"list of {many:,} to its rows", value=ours / floor, against=f"{spelled(ours)} to {spelled(floor)}"
        )


def command(home: Path, *words: str) -> Act:
    """A command as a person starts it, on the store in HOME."""
    environ = {**os.environ, "FORKWOOD_HOME": str(home), "FORKWOOD_LOCAL_SERVERS": ""}

    def act() -> None:
        subprocess.run(words, env=environ, stdout=subprocess.DEVNULL, check=True)

    return act


def _add_conversations(runtime: Runtime, count: int) -> None:
    with runtime.house.store.write() as tx:
        for number in range(count):
            title = f"conversation {number}"
            conversations.create(tx, new_id(), now_ms(), title=title, titled_by="rule", settings=ConversationSettings())
