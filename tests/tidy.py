"""Finders of what the house does not want and no linter sees: pure, from the text of a file to findings."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

ROOT = Path(__file__).parent.parent
SOURCE = "src/forkwood"

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50
FUNCTION_LINES_MEDIAN_MAX = 12

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


class Module(Struct, frozen=True, kw_only=True):
    """One file of the checkout: PATH from its root, with slashes."""

    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return parsed(self.text, self.path)

    def at(self, line: int, what: str) -> str:
        return f"{self.path}:{line}: {what}"


Finder: TypeAlias = Callable[[Module], Iterator[str]]


@cache
def parsed(text: str, path: str) -> ast.Module:
    return ast.parse(text, path)


@cache
def files(*patterns: str) -> tuple[Module, ...]:
    """Every file that one of PATTERNS names, from the root of the checkout."""
    paths = sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()})
    return tuple(Module(path=path.relative_to(ROOT).as_posix(), text=path.read_text("utf-8")) for path in paths)


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def long_modules(module: Module) -> Iterator[str]:
    count = module.text.count("\n")
    if count > MODULE_LINES_MAX:
        yield module.at(count, f"{count} lines; a module has at most {MODULE_LINES_MAX}: it holds two jobs")


def long_functions(module: Module) -> Iterator[str]:
    for function in functions(module.tree):
        if length(function) > FUNCTION_LINES_MAX:
            yield module.at(
                function.lineno, f"{function.name} has {length(function)} lines; {FUNCTION_LINES_MAX} at most"
            )


def modules_without_their_job(module: Module) -> Iterator[str]:
    if not (ast.get_docstring(module.tree) or "").strip():
        yield module.at(1, "a module begins with its one job in a sentence")


BANNED = {"manager", "handler", "helper", "util", "core", "base", "common", "misc"}
BANNED |= {"data", "info", "service", "processor", "wrapper"}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def words(name: str) -> set[str]:
    """The words of NAME, written_so or WrittenSo, plurals as one of them."""
    found = {word.lower() for word in WORD.findall(name)}
    return found | {word.removesuffix("s") for word in found}


def empty_names(module: Module) -> Iterator[str]:
    for part in module.path.split("/"):
        yield from (module.at(1, f"`{word}` says nothing: name the job") for word in words(part) & BANNED)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef | Function):
            yield from (
                module.at(node.lineno, f"`{node.name}`: `{word}` says nothing") for word in words(node.name) & BANNED
            )


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each import; `from a import b` gives a.b."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(origin), names=names):
                yield from ((node.lineno, f"{origin}.{alias.name}") for alias in names)


def dotted(node: ast.AST) -> str:
    """The name NODE spells, as in `os.path.join`; empty for anything that is no plain name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{dotted(value)}.{name}"
    return ""


def called(tree: ast.AST) -> Iterator[tuple[int, str]]:
    return ((node.lineno, dotted(node.func)) for node in ast.walk(tree) if isinstance(node, ast.Call))


PROCESSES = re.compile(
    r"(subprocess|multiprocessing|pty)\b|os\.(fork|forkpty|system|popen|posix_spawn|exec[lv]|spawn[lv])"
    r"|asyncio\.(subprocess|create_subprocess)|(.*\.)?(subprocess_exec|subprocess_shell|ProcessPoolExecutor)$"
)
PROCESS_ROOMS = (f"{SOURCE}/workspace/", f"{SOURCE}/models/embedded", f"{SOURCE}/models/pull.py")


def processes(module: Module) -> Iterator[str]:
    if module.path.startswith(PROCESS_ROOMS):
        return
    for line, name in sorted({*imported(module.tree), *called(module.tree)}):
        if PROCESSES.match(name):
            yield module.at(line, f"{name}: processes start in workspace/ and models/embedded* and pull alone")


LIBRARIES = {
    "apsw": "store/",
    "genai_prices": "models/",
    "httpx2": "models/",
    "keyring": "models/",
    "xllamacpp": "models/embedded",
    "click": "surfaces/",
    "prompt_toolkit": "surfaces/",
    "rich": "surfaces/",
    "sqlite3": "nowhere",
}
"""Where each library is used, and nowhere else: one room to look into when it changes."""


def strayed_libraries(module: Module) -> Iterator[str]:
    for line, name in imported(module.tree):
        room = LIBRARIES.get(name.split(".")[0])
        if room and not module.path.startswith(f"{SOURCE}/{room}"):
            yield module.at(line, f"{name} is used in {room}")


STATEMENT = re.compile(
    r"\s*(SELECT\s|INSERT (OR \w+ )?INTO\s|UPDATE \w+ SET\s|DELETE FROM\s|CREATE (TABLE|INDEX|TRIGGER)\s)"
)


def sql_upstairs(module: Module) -> Iterator[str]:
    if module.path.startswith(f"{SOURCE}/store/"):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and STATEMENT.match(node.value):
            yield module.at(node.lineno, "SQL is written in store/ alone")


ASYNC_ROOMS = tuple(
    f"{SOURCE}/{floor}" for floor in ("engine/", "models/", "tools/", "workspace/", "runtime", "surfaces/")
)


def waiting_downstairs(module: Module) -> Iterator[str]:
    if not module.path.startswith(ASYNC_ROOMS):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
                yield module.at(node.lineno, "nothing below the engine waits")


def task_groups(tree: ast.AST) -> set[str]:
    """The names under which TREE holds task groups: these keep their tasks themselves."""
    items = (item for node in ast.walk(tree) if isinstance(node, ast.AsyncWith) for item in node.items)
    return {
        dotted(item.optional_vars)
        for item in items
        if item.optional_vars
        and isinstance(item.context_expr, ast.Call)
        and dotted(item.context_expr.func).endswith("TaskGroup")
    }


