"""Several processes drive, answer and end one run at once, and die: whoever is left goes on, and nothing is twice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.cast import called
from tests.crash.lives import KILLED, Fate, Life, Theatre
from tests.soak import trials

SLOW = {"chunk": 3, "pause_ms": 2}
TURNS = (("look", "jot"), ("ask", "fire"), ("fire2", "jot2"))
PLAY = (*({**called(*turn), **SLOW} for turn in TURNS), {"text": "Done at last, and glad of it.", **SLOW})
SEND = ("send", "Go", "--key", "once")
OVER = {"done", "cancelled"}
LAPS_MAX = 60


@pytest.fixture(scope="module")
def theatre() -> Iterator[Theatre]:
    with Theatre() as opened:
        yield opened


class Crowd:
    """People at several terminals who do not know of one another."""

    def __init__(self, life: Life, chance: random.Random, *, ends: float) -> None:
        self.life, self.chance = life, chance
        self.ends = ends
        """How likely it is in a lap that somebody ends the run."""

    def commands(self) -> list[tuple[str, ...]]:
        """Two who drive; two who answer the same thing, perhaps by other words; perhaps one who has enough of it."""
        given: list[tuple[str, ...]] = [SEND, SEND]
        if waiting := self.life.books.pending():
            asked = self.chance.choice(waiting)
            words = {"approval": ("allow", "allow", "deny"), "question": ("blue", "red"), "doubt": asked.answers}
            given += [("answer", asked.id, self.chance.choice(words[asked.kind])) for _ in range(2)]
        runs = self.life.books.runs()
        if runs and self.chance.random() < self.ends:
            given.append(("cancel", runs[0].id))
        self.chance.shuffle(given)
        return given

    def fate(self) -> Fate:
        draw = self.chance.random()
        if draw < 0.35:
            return Fate(self.chance.randrange(1, 16))
        return Fate(kill_after=self.chance.uniform(0.01, 0.2)) if draw < 0.7 else Fate()

    def lap(self) -> None:
        given = self.commands()
        fates = [self.fate() for _ in given]
        begun = [self.life.begin(*command, fate=fate) for command, fate in zip(given, fates, strict=True)]
        ends = [self.life.end(one, fate.kill_after) for one, fate in zip(begun, fates, strict=True)]
        for command, said in zip(given, ends, strict=True):
            allowed = {KILLED, 0, 5, 130} | ({4} if command[0] == "answer" else set())
            assert said.code in allowed, (command, said)
            assert said.code != 4 or said.lines[-1]["error"]["kind"] == "conflict"
        self.life.check()


def finish(life: Life) -> str:
    """Those who are left answer the rest, and watch it end; how it ended."""
    for _ in range(LAPS_MAX):
        waiting = life.books.pending()
        word = {"approval": "allow", "question": "blue", "doubt": "done"}
        command = ("answer", waiting[0].id, word[waiting[0].kind]) if waiting else SEND
        said = life.run(*command)
        if life.statuses()[0] in OVER:
            assert said.code == {"done": 0, "cancelled": 130}[life.statuses()[0]]
            return life.statuses()[0]
    raise AssertionError("it never ended")


@pytest.mark.parametrize("seed", range(trials(3, 50)))
def test_whoever_is_left_of_a_crowd_goes_on_and_nothing_is_done_twice(
    theatre: Theatre, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    life = Life(theatre, tmp_path / "life", PLAY)
    life.run("new", "--model", life.model)
    crowd = Crowd(life, chance, ends=0.1 if seed % 2 else 0)
    for _ in range(6):
        crowd.lap()
        if set(life.statuses()) <= OVER and life.statuses():
            break
    status = finish(life)
    life.check()
    (sent,), opened = life.log_of("message.sent"), life.log_of("run.opened")
    assert (len(opened), sent.payload["runs"]) == (1, [opened[0].run])
    assert [event.payload["status"] for event in life.log_of("run.ended")] == [status]
    if status == "done":
        assert_answered(life)
    life.close()


def assert_answered(life: Life) -> None:
    """Every call ended as the one answer that counts says."""
    answers = {event.payload["interaction"]: event.payload["answer"] for event in life.log_of("interaction.closed")}
    asked = [event.payload for event in life.log_of("interaction.opened")]
    assert sorted(answers) == sorted(one["interaction"] for one in asked)
    yes = [(one["call"], answers[one["interaction"]]) for one in asked if one["sort"] == "approval"]
    assert [call for call, _ in yes] == ["jot", "fire", "fire2", "jot2"]
    settled = [event.payload for event in life.log_of("call.settled")]
    assert sorted(one["call"] for one in settled) == sorted(call for turn in TURNS for call in turn)
    denied = [one["call"] for one in settled if one["outcome"] == "denied"]
    assert sorted(denied) == sorted(call for call, answer in yes if answer == "deny")
