"""What the pages and contracts say of the house is true of the house: modules, floors, recipes, decisions, targets."""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from configparser import ConfigParser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.tidy import ROOT, Module, files, holds_code, imported

HOUSE = ROOT / "src/forkwood"
DECISIONS = sorted((ROOT / "docs/decisions").glob("*.md"))
HEADINGS = ["Context", "Choice", "Rejected", "What would change our mind"]
RECIPES = {"a provider", "a tool", "a part kind", "an event kind", "a surface", "a migration"}
TARGETS = {"setup", "run", "test", "check", "bench", "soak", "help"}

architecture_lines_max = 200
decision_lines_max = 60
recipe_lines_max = 6
recipe_line_characters_max = 160


def page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def sections(text: str, mark: str) -> dict[str, list[str]]:
    """The lines with something on them under each heading of TEXT that begins with MARK, up to the next heading."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            lines = found.setdefault(line.removeprefix(mark).strip(), []) if line.startswith(f"{mark} ") else []
        elif line.strip():
            lines.append(line)
    return found


def modules_named(text: str) -> Counter[str]:
    """The modules TEXT names by their paths under src/forkwood, with how often it does."""
    return Counter(re.findall(r"(?<![\w/])(?:\w+/)*\w+\.py\b", text))


def is_room(module: Module) -> bool:
    return not module.path.endswith("__init__.py") or holds_code(module)


def test_architecture_names_each_module_once_and_no_other() -> None:
    there = {module.path.removeprefix("src/forkwood/") for module in files("src/forkwood/**/*.py") if is_room(module)}
    named = modules_named(page("ARCHITECTURE.md"))
    assert not there - named.keys(), f"make rooms: {sorted(there - named.keys())} not named"
    assert not named.keys() - there, f"make rooms: {sorted(named.keys() - there)} named, but not there"
    assert not {name for name, times in named.items() if times > 1}, "named more than once"


def test_architecture_is_read_in_one_sitting() -> None:
    assert page("ARCHITECTURE.md").count("\n") <= architecture_lines_max


def test_module_names_are_found_in_prose() -> None:
    text = "`store/db.py` and `wire.py`; not `pyproject.toml`. Again store/db.py, a/b/c.py."
    assert modules_named(text) == {"store/db.py": 2, "wire.py": 1, "a/b/c.py": 1}


def test_the_readme_begins_with_two_commands() -> None:
    blocks = re.findall(r"^```\w*\n(.*?)^```$", page("README.md"), re.DOTALL | re.MULTILINE)
    commands = [line.split("#")[0].strip() for line in blocks[0].splitlines()]
    assert commands == ["make run", "make test"]
    assert page("README.md").index("```") < 600, "the two commands stand at the top"


def test_every_recipe_fits_on_a_card() -> None:
    recipes = sections(page("CONTRIBUTING.md"), "### Add")
    assert recipes.keys() >= RECIPES
    for name, lines in recipes.items():
        assert 1 <= len(lines) <= recipe_lines_max, f"Add {name}: {len(lines)} lines"
        assert max(map(len, lines)) <= recipe_line_characters_max, f"Add {name}: a line is too long to be a step"


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_says_why_and_what_would_change_it(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith(f"# {path.name[:4]} ")
    assert list(sections(text, "##")) == HEADINGS
    assert all(sections(text, "##").values()), "a heading with nothing under it"
    assert text.count("\n") <= decision_lines_max


def test_decisions_are_numbered_without_gaps() -> None:
    assert [path.name[:5] for path in DECISIONS] == [f"{number:04}-" for number in range(1, len(DECISIONS) + 1)]


def test_the_changelog_tells_of_this_version() -> None:
    version = tomllib.loads(page("pyproject.toml"))["project"]["version"]
    assert any(heading.split()[0] == version for heading in sections(page("CHANGELOG.md"), "##"))


def test_every_floor_behind_the_door_is_protected() -> None:
    contracts = ConfigParser()
    contracts.read_string(page(".importlinter"))
    protected = contracts["importlinter:contract:one-door"]["protected_modules"].split()
    behind = {"engine", "tools", "models", "workspace", "store"}
    there = {path.stem for path in HOUSE.iterdir()} & behind
    assert set(protected) == {f"forkwood.{floor}" for floor in there}, "contract one-door of .importlinter"


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads(page("pyproject.toml"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["embedded"]]
    declared = {re.split(r"[><=]", name)[0] for name in wanted}
    providers = {top: {name.replace("_", "-") for name in names} for top, names in packages_distributions().items()}
    tops = {name.split(".")[0] for module in files("src/**/*.py") for _, name in imported(module.tree)}
    foreign = tops - sys.stdlib_module_names - {"forkwood"}
    assert not {top for top in foreign if not declared & providers.get(top, {top})}, "not in pyproject.toml"


def test_the_makefile_has_the_targets_of_the_contract() -> None:
    assert set(re.findall(r"^([a-z-]+):", page("Makefile"), re.MULTILINE)) >= TARGETS
    listed = set(re.findall(r"^([a-z-]+):.*## ", page("Makefile"), re.MULTILINE))
    assert listed >= TARGETS, "make help leaves one out"


def test_sections_end_at_any_heading() -> None:
    text = "# T\nx\n### Add a\n1\n\n2\n## Else\n3\n### Add b\n4\n"
    assert sections(text, "### Add") == {"a": ["1", "2"], "b": ["4"]}
