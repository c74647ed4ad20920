"""Writers that are killed, that meet, that run out of disk: what they said is there, the rest is not half there."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.store import verify
from forkwood.store.db import Store
from tests.store.breaking import nobody
from tests.store.seeds import add_conversation, add_message, opened, texts

ROOT = Path(__file__).parents[2]


def start(home: Path, name: str, commits: int, *more: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.crash.writer", str(home), name, str(commits), *map(str, more)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def with_a_conversation(home: Path) -> None:
    store = opened(home)
    with store.write() as tx:
        add_conversation(tx, 1)
    store.close()


def numbers(home: Path, name: str) -> list[int]:
    store = opened(home)
    try:
        return [int(text.split()[1]) for text in texts(store) if text.startswith(f"{name} ")]
    finally:
        store.close()


@pytest.mark.parametrize("seed", range(10))
def test_pain_7_a_writer_killed_at_any_moment_loses_nothing_it_said(home: Path, seed: int) -> None:
    with_a_conversation(home)
    chance = random.Random(seed)
    for generation in "abc":
        writer = start(home, generation, 1_000_000)
        said = acknowledged(writer, chance.randrange(1, 60))
        found = numbers(home, generation)
        assert found[: said + 1] == list(range(said + 1))
        assert len(found) in (said + 1, said + 2), "at most the one whose word was cut off"
    store = opened(home)
    assert verify.examine(store, nobody).problems == ()


def acknowledged(writer: subprocess.Popen[str], kill_after: int) -> int:
    """Kill WRITER when it has said so many numbers, whatever it does just then; the last number it said at all."""
    assert writer.stdout is not None
    heard = [writer.stdout.readline() for _ in range(kill_after)]
    writer.kill()
    rest = writer.stdout.read()
    writer.communicate()
    return int([*heard, *(line for line in rest.splitlines(keepends=True) if line.endswith("\n"))][-1])


def test_pain_10_eight_writers_lose_nothing(home: Path) -> None:
    with_a_conversation(home)
    writers = [start(home, name, 25) for name in "abcdefgh"]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert (writer.returncode, errors) == (0, "")
    store = opened(home)
    found = texts(store)
    assert len(found) == 200
    for name in "abcdefgh":
        assert numbers(home, name) == list(range(25))
    with store.read() as tx:
        assert tx.value("SELECT max(length) FROM node") == 200, "each wrote on after the one before, whoever that was"


def test_pain_10_a_writer_that_waited_in_vain_fails_and_names_the_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "busy_ms", 50)
    with_a_conversation(home)
    first, second = opened(home), opened(home)
    with first.write(), pytest.raises(StoreUnusable) as caught, second.write():
        pytest.fail("both write")
    assert str(home / "forkwood.db") in caught.value.message


def allow(store: Store, pages: int) -> None:
    """Let the store have so many pages and no more: to this connection the disk is full then."""
    with store.read() as tx:
        tx.value(f"PRAGMA max_page_count = {pages}")


def add_many(store: Store) -> None:
    """Fifty messages in one transaction."""
    with store.write() as tx:
        at = None
        for number in range(50):
            at = add_message(tx, 1, at, f"many {number} " + "words " * 200)


def test_d3_a_disk_that_fills_in_mid_transaction_leaves_nothing_half_stored(home: Path) -> None:
    with_a_conversation(home)
    store = opened(home)
    with store.read() as tx:
        most = tx.value("PRAGMA page_count")
    allow(store, most + 3)
    with pytest.raises(StoreUnusable) as caught:
        add_many(store)
    assert (caught.value.facts["reason"], caught.value.facts["path"]) == ("full", str(home / "forkwood.db"))
    assert "make room" in caught.value.hint
    assert texts(store) == []
    allow(store, most + 10_000)
    add_many(store)
    assert len(texts(store)) == 50
    assert verify.examine(store, nobody).problems == ()


@pytest.mark.parametrize("kib", [250, 300, 420, 700])
def test_a_file_that_may_not_grow_keeps_what_was_said(home: Path, kib: int) -> None:
    """The system itself refuses the bytes, in the file or in its log, whichever grows first."""
    with_a_conversation(home)
    writer = start(home, "a", 100_000, kib * 1024)
    said, errors = writer.communicate(timeout=120)
    assert writer.returncode == 1
    assert errors.startswith(("full: ", "disk: "))
    assert str(home / "forkwood.db") in errors
    assert numbers(home, "a") == [int(line) for line in said.splitlines()]
    store = opened(home)
    assert verify.examine(store, nobody).problems == ()
    add_many(store)


READ_ONLY = """
import ctypes, os, sys
from pathlib import Path
from forkwood.domain.errors import StoreUnusable
from forkwood.store.opening import open_store

def lay_down_the_powers_of_root():
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if os.geteuid() == 0 and ctypes.CDLL(None, use_errno=True).capset(header, nothing) != 0:
        sys.exit("capset failed")

lay_down_the_powers_of_root()
try:
    store = open_store(Path(sys.argv[1]), now_ms=1)
    with store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
except StoreUnusable as error:
    print(error.facts["reason"], error.hint)
"""


@pytest.mark.parametrize(
    ("folder_mode", "file_mode"), [(0o500, None), (0o500, 0o600), (0o700, 0o400), (0o500, 0o400)], ids=str
)
def test_what_may_only_be_read_is_said_and_left_as_it_is(home: Path, folder_mode: int, file_mode: int | None) -> None:
    """Permissions do not stop root, so the program lays down the powers that let it pass."""
    home.mkdir()
    if file_mode is not None:
        with_a_conversation(home)
        (home / "forkwood.db").chmod(file_mode)
    before = {file.name: file.read_bytes() for file in home.iterdir()}
    home.chmod(folder_mode)
    try:
        said = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(home)], cwd=ROOT, capture_output=True, text=True, check=True
        )
    finally:
        home.chmod(0o700)
    assert said.stdout.startswith("read-only ")
    assert "FORKWOOD_HOME" in said.stdout
    assert {file.name: file.read_bytes() for file in home.iterdir()} == before
