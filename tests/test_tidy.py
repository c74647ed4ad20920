"""The habits that no linter holds, each a rule with the samples that it must and must not find."""

from __future__ import annotations

import re
from statistics import median

import pytest
from msgspec import Struct

from tests import tidy
from tests.tidy import Finder, Module, files

PYTHON = ("src/**/*.py", "tests/**/*.py", "benchmarks/**/*.py", "scripts/*.py")
SOURCE = ("src/**/*.py",)
LIMITS = f"{tidy.SOURCE}/domain/limits.py"
TESTS = ("tests/**/*.py",)
LOCKS = ("requirements.lock", "benchmarks/requirements.lock")
TOP = ("Makefile", "LICENSE", ".importlinter", ".gitignore", ".ci/run", "*.md", "*.toml")
WRITTEN = (*PYTHON, *LOCKS, *TOP, "src/**/*.sql", "docs/**/*.md", "scripts/*", "benchmarks/*")


class Rule(Struct, frozen=True, kw_only=True):
    """What FIND must not find in the files of WHERE; it does find something in BAD (as PATH) and nothing in GOOD."""

    name: str
    find: Finder
    where: tuple[str, ...]
    bad: tuple[str, ...]
    good: tuple[str, ...] = ("",)
    path: str = f"{tidy.SOURCE}/domain/sample.py"


