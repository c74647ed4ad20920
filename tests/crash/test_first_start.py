"""kill -9 during the very first start, at every step of it and at random: nothing or a whole store, never a trap."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.seeds import fill, opened, texts

KILLED_AT_CALL = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from forkwood.store.opening import open_store
wanted, seen = int(sys.argv[2]), 0

def die_at(event, arguments):
    global seen
    if event in WATCHED:
        seen += 1
        if seen == wanted:
            os.kill(os.getpid(), signal.SIGKILL)

WATCHED = {"os.mkdir", "os.link", "os.remove", "fcntl.flock", "forkwood.before"}
real = {name: getattr(os, name) for name in ("write", "fsync", "close", "stat", "link", "open", "unlink")}

def watched(name):
    def call(*arguments, **named):
        sys.audit("forkwood.before", name)
        return real[name](*arguments, **named)
    return call

for name in real:
    setattr(os, name, watched(name))
sys.addaudithook(die_at)
open_store(Path(sys.argv[1]), now_ms=1).close()
print("opened")
"""
KILLED = -9


def start(home: Path, at: int) -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[2] / "src")
    return subprocess.Popen(
        [sys.executable, "-c", KILLED_AT_CALL, str(home), str(at), root], stdout=subprocess.PIPE, text=True
    )


def assert_nothing_or_whole(home: Path) -> None:
    """Whatever the kill left: the store is not there or whole, and the next start uses it and tidies up."""
    path = home / "forkwood.db"
    if path.exists():
        assert path.stat().st_size > 100_000
    store = opened(home)
    fill(store, 1)
    assert texts(store) == ["word 0"]
    store.close()
    assert [file.name for file in home.iterdir()] == ["forkwood.db"]


def test_killed_before_every_call_of_a_first_start(tmp_path: Path) -> None:
    killed, at = 0, 1
    while True:
        batch = [
            (tmp_path / f"home{number}", start(tmp_path / f"home{number}", number)) for number in range(at, at + 8)
        ]
        codes = [(home, program.wait(timeout=60), program.communicate()[0]) for home, program in batch]
        for home, code, said in codes:
            assert (code, said) in {(KILLED, ""), (0, "opened\n"), (KILLED, "opened\n")}
            killed += code == KILLED
            assert_nothing_or_whole(home)
        if all(code == 0 for _, code, _ in codes):
            break
        at += 8
    assert killed >= 12, "the kills did not reach into the first start"


@pytest.mark.parametrize("seed", range(12))
def test_killed_at_random_while_another_starts(tmp_path: Path, seed: int) -> None:
    home = tmp_path / "home"
    dying = start(home, random.Random(seed).randrange(1, 20))
    living = start(home, 0)
    assert living.wait(timeout=60) == 0
    dying.wait(timeout=60)
    for program in (dying, living):
        program.communicate()
    assert_nothing_or_whole(home)


def test_eight_programs_that_start_at_once_use_one_store(tmp_path: Path) -> None:
    home = tmp_path / "home"
    programs = [start(home, 0) for _ in range(8)]
    assert [program.communicate()[0] for program in programs] == ["opened\n"] * 8
    assert_nothing_or_whole(home)
