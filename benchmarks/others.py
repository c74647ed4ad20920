"""Other programs that keep conversations, doing the same in the same run: how often theirs goes into ours, and back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.floors import timed, usual
from benchmarks.table import Line, ratio
from benchmarks.world import stand, straight, world
from forkwood.domain.ids import Id
from forkwood.runtime import Runtime

PYTHON = Path(".venv-bench/bin/python")
SCRIPTS = Path(__file__).parent / "competitors"
OTHERS = {"llm": "with_llm.py", "langgraph": "with_langgraph.py"}
DEPTH, ROUNDS = 1_000, 15
TEXT = "word " * 80


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
        ids = straight(runtime, depth)
        conversation = runtime.conversation().id
        times: dict[str, list[float]] = {name: [] for name in ACTS}
        for number in range(ROUNDS):
            for name, act in ACTS.items():
                stand(runtime, conversation, ids[-1])
                times[name].append(timed(lambda: act(runtime, ids[depth // 2], f"{number} {TEXT}")))  # noqa: B023
        return {name: usual(seconds) for name, seconds in times.items()}


ACTS: dict[str, Callable[[Runtime, Id, str], object]] = {
    "path": lambda runtime, _node, _text: runtime.path(),
    "append": lambda runtime, _node, text: runtime.send(text, run=False),
    "branch": lambda runtime, node, text: runtime.send(text, at=node, run=False),
    "keep": lambda runtime, node, text: runtime.edit(node, text, keep=True, run=False),
}
