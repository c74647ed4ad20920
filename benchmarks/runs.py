"""Runs: what a tool round commits and writes, what the account of a reply costs, and what past runs cost a command."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from msgspec import Struct

from benchmarks.floors import TEXT_CHARACTERS, Act, Bare, interleaved, usual
from benchmarks.start import FORKWOOD, command
from benchmarks.table import Line, ratio
from benchmarks.world import new_id, straight, world
from forkwood.domain.ids import Id
from forkwood.domain.message import Text, ToolCall
from forkwood.domain.prompt import ToolSpec
from forkwood.domain.run_event import EffectOfTool, Recipe
from forkwood.domain.tool import Occasion, ToolOutcome, ToolSealed
from forkwood.domain.watch import Result
from forkwood.engine import account
from forkwood.engine.prepare import rebuilt
from forkwood.runtime import Runtime
from forkwood.store.db import Store

DEEP = 10_000
FINISHED, LEFT = 1_000, 10
TALKS = 10
"""Conversations the finished runs are spread over."""
ROUNDS = 6
"""Of a run that is measured: its log stays below what SQLite checkpoints by itself."""
KB = 1_000

FIRST_COMMANDS = (("ls", "--json"), ("pending", "--json"), ("new", "--json"))


class Plain:
    """A tool that does nothing: what is measured is the engine around it."""

    def __init__(self, name: str, effect: EffectOfTool) -> None:
        spec = ToolSpec(name=name, description="Does nothing.", schema={"type": "object"})
        self.sealed = ToolSealed(spec=spec, effect=effect, after_crash="again" if effect == "read" else "journal")

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:  # noqa: ARG002  # a protocol's names
        """Done at once."""
        return ToolOutcome(outcome="ok", parts=(Text(text="done"),))

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:  # noqa: ARG002  # likewise
        """There is nothing to see."""
        return None


TOOLS = {"look": Plain("look", "read"), "put": Plain("put", "write")}


class Kind(Struct, frozen=True):
    """A round: the tools it calls, under MODE, and how many commits it may take at MOST."""

    calls: tuple[str, ...]
    mode: str = "allow-edits"
    most: float | None = 7


KINDS = {
    "of one read": Kind(("look",)),
    "of eight reads": Kind(("look",) * 8),
    "of one write": Kind(("put",)),
    "of one write that is asked about": Kind(("put",), "ask"),
    "of three writes": Kind(("put",) * 3, most=None),
}


class Cost(Struct, frozen=True, kw_only=True):
    """What a run took: seconds of the processor, commits, and bytes in the write-ahead log."""

    seconds: float
    commits: int
    written: int


def measure(*, quick: bool) -> Iterator[Line]:
    """Every line about runs."""
    yield from _rounds(3 if quick else 9)
    yield from _accounts(DEEP // 10 if quick else DEEP, 5 if quick else 9)
    yield from _first_commands(*((FINISHED // 10, LEFT, 5) if quick else (FINISHED, LEFT, 15)))


def _rounds(times: int) -> Iterator[Line]:
    """A run of so many rounds, less the same run of one, for each kind of round; bare inserts are taken in turns."""
    with world(TOOLS) as (runtime, home):
        bare = Bare(home / "bare.db")
        for name, kind in KINDS.items():
            taken = [(_round(runtime, home, kind), _insert(bare)) for _ in range(times + 1)][1:]
            costs = [cost for cost, _ in taken]
            commits, written = median(one.commits for one in costs), median(one.written for one in costs) / KB
            yield Line(name=f"commits of a round {name}", value=commits, unit="", most=kind.most)
            yield Line(name=f"written by a round {name}", value=written, unit="kB")
            ours, floor = usual(one.seconds for one in costs), usual(seconds for _, seconds in taken)
            yield ratio(f"processor time of a round {name}", ours, floor)


def _round(runtime: Runtime, home: Path, kind: Kind) -> Cost:
    more, less, count = _cost(runtime, home, kind, ROUNDS), _cost(runtime, home, kind, 1), ROUNDS - 1
    return Cost(
        seconds=(more.seconds - less.seconds) / count,
        commits=round((more.commits - less.commits) / count),
        written=(more.written - less.written) // count,
    )


def _insert(bare: Bare) -> float:
    return usual(_cpu_seconds(lambda: bare.insert("x" * TEXT_CHARACTERS)) for _ in range(20))


def _cpu_seconds(act: Act) -> float:
    """The processor's seconds: how often the disk is waited for is told by the commits."""
    start = time.process_time()
    act()
    return time.process_time() - start


