"""A process that carries out command lines in processes of their own, and can kill each of them at one of its ticks.

`python -m tests.crash.theatre` reads one JSON request a line and writes one answer a line. All is loaded before the
first one, so that a command costs a fork. A tick is a commit about to be made, a commit made, an effect about to be
had, an effect had: when the number DIE_AT comes, the process is gone.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import select
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import apsw
import msgspec
from msgspec import Struct

import forkwood
from forkwood import wire
from forkwood.__main__ import run
from forkwood.config import load_settings
from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError
from forkwood.runtime import Runtime
from forkwood.store.db import Store, Tx
from forkwood.surfaces.cli.failures import exit_code
from tests.crash.cast import cast
from tests.crash.chorus import sing

NEVER_LOADED = ("embedded", "discover", "pull")


class Entrance(Struct, frozen=True, kw_only=True, tag=True):
    """A command line to be begun: FOLDER holds its home, its trace and what it says. PAGES: more than so many the store
    may not have. BUSY_MS: how long it waits for a lock (0: as ever). OWN_TOOLS: the program's instead of the cast."""

    arguments: tuple[str, ...]
    folder: str
    said: str
    die_at: int = 0
    reworded: str = ""
    pages: int = 0
    busy_ms: int = 0
    own_tools: bool = False


class Exit(Struct, frozen=True, kw_only=True, tag=True):
    """Wait for the process PID; kill it where it lives after so many seconds (None: never)."""

    pid: int
    kill_after: float | None = None


Request = Entrance | Exit


class Ticks:
    """Counts, and ends the process at one of them."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.count = 0

    def tick(self) -> None:
        self.count += 1
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def load_all() -> None:
    """Load every module of the program: a fork has them all."""
    for found in pkgutil.walk_packages(forkwood.__path__, "forkwood."):
        if not found.name.rpartition(".")[2].startswith((*NEVER_LOADED, "__main__")):
            importlib.import_module(found.name)


def stage(entrance: Entrance, ticks: Ticks) -> None:
    """Let this process count its ticks, have the cast for its tools, and as little room as it is given."""
    opened, written, made = Runtime.open.__func__, Store.write, Store.__init__  # type: ignore[attr-defined]
    acting = cast(Path(entrance.folder) / "trace", ticks.tick, entrance.reworded)
    tools = None if entrance.own_tools else acting

    @contextmanager
    def write(store: Store) -> Iterator[Tx]:
        with written(store) as tx:
            yield tx
            ticks.tick()
        ticks.tick()

    def bounded(store: Store, connection: apsw.Connection, path: str = ":memory:") -> None:
        made(store, connection, path)
        if entrance.pages:
            connection.execute(f"PRAGMA max_page_count = {entrance.pages}")

    def with_cast(cls: type[Runtime], *given: object, **named: object) -> Runtime:
        runtime: Runtime = opened(cls, *given, **{**named, "tools": tools})
        return runtime

    Store.write = write  # type: ignore[method-assign, assignment]
    Store.__init__ = bounded  # type: ignore[method-assign, assignment]
    Runtime.open = classmethod(with_cast)  # type: ignore[method-assign, assignment, arg-type]
    limits.busy_ms = entrance.busy_ms or limits.busy_ms


def carried_out(arguments: tuple[str, ...]) -> int:
    """Carry out a command line; or, behind `runtime`, one verb with its arguments in JSON: what it gives is said; or be
    one voice of a chorus."""
    if arguments[0] not in {"runtime", "chorus"}:
        return run(list(arguments))
    with Runtime.open(load_settings(os.environ), os.environ, via="cli") as runtime:
        try:
            if arguments[0] == "chorus":
                sing(runtime, int(arguments[1]), int(arguments[2]), arguments[3])
            else:
                given = msgspec.json.decode(arguments[2], type=dict[str, Any])
                sys.stdout.buffer.write(wire.encode(getattr(runtime, arguments[1])(**given)) + b"\n")
        except ForkwoodError as error:
            sys.stderr.write(error.message)
            return exit_code(error)
    return 0


def perform(entrance: Entrance) -> NoReturn:
    """Be the process of one command line."""
    said = Path(entrance.said)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(said.with_suffix(f".{name}"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ["FORKWOOD_HOME"] = str(Path(entrance.folder) / "home")
    ticks, code = Ticks(entrance.die_at), 99
    try:
        stage(entrance, ticks)
        code = carried_out(entrance.arguments)
        said.with_suffix(".ticks").write_text(str(ticks.count))
    except BaseException:  # a process that breaks says why, and ends: it must not go on as the one it came from
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class House:
    """The processes that were begun and not awaited yet, each with a pipe that closes when it is gone."""

    def __init__(self) -> None:
        self.lives: dict[int, int] = {}

    def enter(self, entrance: Entrance) -> int:
        ends, kept = os.pipe()
        pid = os.fork()
        if pid == 0:
            for other in (ends, *self.lives.values()):
                os.close(other)
            perform(entrance)
        os.close(kept)
        self.lives[pid] = ends
        return pid

    def leave(self, wanted: Exit) -> int:
        ends = self.lives.pop(wanted.pid)
        if not select.select([ends], [], [], wanted.kill_after)[0]:
            os.kill(wanted.pid, signal.SIGKILL)
        os.close(ends)
        return os.waitstatus_to_exitcode(os.waitpid(wanted.pid, 0)[1])


def main() -> None:
    load_all()
    gc.collect()
    gc.freeze()
    house = House()
    for line in sys.stdin.buffer:
        match msgspec.json.decode(line, type=Request):
            case Entrance() as entrance:
                answer = house.enter(entrance)
            case Exit() as wanted:
                answer = house.leave(wanted)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
