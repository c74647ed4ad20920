"""Other programs that keep conversations, doing the same in the same run: how often theirs goes into ours, and back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.floors import timed
from benchmarks.table import Line, ratio
from benchmarks.world import straight, world
from forkwood.runtime import Runtime

PYTHON = Path(".venv-bench/bin/python")
SCRIPTS = Path(__file__).parent / "competitors"
OTHERS = {"llm": "with_llm.py", "langgraph": "with_langgraph.py"}
DEPTH, ROUNDS = 1_000, 15


def measure(*, quick: bool) -> Iterator[Line]:
    """Ours to theirs, at one depth: below 1 ours is faster. What a program cannot do has no line."""
    depth = DEPTH // 10 if quick else DEPTH
    if not PYTHON.exists():
        raise SystemExit("the other programs are not installed: sh scripts/setup bench")
    ours = _ours(depth)
    for name, script in OTHERS.items():
        for act, seconds in _theirs(script, depth).items():
            yield ratio(f"{act} at depth {depth:,} to {name}'s", ours[act], seconds)


def _theirs(script: str, depth: int) -> dict[str, float]:
    with TemporaryDirectory(prefix="forkwood-bench-") as folder:
        command = [str(PYTHON), str(SCRIPTS / script), str(depth), str(ROUNDS), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _ours(depth: int) -> dict[str, float]:
    with world() as (runtime, _):
        acts = _acts(runtime, straight(runtime, depth))
        return {name: median(timed(act) for _ in range(ROUNDS)) for name, act in acts.items()}


def _acts(runtime: Runtime, ids: list[str]) -> dict[str, Callable[[], object]]:
    middle, numbers = len(ids) // 2, count()
    text = "word " * 80
    return {
        "path": runtime.path,
        "append": lambda: runtime.send(f"{text}{next(numbers)}", run=False),
        "branch": lambda: _and_back(runtime, lambda: runtime.send(text, at=ids[middle], run=False), ids[-1]),
        "keep": lambda: runtime.edit(ids[middle], f"{next(numbers)}", on=ids[-1], keep=True, run=False),
    }


def _and_back(runtime: Runtime, act: Callable[[], object], leaf: str) -> object:
    done = act()
    runtime.switch(leaf)
    return done