def _cost(runtime: Runtime, home: Path, kind: Kind, rounds: int) -> Cost:
    """The cost of a run of so many rounds of a kind that ends with a word, from its first turn to its result."""
    calls = {"tool_calls": [{"name": name, "arguments": {}} for name in kind.calls]}
    runtime.new(model=_script(home, *[calls] * rounds, {"text": "Done."}))
    runtime.set("approvals", kind.mode)
    runs = runtime.send("go on").runs
    assert runtime.house.store.checkpoint()
    seconds = _cpu_seconds(lambda: _driven(runtime, runs))
    commits, written = logged(home / "forkwood.db-wal")
    return Cost(seconds=seconds, commits=commits, written=written)


def _driven(runtime: Runtime, runs: tuple[Id, ...]) -> None:
    """Drive RUNS until they are done, with a yes to whatever is asked."""
    while asyncio.run(_result(runtime, runs)).status == "waiting":
        for one in runtime.pending():
            runtime.answer(one.id, ["allow"])


async def _result(runtime: Runtime, runs: tuple[Id, ...]) -> Result:
    last = [one async for one in runtime.drive(runs)][-1]
    assert isinstance(last, Result)
    assert last.status in {"done", "waiting"}, last.error
    return last


def _script(home: Path, *replies: dict[str, Any]) -> str:
    path = home / f"{new_id()}.json"  # a model is opened once: other replies are another model
    path.write_text(json.dumps({"replies": replies}))
    return f"scripted:{path}"


def logged(path: Path) -> tuple[int, int]:
    """The commits in a write-ahead log since it was last emptied, and their bytes. https://sqlite.org/walformat.html"""
    log = path.read_bytes()
    page, salts = int.from_bytes(log[8:12]), log[16:24]
    frames = [log[at : at + 24] for at in range(32, len(log), 24 + page)]
    ours = [frame for frame in frames if frame[8:16] == salts]
    return sum(any(frame[4:8]) for frame in ours), len(ours) * (24 + page)


def _accounts(deep: int, rounds: int) -> Iterator[Line]:
    """`why` of a reply at the end of a long path, to building the prompt it was made from."""
    with world() as (runtime, home):
        straight(runtime, deep)
        started = runtime.send("go on", models=[_script(home, {"text": "Well."})])
        _driven(runtime, started.runs)
        reply, store = runtime.conversation().head, runtime.house.store
        assert reply is not None
        recipe = msgspec.convert(runtime.why(reply).recipe, Recipe)
        ours, floor = interleaved(lambda: runtime.why(reply), lambda: _rebuilt(store, recipe), rounds)
        yield ratio(f"why behind {deep:,} messages to its prompt", ours, floor, 3.0)


def _rebuilt(store: Store, recipe: Recipe) -> None:
    with store.read() as tx:
        rebuilt(tx, account.path_of(tx, recipe).said, recipe)


def _first_commands(finished: int, left: int, rounds: int) -> Iterator[Line]:
    """A command on a store with runs that are over and runs that nobody drives, to the same on an empty one."""
    with world() as (_, empty), world() as (runtime, home):
        model = _script(home, {"text": "Well."})
        for _ in range(TALKS):
            runtime.new(model=model)
            for _ in range(finished // TALKS):
                _driven(runtime, runtime.send("go on").runs)
        for _ in range(left):
            runtime.new(model=model)
            runtime.send("go on")
        for words in FIRST_COMMANDS:
            ours, floor = interleaved(command(home, FORKWOOD, *words), command(empty, FORKWOOD, *words), rounds)
            yield ratio(f"forkwood {words[0]} behind {finished:,} runs", ours, floor, 1.5)
