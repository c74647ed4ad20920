"""Writes the list of modules in ARCHITECTURE.md from what each module says of itself: `make rooms`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "src/forkwood"
PAGE = ROOT / "ARCHITECTURE.md"
MARK = "## Modules\n"
FLOORS = (
    "domain",
    "wire",
    "whole_file",
    "store",
    "workspace",
    "models",
    "tools",
    "engine",
    "config",
    "runtime",
    "surfaces",
    "__main__",
)
PARTS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, or what stands before its colon where that says enough by itself."""
    sentence = re.split(r"(?<=\.)\s|\n\n", re.sub(r"^Floor \d: ", "", text.strip()))[0].replace("\n", " ").rstrip(".")
    before = sentence.partition(": ")[0]
    job = before if len(before.split()) >= 4 else sentence
    return job if job[1:2].isupper() else job[:1].lower() + job[1:]


def jobs(floor: str) -> Iterator[str]:
    """Path and job of each module of FLOOR; a package that holds nothing but its docstring is no module."""
    paths = sorted((HOUSE / floor).rglob("*.py")) or [HOUSE / f"{floor}.py"]
    for path in filter(Path.exists, paths):
        tree = ast.parse(path.read_text("utf-8"), str(path))
        if path.name != "__init__.py" or any(isinstance(node, PARTS) for node in ast.walk(tree)):
            yield f"`{path.relative_to(HOUSE).as_posix()}` {first_sentence(ast.get_docstring(tree) or '')}"


def about(floor: str) -> str:
    """What the package FLOOR says of itself; nothing for a floor that is one module."""
    path = HOUSE / floor / "__init__.py"
    return f": {first_sentence(ast.get_docstring(ast.parse(path.read_text('utf-8'))) or '')}" if path.exists() else ""


def section(floor: str) -> str:
    """FLOOR and its modules, two a line: the page is read in one sitting."""
    found = list(jobs(floor))
    lines = [f"- {' · '.join(found[at : at + 2])}\n" for at in range(0, len(found), 2)]
    return f"**{floor}**{about(floor)}\n{''.join(lines)}\n" if found else ""


def main() -> None:
    """Keep everything above the mark, and write what is below it anew."""
    above = PAGE.read_text("utf-8").partition(MARK)[0]
    text = f"{above}{MARK}\n{''.join(map(section, FLOORS))}"
    PAGE.write_text(f"{text.rstrip()}\n", "utf-8")


main()