def lost_tasks(module: Module) -> Iterator[str]:
    groups = task_groups(module.tree)
    for node in ast.walk(module.tree):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="create_task" | "ensure_future"))):
                yield module.at(node.lineno, "a task that nobody keeps can vanish: bind it")
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="create_task" | "ensure_future"))):
                if dotted(owner) not in groups:
                    yield module.at(node.lineno, "a task that nobody keeps can vanish: bind it")


BROAD = {"Exception", "BaseException"}
REASON = re.compile(r"#\s*(noqa(: ?[A-Z]+\d+)?[\s(:]*)?(?!noqa|type:)\w+ \w+")


def is_broad(caught: ast.expr | None) -> bool:
    match caught:
        case None:
            return True
        case ast.Tuple(elts=members):
            return any(is_broad(member) for member in members)
    return dotted(caught) in BROAD


def raises_again(catch: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) and node.exc is None for node in catch.body)


def broad_catches(tree: ast.AST) -> Iterator[int]:
    """Lines of TREE on which everything is caught and not raised again."""
    for node in ast.walk(tree):
        match node:
            case ast.ExceptHandler(type=caught, lineno=line) if is_broad(caught) and not raises_again(node):
                yield line
            case ast.Call(func=func, args=caught, lineno=line) if dotted(func).endswith("suppress"):
                yield from (line for error in caught if is_broad(error))


def swallowed(module: Module) -> Iterator[str]:
    lines = module.text.splitlines()
    for line in broad_catches(module.tree):
        if not REASON.search(lines[line - 1]):
            yield module.at(line, "everything is caught: raise it again or give the reason on this line")


# Spelled so that they do not find themselves: this file is searched too.
UNFINISHED = re.compile(
    r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b|raise N[o]tImplementedError|pragma[:] no cover|type[:] ignore(?!\[)"
)
SLEEPING = re.compile(r"(pytest\.)?mark\.(skip|skipif|xfail)|pytest\.(skip|xfail|importorskip)|time\.sleep")
ELSEWHERE = re.compile(
    r"(?<![\w.~}])/(?:work|root|farm|tmp|Users)/\w|p[y]pi\.(?:org|python)|p[y]thonhosted\.org|registry\.npm|deb\.debian|crates\.io"
)


def matching(pattern: re.Pattern[str], why: str) -> Finder:
    """A rule about lines: none has PATTERN."""

    def find(module: Module) -> Iterator[str]:
        for number, line in enumerate(module.text.splitlines(), 1):
            if found := pattern.search(line):
                yield module.at(number, f"{found[0]}: {why}")

    return find


CUT_NAMES = re.compile(r"\[-8:\]")
NAMES = f"{SOURCE}/domain/ids.py"


def cut_names(module: Module) -> Iterator[str]:
    if module.path != NAMES:
        yield from matching(CUT_NAMES, "an id is shown by domain.ids.ending")(module)


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and spelling of each name TREE mentions, dotted ones whole and in their parts."""
    return ((node.lineno, dotted(node)) for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Name))


def sleepers(module: Module) -> Iterator[str]:
    for line, name in sorted({*named(module.tree), *imported(module.tree)}):
        if SLEEPING.fullmatch(name):
            yield module.at(line, f"{name}: a test runs, passes or fails, and waits for facts")


NAME = re.compile(r"[A-Za-z_]\w*")
UNITS = {"max", "min", "default", "kept", "seconds", "ms", "days", "bytes", "characters", "tokens", "rows", "percent"}


def limits_without_unit(module: Module) -> Iterator[str]:
    for line, name in bounds(module):
        if name.rsplit("_", 1)[-1] not in UNITS:
            yield module.at(line, f"{name}: the last word of a limit is its unit or max")


def bounds(module: Module) -> Iterator[tuple[int, str]]:
    """Line and name of each limit that MODULE sets."""
    for node in module.tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            name = dotted(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            if name.islower():
                yield node.lineno, name


def idle_limits(module: Module, sources: Iterable[Module], tests: Iterable[Module]) -> Iterator[str]:
    """Limits of MODULE that nothing in SOURCES keeps to, or no one of TESTS goes to the edge of."""
    kept = {name for source in sources if source.path != module.path for _, name in named(source.tree)}
    tried = {word for test in tests for word in NAME.findall(test.text)}
    for line, name in bounds(module):
        if f"limits.{name}" not in kept:
            yield module.at(line, f"{name}: nothing keeps to it")
        if name not in tried:
            yield module.at(line, f"{name}: no test names it")


def loose_pins(module: Module) -> Iterator[str]:
    """Pins of a lock without a version or a hash."""
    for entry in module.text.replace("\\\n", " ").splitlines():
        if not re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry):
            yield module.at(1, f"{entry[:60]}: every pin has a version and a hash")


def holds_code(module: Module) -> bool:
    """Whether MODULE does anything: a docstring, imports and names alone need no test."""
    return any(isinstance(node, ast.ClassDef | Function) for node in ast.walk(module.tree))


def mirror(path: str) -> str:
    """Where the tests of the source file PATH live; those of a package lie beside its folder."""
    inside = path.removeprefix(f"{SOURCE}/").removesuffix(".py").removesuffix("/__init__")
    *folders, name = inside.split("/")
    return "/".join(["tests", *folders, f"test_{name.strip('_')}.py"])


def untested(sources: Iterable[Module], tests: set[str]) -> list[str]:
    needed = [module for module in sources if module.path.rsplit("/", 1)[-1] != "__init__.py" or holds_code(module)]
    return [f"{module.path}:1: no {mirror(module.path)}" for module in needed if mirror(module.path) not in tests]
