"""kill -9 of real command lines at every commit and every effect of a run that reads, asks, writes and executes."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pytest

from tests.crash.cast import PLAY
from tests.crash.lives import SPARED, Fate, Life, Person, Theatre, copied, live
from tests.soak import is_soaking, trials

ENDED = {"look": "ok", "peek": "ok", "ask": "ok", "jot": "ok", "fire": "ok"}
DOUBTS = ("retry", "done", "failed")
FIRED = {"retry": "ok", "done": "ok", "failed": "error"}
EVERY = 1 if is_soaking() else 6
"""Which of all points of the whole run are tried: in a soak each."""


@pytest.fixture(scope="module")
def theatre() -> Iterator[Theatre]:
    with Theatre() as opened:
        yield opened


def always(bound: int) -> int:
    """A person who takes the last of what there is."""
    return bound - 1


def points(theatre: Theatre, folder: Path) -> list[tuple[Life, tuple[str, ...], int]]:
    """Every command of a whole run: the life before it, the command, and its ticks."""
    found: list[tuple[Life, tuple[str, ...], int]] = []
    life = Life(theatre, folder / "untouched")
    person = Person(life, always)
    while not life_is_over(life):
        command, before = person.next(), copied(life, folder / f"before {len(found)}")
        found.append((before, command, life.run(*command).ticks))
    assert life.outcomes() == ENDED
    assert life.trace() == ["look", "peek", "jot", "fire"]
    return found


def life_is_over(life: Life) -> bool:
    return (life.folder / "home").exists() and life.statuses()[-1:] == ["done"]


def finish(life: Life, person: Person, fates: Iterator[Fate]) -> None:
    """Live on to the end, and compare it with the end of a life in which nobody died."""
    live(life, person, fates)
    again = life.run(*person.send)
    told = [line for line in again.lines if line["type"] == "result"]
    assert again.code == 0
    assert [(line["status"], line["text"]) for line in told] == [("done", "Done.")] * len(life.statuses())
    assert len(life.books.listed()) == len(life.log_of("message.sent")) == 1
    assert len(life.log_of("run.opened")) == len(life.log_of("run.ended")) == len(told)
    doubts = [event for event in life.log_of("interaction.opened") if event.payload["sort"] == "doubt"]
    denied = {name: "denied" for name in ("jot", "fire") if not person.yes(name)}
    for line in told:
        assert [text for text in texts(life, line["node"]) if text] == ["Go", *(reply["text"] for reply in PLAY)]
        fired = {"fire": FIRED[person.doubt]} if line["run"] in {event.run for event in doubts} else {}
        assert life.outcomes(line["node"]) == ENDED | denied | fired
    assert {event.payload["call"] for event in doubts} <= {"fire"}
    life.check()
    life.close()


def texts(life: Life, node: str) -> list[str]:
    return [entry.node.text for entry in life.books.path(node) if entry.node.role != "tool"]


def test_pain_37_killed_at_every_commit_and_every_effect_it_ends_as_if_nothing_had_happened(
    theatre: Theatre, tmp_path: Path
) -> None:
    tried = 0
    for number, (before, command, ticks) in enumerate(points(theatre, tmp_path)):
        for die_at in range(1 + number % EVERY, ticks + 1, EVERY):
            life = copied(before, tmp_path / f"{number} {die_at}")
            said = life.run(*command, fate=Fate(die_at))
            life.check()
            assert said.code == -9
            finish(life, Person(life, always, doubt=DOUBTS[die_at % 3]), repeat(SPARED))
            shutil.rmtree(life.folder)
            tried += 1
    assert tried >= 60 / EVERY


@pytest.mark.parametrize("seed", range(trials(3, 60)))
def test_killed_again_and_again_it_ends_all_the_same(theatre: Theatre, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    life = Life(theatre, tmp_path / "life")
    no = chance.choice([(), (), ("jot",), ("fire",), ("jot", "fire")])
    doubt, models = chance.choice(DOUBTS), 1 + seed % 3 // 2
    person = Person(life, chance.randrange, lambda name: name not in no, doubt, models)
    fates = (Fate(chance.randrange(1, 14)) for _ in range(10))
    finish(life, person, fates)


@pytest.mark.parametrize("seed", range(trials(2, 60)))
def test_killed_at_any_moment_it_ends_all_the_same(theatre: Theatre, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    life = Life(theatre, tmp_path / "life")
    person = Person(life, chance.randrange, doubt=chance.choice(DOUBTS))
    fates = (Fate(kill_after=chance.uniform(0.005, 0.09)) for _ in range(8))
    finish(life, person, fates)
