"""Measures everything that has a target, and prints one table."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import disk, others, runs, searching, start, stream, tree
from benchmarks.table import Line, render

GROUPS: dict[str, Callable[..., Iterator[Line]]] = {
    "tree": tree.measure,
    "searching": searching.measure,
    "disk": disk.measure,
    "stream": stream.measure,
    "runs": runs.measure,
    "start": start.measure,
    "others": others.measure,
}
BASELINE = Path(__file__).parent / "baseline.json"


def main() -> int:
    """Run the groups that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"some of: {', '.join(GROUPS)}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes: seconds, and other figures")
    parser.add_argument("--write-baseline", action="store_true", help=f"keep the values in {BASELINE.name}")
    parser.add_argument("--strict", action="store_true", help="end with 1 where something is over its target")
    asked = parser.parse_args()
    if unknown := set(asked.groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    lines = [line for name in asked.groups or GROUPS for line in _measured(name, quick=asked.quick)]
    before = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    print(render(lines, before))
    if asked.write_baseline:
        _keep(before, lines)
    return int(asked.strict and any(line.verdict == "OVER" for line in lines))


def _measured(name: str, *, quick: bool) -> list[Line]:
    begun = time.perf_counter()
    print(f"{name} …", end="", file=sys.stderr, flush=True)
    lines = list(GROUPS[name](quick=quick))
    print(f" {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return lines


def _keep(before: dict[str, float], lines: list[Line]) -> None:
    values = before | {line.name: round(line.value, 3) for line in lines}
    BASELINE.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