LONG = "def f():\n" + "    pass\n" * tidy.FUNCTION_LINES_MAX
RULES = (
    Rule(name="short modules", find=tidy.long_modules, where=PYTHON, bad=("\n" * 401,), good=("\n" * 400,)),
    Rule(name="short functions", find=tidy.long_functions, where=PYTHON, bad=(LONG,), good=(LONG[:-9],)),
    Rule(
        name="a job each",
        find=tidy.modules_without_their_job,
        where=PYTHON,
        bad=("", "x = 1", '""" """'),
        good=('"A job."',),
    ),
    Rule(
        name="names that say something",
        find=tidy.empty_names,
        where=PYTHON,
        bad=("class RunManager: ...", "def load_data(): ...", "async def utils(): ...", "class HTTPHandlers: ..."),
        good=("class Database: ...", "def handle(data): ..."),
    ),
    Rule(
        name="processes in their rooms",
        find=tidy.processes,
        where=SOURCE,
        bad=(
            "import subprocess",
            "from os import fork",
            "os.execv(a, b)",
            "asyncio.create_subprocess_exec(a)",
            "os.system(a)",
        ),
        good=("import os\nos.path.exists(a)",),
    ),
    Rule(
        name="SQL in the store",
        find=tidy.sql_upstairs,
        where=SOURCE,
        bad=('x = "SELECT 1"', 'run(f"DELETE FROM {a}")'),
        good=('"""Select a node."""',),
    ),
    Rule(
        name="ids are shown in one way",
        find=tidy.cut_names,
        where=SOURCE,
        bad=('f"run {run[-8:]}"',),
        good=("ending(run)", "cuts[-1:]"),
    ),
    Rule(
        name="libraries in their rooms",
        find=tidy.strayed_libraries,
        where=SOURCE,
        bad=("import apsw", "from sqlite3 import connect", "def f():\n    from rich.tree import Tree"),
        good=("import msgspec", "from forkwood import apsw"),
    ),
    Rule(
        name="waiting upstairs",
        find=tidy.waiting_downstairs,
        where=SOURCE,
        bad=("async def f(): await g()", "async def f():\n  async for a in b: ..."),
        good=("class Tool(Protocol):\n  async def use(self) -> None: ...",),
    ),
    Rule(
        name="tasks are kept",
        find=tidy.lost_tasks,
        where=PYTHON,
        bad=("asyncio.create_task(f())", "create_task(f())", "loop.create_task(f())"),
        good=(
            "t = asyncio.create_task(f())",
            "async def f():\n  async with asyncio.TaskGroup() as g:\n    g.create_task(h())",
        ),
    ),
    Rule(
        name="nothing is swallowed",
        find=tidy.swallowed,
        where=PYTHON,
        bad=(
            "try: ...\nexcept: ...",
            "try: ...\nexcept (A, Exception): ...",
            "try: ...\nexcept Exception:  # noqa: E1\n  ...",
            "suppress(Exception)",
        ),
        good=(
            "try: ...\nexcept A: ...",
            "try: ...\nexcept Exception:\n  raise",
            "try: ...\nexcept Exception:  # the report is best effort\n  ...",
        ),
    ),
    Rule(
        name="nothing is unfinished",
        find=tidy.matching(tidy.UNFINISHED, "finish it, or leave it out"),
        where=WRITTEN,
        bad=("# TO" + "DO: later", "raise NotImplemented" + "Error", "x = 1  # type:" + " ignore"),
        good=("x = 1  # type: ignore[arg-type]", "try: ...\nexcept NotImplementedError: ..."),
    ),
    Rule(
        name="tests run and do not wait",
        find=tidy.sleepers,
        where=TESTS,
        bad=(
            "@pytest.mark.skip\ndef f(): ...",
            "pytest.xfail('x')",
            "time.sleep(1)",
            "@pytest.mark.skipif(a)\ndef f(): ...",
        ),
        good=("asyncio.sleep(0)", "s = Sleeper().skipped"),
        path="tests/test_sample.py",
    ),
    Rule(
        name="no place but this",
        find=tidy.matching(tidy.ELSEWHERE, "a checkout names no machine and no registry"),
        where=WRITTEN,
        bad=("see /" + "work/main", "p" + "ypi.org", "cd /" + "root/x", "open('/" + "tmp/x')"),
        good=("src/work/over", "https://localhost/work"),
    ),
    Rule(
        name="limits have units",
        find=tidy.limits_without_unit,
        where=(LIMITS,),
        bad=("size = 1", "max_turns = 2", "wait: float = 1.5"),
        good=("KIB = 1024\nturns_max = 50\nwait_seconds = 1.5",),
    ),
    Rule(
        name="pins have hashes",
        find=tidy.loose_pins,
        where=LOCKS,
        bad=("click==8.0\n", "click>=8 \\\n    --hash=sha256:" + "0" * 64),
        good=("click==8.0 \\\n    --hash=sha256:" + "0" * 64,),
    ),
    Rule(
        name="locks name no host",
        find=tidy.matching(re.compile("://"), "a host"),
        where=LOCKS,
        bad=("a @ http://b",),
    ),
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_house_keeps_the_rule(rule: Rule) -> None:
    places = files(*rule.where)
    found = [finding for module in places for finding in rule.find(module)]
    assert places
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_rule_finds_what_it_is_for(rule: Rule) -> None:
    for sample in rule.bad:
        assert list(rule.find(Module(path=rule.path, text=sample))), f"not found: {sample!r}"
    for sample in rule.good:
        assert not list(rule.find(Module(path=rule.path, text=sample))), f"wrongly found: {sample!r}"


def test_a_process_room_may_start_processes() -> None:
    for room in ("workspace/supervisor.py", "models/embedded_child.py", "models/pull.py"):
        assert not list(tidy.processes(Module(path=f"{tidy.SOURCE}/{room}", text="import subprocess")))
    assert list(tidy.processes(Module(path=f"{tidy.SOURCE}/models/http.py", text="import subprocess")))


def test_half_of_all_functions_are_very_short() -> None:
    lengths = [tidy.length(function) for module in files(*SOURCE) for function in tidy.functions(module.tree)]
    assert median(lengths) <= tidy.FUNCTION_LINES_MEDIAN_MAX


def test_every_limit_is_kept_to_and_tried() -> None:
    (limits,) = files(LIMITS)
    found = list(tidy.idle_limits(limits, files(*SOURCE), files(*TESTS)))
    assert not found, "\n".join(["", *found])


def test_an_idle_limit_is_found() -> None:
    limits = Module(path=LIMITS, text="a_max = 1\nb_max = 2\nc_max = 3\nKIB = 4\nassert b_max > a_max")
    source = Module(path=f"{tidy.SOURCE}/x.py", text="if n > limits.a_max or n > other.b_max: ...")
    test = Module(path="tests/test_x.py", text='patch(limits, "a_max", 1)\nassert limits.b_max')
    assert list(tidy.idle_limits(limits, [limits, source], [test])) == [
        f"{LIMITS}:2: b_max: nothing keeps to it",
        f"{LIMITS}:3: c_max: nothing keeps to it",
        f"{LIMITS}:3: c_max: no test names it",
    ]


def test_every_source_file_has_its_test_file() -> None:
    missing = tidy.untested(files(*SOURCE), {module.path for module in files(*TESTS)})
    assert not missing, "\n".join(["", *missing])


def test_a_missing_test_file_is_found() -> None:
    sources = [
        Module(path=f"{tidy.SOURCE}/{name}", text="class A: ...")
        for name in ("models/sse.py", "__main__.py", "a/__init__.py")
    ]
    empty = Module(path=f"{tidy.SOURCE}/b/__init__.py", text='"""A floor."""')
    assert tidy.untested([*sources, empty], {"tests/models/test_sse.py"}) == [
        f"{tidy.SOURCE}/__main__.py:1: no tests/test_main.py",
        f"{tidy.SOURCE}/a/__init__.py:1: no tests/test_a.py",
    ]
