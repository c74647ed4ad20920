"""Lives of a run in real processes that are killed: a person begins it, begins again, answers; then all is compared."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct

from forkwood import wire
from forkwood.domain.event import Event
from forkwood.domain.interaction import Interaction
from forkwood.domain.message import ToolCall, ToolResult
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from tests.crash.cast import PARTS, PLAY, left, tool_of
from tests.crash.theatre import Entrance, Exit, Request

KILLED = -9
ROOT = Path(__file__).parents[2]
LAPS_MAX = 60
_CLOSED = "interaction.closed"


class Said(Struct, frozen=True, kw_only=True):
    """What came of a command line: its exit code, its whole JSON lines, and how many ticks it lived through."""

    code: int
    lines: list[Any]
    err: str
    ticks: int


class Theatre:
    """One process that begins others. Use it in a `with` block."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.theatre"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def ask(self, request: Request) -> int:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(msgspec.json.encode(request) + b"\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


class Fate(Struct, frozen=True):
    """How a process ends: at one of its ticks, after so many seconds, or (0, None) as it will."""

    die_at: int = 0
    kill_after: float | None = None


SPARED = Fate()


class Life:
    """One home with one conversation in it; FOLDER holds all that outlives its processes."""

    def __init__(self, theatre: Theatre, folder: Path, play: Sequence[Any] = PLAY) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.theatre, self.folder = theatre, folder
        self.settings = Settings(home=str(folder / "home"))
        script = folder / "script.json"
        script.write_text(json.dumps({"replies": play}))
        self.model = f"scripted:{script}"
        self.acknowledged: dict[int, Any] = {}
        self.told_runs: set[str] = set()
        self.told_answers: dict[str, Any] = {}
        self.names = count(1)
        self._reader: Runtime | None = None

    # Processes

    def begin(self, *arguments: str, fate: Fate = SPARED, **how: Any) -> tuple[int, Path]:
        """A process that carries out a command line, with `--json`; its number, and where it says what it says."""
        if arguments[0] not in {"runtime", "chorus"}:
            arguments = (arguments[0], "--json", *arguments[1:])
        said = self.folder / f"said {next(self.names)}"
        named = Entrance(arguments=arguments, folder=str(self.folder), said=str(said), die_at=fate.die_at, **how)
        return self.theatre.ask(named), said

    def end(self, begun: tuple[int, Path], kill_after: float | None = None) -> Said:
        """What came of it, when it is gone."""
        pid, said = begun
        code = self.theatre.ask(Exit(pid=pid, kill_after=kill_after))
        out, ticks = said.with_suffix(".out").read_bytes(), said.with_suffix(".ticks")
        lines = [msgspec.json.decode(line) for line in out.splitlines(keepends=True) if line.endswith(b"\n")]
        err = said.with_suffix(".err").read_text("utf-8")
        assert "Traceback" not in err, err
        found = Said(code=code, lines=lines, err=err, ticks=int(ticks.read_text() or 0) if ticks.exists() else 0)
        self._hear(found)
        return found

    def run(self, *arguments: str, fate: Fate = SPARED, **how: Any) -> Said:
        """Carry out a command line in a process with this fate."""
        return self.end(self.begin(*arguments, fate=fate, **how), fate.kill_after)

    def _hear(self, said: Said) -> None:
        """What a process has told is so from then on, whatever becomes of the process."""
        for line in said.lines:
            match line:
                case {"type": "event", "seq": seq}:
                    self.acknowledged[seq] = {name: value for name, value in line.items() if name != "type"}
                case {"type": "result", "run": run}:
                    self.told_runs.add(run)
                case {"status": "answered", "id": name, "answer": answer}:
                    self.told_answers[name] = answer

    # What is in the books

    @property
    def books(self) -> Runtime:
        """The door of a process that looks on, and has the store open while others die."""
        if self._reader is None:
            self._reader = Runtime.open(self.settings, {"FORKWOOD_LOCAL_SERVERS": ""}, via="cli")
        return self._reader

    def close(self) -> None:
        """Look on no more; who looks again opens the store anew."""
        if self._reader is not None:
            self._reader.close()
        self._reader = None

    def log(self) -> list[Event]:
        return list(self.books.log())

    def statuses(self) -> list[str]:
        """How each run stands, the first one first."""
        return [run.status for run in reversed(self.books.runs())]

    def path(self) -> list[str]:
        return [f"{entry.node.role}: {entry.node.text}" for entry in self.books.path()]

    def trace(self) -> list[str]:
        """Names of the calls whose effects were had, in their order."""
        return [line.split()[1] for line in left(self.folder / "trace")]

    def log_of(self, kind: str) -> list[Event]:
        return [event for event in self.log() if event.kind == kind]

    # What always holds

    def check(self) -> None:
        """Whenever no process is at work: nothing told is missing, nothing ran that must not, all can be proved."""
        report = Runtime.doctor(self.settings, via="cli")
        assert report.problems == ()
        log = self.log()
        self._check_told(log)
        self._check_effects(log)
        _check_replies(self.books)

    def _check_told(self, log: list[Event]) -> None:
        kept = {event.seq: wire.plain(event) for event in log}
        for seq, told in self.acknowledged.items():
            assert kept.get(seq) == told, "what was told is so"
        opened = {event.run for event in log if event.kind == "run.opened"}
        assert self.told_runs <= opened
        closed = {event.payload["interaction"]: event.payload["answer"] for event in log if event.kind == _CLOSED}
        assert self.told_answers.items() <= closed.items()

    def _check_effects(self, log: list[Event]) -> None:
        """Yeses and retries are counted as they stand in the log: a yes stands there before its effect is had."""
        opened = {e.payload["interaction"]: e for e in log if e.kind == "interaction.opened"}
        closed = [(opened[e.payload["interaction"]], e.payload["answer"]) for e in log if e.kind == _CLOSED]
        answers = Counter((e.run, e.payload["call"], e.payload["sort"], str(answer)) for e, answer in closed)
        started = {(e.run, e.payload["call"]) for e in log if e.kind == "call.started"}
        for line, times in Counter(left(self.folder / "trace")).items():
            run, call = line.split()
            assert (run, call) in started, "announced in the log before it was had"
            effect = PARTS[tool_of(call)]
            assert effect == "read" or answers[run, call, "approval", "allow"], "nothing runs without a yes"
            assert effect != "write" or times == 1, "the disk decides, not a second try"
            retries = answers[run, call, "doubt", "retry"]
            assert effect != "execute" or times <= 1 + retries, "what cannot be repeated ran twice"

    def outcomes(self, node: str | None = None) -> dict[str, str]:
        """How each call on the path to NODE (None: to the head) ended."""
        parts = [part for entry in self.books.path(node) for part in entry.node.parts]
        return {part.call: part.outcome for part in parts if isinstance(part, ToolResult)}


def _check_replies(runtime: Runtime) -> None:
    """Every reply that a run made says what it was made from; no call that is over lacks its result."""
    if not runtime.listed():
        return
    active = {run.id for run in runtime.runs() if run.status in {"queued", "running", "waiting"}}
    for node in runtime.tree():
        if node.role == "assistant" and node.origin.run:
            why = runtime.why(node.id)
            assert why.verified is True, why.reason
    for leaf in runtime.branches():
        asked: list[str] = []
        for entry in runtime.path(leaf.node):
            assert not asked or entry.node.role == "tool", "calls without their results"
            settled = [part.call for part in entry.node.parts if isinstance(part, ToolResult)]
            assert settled == asked
            asked = [part.call for part in entry.node.parts if isinstance(part, ToolCall)]
            if entry.node.partial:
                asked = []
        assert not asked or entry.node.origin.run in active


def copied(life: Life, folder: Path) -> Life:
    """Another life that goes on from where LIFE stands."""
    life.close()
    shutil.copytree(life.folder, folder)
    other = Life(life.theatre, folder)
    other.acknowledged, other.told_runs = dict(life.acknowledged), set(life.told_runs)
    other.told_answers = dict(life.told_answers)
    other.model, other.names = life.model, life.names
    return other


class Person:
    """Who sits at the terminal: goes on with what stopped, in one of the ways there are, and answers what waits.

    YES says yes to a call; DOUBT answers a doubt; so many MODELS are asked at once.
    """

    def __init__(
        self,
        life: Life,
        draws: Callable[[int], int],
        yes: Callable[[str], bool] = lambda _: True,
        doubt: str = "retry",
        models: int = 1,
    ) -> None:
        self.life, self.draws = life, draws
        self.yes, self.doubt = yes, doubt
        self.send = ("send", "Go", "--key", "once", *["--model", life.model] * (models - 1) * 2)

    def next(self) -> tuple[str, ...]:
        """The next command."""
        books = self.life.books
        if not books.listed():
            return ("new", "--model", self.life.model, "--key", "new")
        moving = [run.id for run in books.runs() if run.status in {"queued", "running"}]
        waiting = books.pending()
        if waiting and not (moving and self.draws(2)):
            return self.answer(waiting[self.draws(len(waiting))])
        if moving and self.draws(3) == 0:
            return ("resume", moving[-1])
        return self.send

    def answer(self, asked: Interaction) -> tuple[str, ...]:
        """The words with which this person answers."""
        if asked.kind == "doubt":
            word = self.doubt
        elif asked.kind == "question":
            word = "blue"
        else:
            assert asked.call is not None
            word = "allow" if self.yes(asked.call.name) else "deny"
        key = ("--key", f"answer {asked.id}") if self.draws(2) else ()
        only = ("--no-run",) if self.draws(3) == 0 else ()
        return ("answer", asked.id, word, *key, *only)


def live(life: Life, person: Person, fates: Iterator[Fate]) -> Said:
    """Let LIFE go on until its runs are over, each process with the next of FATES; what the last one said.

    A command that was killed is given again now and then, with the same key: by the person's choice.
    """
    again: tuple[str, ...] | None = None
    for _ in range(LAPS_MAX):
        command = again if again and person.draws(2) else person.next()
        said = life.run(*command, fate=next(fates, SPARED))
        again = command if said.code == KILLED and "--key" in command else None
        if said.code == KILLED:
            life.check()
        expect(life, command, said)
        statuses = life.statuses()
        if said.code != KILLED and statuses and not {"queued", "running", "waiting"} & set(statuses):
            return said
    raise AssertionError("it never ended")


def expect(life: Life, command: tuple[str, ...], said: Said) -> None:
    """Whether a process that was not killed has the exit code that goes with how it found the runs."""
    if said.code == KILLED:
        return
    if command[0] == "new" or "--no-run" in command:
        assert said.code == 0, said.err
        return
    told = {line["run"]: line["status"] for line in said.lines if line["type"] == "result"}
    assert said.lines[-1]["type"] == "result", said
    assert said.code == (5 if "waiting" in told.values() else 0), (command, said)
    assert told.items() <= {run.id: run.status for run in life.books.runs()}.items()
