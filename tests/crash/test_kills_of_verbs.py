"""kill -9 of those who cancel, queue, steer and answer a run, while it waits and while another process drives it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.crash.cast import PLAY
from tests.crash.lives import KILLED, Fate, Life, Theatre, copied
from tests.soak import trials

NEXT = {"match": "Next", "text": "Then this."}
ACTIVE = {"queued", "running"}
LAPS_MAX = 40


@pytest.fixture(scope="module")
def theatre() -> Iterator[Theatre]:
    with Theatre() as opened:
        yield opened


@pytest.fixture(scope="module")
def waiting(theatre: Theatre, tmp_path_factory: pytest.TempPathFactory) -> Life:
    """A life whose run waits for two yeses, with one message in its queue."""
    life = Life(theatre, tmp_path_factory.mktemp("waiting"), (NEXT, *PLAY))
    life.run("new", "--model", life.model)
    life.run("send", "Go")
    (asked,) = life.books.pending()
    life.run("answer", asked.id, "blue")
    life.run("send", "Next first")
    assert life.statuses() == ["waiting"]
    return life


def verb(name: str, /, **given: Any) -> tuple[str, ...]:
    """A verb of the Runtime as a command of the theatre."""
    return ("runtime", name, json.dumps(given))


def go_on(life: Life, words: str = "allow") -> None:
    """Answer everything, drive everything, until nothing is left to do."""
    for _ in range(LAPS_MAX):
        asked = life.books.pending()
        moving = [run.id for run in life.books.runs() if run.status in ACTIVE]
        if asked:
            life.run("answer", asked[0].id, "blue" if asked[0].kind == "question" else words)
        elif moving:
            life.run("resume", moving[-1])
        else:
            return
    raise AssertionError("it never ended")


def commands(life: Life) -> dict[str, tuple[str, ...]]:
    """What is done to a run that waits, each under a key."""
    (run,), (message,) = life.books.runs(), life.books.queue()
    asked = life.books.pending()[0]
    return {
        "cancel": ("cancel", run.id, "--key", "k"),
        "queue": ("send", "Next second", "--key", "k"),
        "steer": ("send", "Hurry", "--steer", "--key", "k"),
        "edit": ("queue", "--edit", message.id, "Next instead", "--key", "k"),
        "remove": ("queue", "--remove", message.id, "--key", "k"),
        "answer": ("answer", asked.id, "deny", "--key", "k", "--no-run"),
        "remember": ("answer", asked.id, "allow", "--remember", "run", "--key", "k", "--no-run"),
    }


def told(life: Life) -> dict[str, Any]:
    """What there is to compare when all is over."""
    return {
        "runs": life.statuses(),
        "path": life.path(),
        "queue": [(one.text, one.state) for one in life.books.queue()],
        "outcomes": life.outcomes(),
        "trace": life.trace(),
        "acts": len(life.log_of("message.queued")) + len(life.log_of("message.sent")),
        "answers": len(life.log_of("interaction.closed")),
    }


@pytest.mark.parametrize("name", ["cancel", "queue", "steer", "edit", "remove", "answer", "remember"])
def test_pain_38_a_command_killed_at_any_of_its_commits_is_done_once_by_its_key(
    waiting: Life, tmp_path: Path, name: str
) -> None:
    command = commands(waiting)[name]
    untouched = copied(waiting, tmp_path / "untouched")
    said = untouched.run(*command)
    assert (said.code, said.ticks >= 2) == (0, True), said.err
    go_on(untouched)
    untouched.check()
    for die_at in range(1, said.ticks + 1):
        life = copied(waiting, tmp_path / f"{die_at}")
        assert life.run(*command, fate=Fate(die_at)).code == KILLED
        life.check()
        again = life.run(*command)
        assert (again.code, shape(again.lines)) == (0, shape(said.lines)), again.err
        go_on(life)
        life.check()
        assert told(life) == told(untouched)


def shape(lines: list[Any]) -> list[Any]:
    """What a command gave, but for what each world has its own of."""
    return [sorted(line) if isinstance(line, dict) else line for line in lines]


def test_what_the_commands_do_is_seen_at_the_end(waiting: Life, tmp_path: Path) -> None:
    """So that the comparison above compares something."""
    ends = {}
    for name, command in commands(waiting).items():
        life = copied(waiting, tmp_path / name)
        life.run(*command)
        go_on(life)
        ends[name] = told(life)
    assert ends["cancel"]["runs"] == ["cancelled"] and ends["cancel"]["queue"] == [("Next first", "held")]
    assert ends["cancel"]["outcomes"]["fire"] == "cancelled" and "fire" not in ends["cancel"]["trace"]
    assert ends["queue"]["runs"] == ["done"] * 3
    assert ends["queue"]["path"][-4:] == [
        "user: Next first",
        "assistant: Then this.",
        "user: Next second",
        "assistant: Then this.",
    ]
    assert "user: Hurry" in ends["steer"]["path"]
    assert ends["edit"]["path"][-2:] == ["user: Next instead", "assistant: Then this."]
    assert ends["remove"]["path"][-1] == "assistant: Done."
    assert ends["answer"]["outcomes"]["jot"] == "denied"


SLOW = {"text": "word " * 40, "chunk": 5, "pause_ms": 3}


class Crowd:
    """Several processes at one run: one drives it, others speak to it; each may be killed at any moment."""

    def __init__(self, life: Life, chance: random.Random) -> None:
        self.life, self.chance = life, chance
        self.numbers = count(1)
        self.queued: set[str] = set()
        self.texts: set[str] = set()

    def command(self) -> tuple[str, ...]:
        """Half of them are commands, which drive what they find left; half only the verb itself."""
        number, steer = next(self.numbers), self.chance.random() < 0.4
        if self.chance.random() < 0.5:
            return verb("send", text=f"Word {number}", steer=steer, key=f"word {number}")
        return ("send", f"Word {number}", "--key", f"word {number}", *["--steer"] * steer)

    def fate(self) -> Fate:
        draw = self.chance.random()
        if draw < 0.4:
            return Fate(self.chance.randrange(1, 8))
        return Fate(kill_after=self.chance.uniform(0.005, 0.15)) if draw < 0.7 else Fate()

    def lap(self) -> None:
        """One drives what there is to drive, three speak; all that was killed is said again with its key."""
        moving = [run.id for run in self.life.books.runs() if run.status in ACTIVE]
        drives = ("resume", moving[-1]) if moving else ("send", f"Go {next(self.numbers)}")
        speaks = [self.command() for _ in range(3)]
        fates = [self.fate() for _ in range(4)]
        begun = [self.life.begin(*command, fate=fate) for command, fate in zip((drives, *speaks), fates, strict=True)]
        ends = [self.life.end(one, fate.kill_after) for one, fate in reversed(list(zip(begun, fates, strict=True)))]
        for command, said in zip(reversed(speaks), ends, strict=False):
            heard = self.life.run(*command) if said.code == KILLED else said
            self.hear(command, heard.code, heard.lines)

    def hear(self, command: tuple[str, ...], code: int, lines: list[Any]) -> None:
        """A message that was taken is kept for ever; only a steering one may come too late, and leaves nothing then."""
        if code == 4:
            assert any("steer" in word for word in command), lines
            return
        assert code == 0
        given = json.loads(command[2]) if command[0] == "runtime" else {"text": command[1]}
        self.texts.add(given["text"])
        if name := lines[-1].get("queued") or (lines[-1].get("type") == "queued" and lines[-1]["id"]):
            self.queued.add(name)


@pytest.mark.parametrize("seed", range(trials(2, 45)))
def test_a_crowd_of_processes_that_die_loses_no_message(theatre: Theatre, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    life = Life(theatre, tmp_path / "life", (SLOW,))
    life.run("new", "--model", life.model)
    crowd = Crowd(life, chance)
    for _ in range(4):
        crowd.lap()
        life.check()
    if cancels := chance.random() < 0.5:
        for run in [run.id for run in life.books.runs() if run.status in ACTIVE]:
            assert life.run("cancel", run).code == 0
    go_on(life)
    life.check()
    said = [node.text for node in life.books.tree() if node.role == "user" and node.text.startswith("Word")]
    held = [one.text for one in life.books.queue() if one.text.startswith("Word")]
    assert sorted([*said, *held]) == sorted(crowd.texts), "each once, none lost"
    assert all(life.books.queued(name).state in {"sent", "held"} for name in crowd.queued)
    assert cancels or not held
