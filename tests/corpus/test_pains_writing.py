"""Pains 4 to 10 of other programs' users, where they meet them: what is written, and what a kill leaves of it."""

from __future__ import annotations

import inspect
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given as tried
from hypothesis import settings as tries
from hypothesis import strategies as some

from forkwood import wire
from forkwood.domain import words
from forkwood.domain.ids import make_id
from forkwood.domain.message import Text
from forkwood.domain.tree import Spot
from forkwood.runtime import ROOMS, Runtime
from forkwood.store import conversations
from tests.reference.houses import again, entered
from tests.runtime.doors import NOON, said, texts
from tests.runtime.world import VERBS, World
from tests.soak import trials
from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

ROOT = Path(__file__).parents[2]


def everything(runtime: Runtime) -> object:
    """All that a person can see of a house with one conversation."""
    return (
        runtime.listed(),
        runtime.tree(),
        runtime.path(),
        runtime.path(hidden=True),
        runtime.branches(),
        runtime.labels(),
        runtime.trash(),
        list(runtime.log()),
        [runtime.show(node.id).digest for node in runtime.tree() if node.kind == "message"],
    )


@tries(max_examples=trials(25))
@tried(some.lists(some.tuples(some.sampled_from(VERBS), some.integers(0, 999), some.integers(0, 999)), max_size=25))
def test_pain_4_whatever_was_done_reads_the_same_after_a_restart(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("house")
    world = World(entered(folder / "home"), again, folder)
    for verb, *draws in steps:
        world.do(verb, iter(draws))
    before = everything(world.runtime)
    world.runtime = again(world.runtime)
    assert everything(world.runtime) == before
    world.check()
    world.runtime.close()
    assert Runtime.doctor(world.runtime.house.settings, via="cli").problems == ()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("999, 1, 'user', 1000", "a node of its own conversation"),
        ("NULL, 1, 'user', 2", "a first node adds exactly its own"),
        ("1, 1, 'user', 7", "cut inside the entries"),
        ("1, 2, 'user', 2", "a node of its own conversation"),
        ("2, 1, 'tool', 3", "results hang on the reply"),
    ],
    ids=["no parent", "a first one that others are before", "wrong length", "foreign parent", "results of no call"],
)
def test_pain_5_not_even_another_program_can_write_a_message_that_hangs_nowhere(home: Path, row: str, why: str) -> None:
    """Foreign keys are off in any other program: what a parent must be is held by a trigger of the file itself."""
    for _ in range(2):
        succeed("new")
        for question in ("q1", "q2"):
            succeed("send", question, "--no-run")
    plain = sqlite3.connect(home / "forkwood.db")
    with pytest.raises(sqlite3.IntegrityError, match=why):
        plain.execute(
            f"""INSERT INTO node
                (at_node, conversation, role, length, own, hops, id, by, via, beside, parts, created_ms)
                VALUES ({row}, 1, 2, randomblob(16), 'user', 'cli', 0, '[]', 0)"""
        )
    plain.close()
    assert given(["doctor"])["ok"] is True


def test_pain_6_what_was_done_is_never_on_the_path_of_what_was_said(tmp_path: Path, home: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, {"text": "a1", "finish": "length"}))
    succeed("send", "q1")
    ids = [entry["node"]["id"] for entry in given(["path"])]
    for act in (["label", "@", "here"], ["set", "system", "Be brief."], ["hide", "@"], ["unhide", "@"], ["undo"]):
        succeed(*act)
    newest = succeed("log", "--json").lines[-1]
    assert newest["kind"] == "act.undone", "an event is the newest row of all"
    assert [entry["node"]["id"] for entry in given(["path"])][:1] == ids[:1]
    succeed("redo")
    assert [entry["node"]["id"] for entry in given(["path"])] == ids
    assert given(["ls"])[0]["head"] == ids[-1]
    plain = sqlite3.connect(home / "forkwood.db")
    hung = {row[2] for row in plain.execute("PRAGMA foreign_key_list(node)") if row[3] == "at_node"}
    plain.close()
    assert hung == {"node"}, "a message can hang at nothing else"


def speaker(home: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.corpus.speaker", name, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "FORKWOOD_HOME": str(home)},
    )


def heard(process: subprocess.Popen[str]) -> dict[str, str]:
    """What PROCESS has printed of whole lines until its end, and its end: id and text of each message."""
    assert process.stdout is not None
    lines = [line for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    process.communicate()
    return dict(line.rstrip("\n").split(" ", 1) for line in lines)


@pytest.mark.parametrize("seed", range(trials(5, times=25)))
def test_pain_7_programs_killed_while_they_write_lose_nothing_they_said(home: Path, seed: int) -> None:
    """Eight at once, each killed when it has said so many, whatever it and the others do just then: forty kills here,
    a thousand in the soak."""
    chance = random.Random(seed)
    succeed("new")
    writers = [speaker(home, name, 1_000_000) for name in "abcdefgh"]
    acknowledged: dict[str, str] = {}
    for writer in chance.sample(writers, k=len(writers)):
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(chance.randrange(1, 25))]
        writer.kill()
        acknowledged |= dict(line.rstrip("\n").split(" ", 1) for line in lines) | heard(writer)
    kept = {entry["node"]["id"]: entry["node"]["text"] for entry in given(["path"])}
    assert acknowledged.items() <= kept.items()
    assert len(kept) <= len(acknowledged) + len(writers), "at most one each whose word was cut off"
    assert given(["doctor"])["problems"] == []


def test_pain_10_eight_programs_that_write_at_once_all_get_their_turn(home: Path) -> None:
    """Forty messages each here, a thousand in the soak: none is lost, none is refused, none waits in vain."""
    succeed("new")
    count = trials(40, times=25)
    writers = [speaker(home, name, count) for name in "abcdefgh"]
    said = [writer.communicate() for writer in writers]
    acknowledged: dict[str, str] = {}
    for writer, (out, errors) in zip(writers, said, strict=True):
        assert (writer.returncode, errors) == (0, "")
        acknowledged |= dict(line.split(" ", 1) for line in out.splitlines())
    kept = {entry["node"]["id"]: entry["node"]["text"] for entry in given(["path"])}
    assert kept == acknowledged, "one path: each wrote on after whoever came before"
    assert len(kept) == 8 * count
    assert given(["doctor"])["problems"] == []


TAKEN = {"str", "str | None", "bool", "int", "int | None", "Role", "Sequence[str]", "Sequence[Path]", "Sequence[Id]"}
TAKEN |= {"str | Sequence[str]", "Callable[[int, int], None]"}


def parameters() -> Iterator[tuple[str, str]]:
    """Verb and type of every parameter of the one door."""
    for room, verbs in ROOMS.items():
        held = getattr(import_module(f"forkwood.runtime.{room.lower()}"), room)
        for verb in verbs:
            for name, found in inspect.signature(getattr(held, verb)).parameters.items():
                if name != "self":
                    yield f"{verb}({name})", found.annotation


def test_pain_8_no_verb_takes_a_conversation_a_tree_or_a_message() -> None:
    """Names, words and switches go in; what is there is never sent back to be written over itself."""
    found = list(parameters())
    assert len(found) > 50
    assert [verb for verb, annotation in found if annotation not in TAKEN] == []


def test_pain_8_a_read_that_fails_says_so_and_writes_nothing(home: Path) -> None:
    runtime = entered(home)
    runtime.new()
    said(runtime, *(f"words to fill some pages {number} " * 30 for number in range(80)))
    runtime.close()
    path = home / "forkwood.db"
    content = bytearray(path.read_bytes())
    content[-40 * 4096 :] = b"\xa5" * 40 * 4096
    path.write_bytes(content)
    codes = {verb: run_cli(verb, "--json").code for verb in ("path", "tree", "branches", "log", "ls", "runs")}
    assert codes["path"] == codes["tree"] == 7
    assert path.read_bytes() == content


INSERT = """INSERT INTO node (id, at_node, jump_node, length, hops, parts, conversation, role, own, beside, by, via,
    created_ms, jump_cut, graft_cut) VALUES (?1, ?2, ?3, ?4, ?4, ?5, 1, 'user', 1, 0, 'user', 'cli', 0, 0, 0)"""


def grow(runtime: Runtime, count: int) -> None:
    """COUNT messages behind the head of conversation 1, put into the file as appending would, but all at once."""
    with runtime.house.store.write() as tx:
        first = tx.value("SELECT max(seq) FROM node") + 1
        depth = dict(tx.rows("SELECT seq, hops FROM node"))
        jump = dict(tx.rows("SELECT seq, jump_node FROM node"))
        rows, terms = [], []
        for seq in range(first, first + count):
            up, over = seq - 1, jump[seq - 1]
            leap = over and depth[up] - depth[over] == depth[over] - depth.get(jump[over], 0)
            depth[seq], jump[seq] = depth[up] + 1, jump[over] if leap else up
            parts = (Text(text=f"word {seq}"),)
            rows.append((bytes.fromhex(make_id(NOON, seq.to_bytes(10))), up, jump[seq], depth[seq], wire.text(parts)))
            terms.append((seq, words.indexed(parts)))
        tx.connection.executemany(INSERT, rows)
        tx.connection.executemany("INSERT INTO search (rowid, words) VALUES (?, ?)", terms)
        conversations.move_head(tx, 1, Spot(first + count - 1), NOON)


def bytes_of_twenty(runtime: Runtime, home: Path) -> int:
    """What twenty messages, each an act of its own, add to the write-ahead log."""
    assert runtime.house.store.checkpoint()
    for number in range(20):
        runtime.send(f"word {number}", run=False)
    return (home / "forkwood.db-wal").stat().st_size


def test_pain_9_a_message_costs_as_many_bytes_behind_fifty_thousand_as_behind_a_hundred(home: Path) -> None:
    runtime = entered(home)
    runtime.new()
    said(runtime, *(f"word {number}" for number in range(100)))
    early = bytes_of_twenty(runtime, home)
    grow(runtime, 50_000)
    bytes_of_twenty(runtime, home)  # the search index still sorts what came at once
    late = bytes_of_twenty(runtime, home)
    assert late <= early * 1.4, (early, late)
    assert late <= 20 * 80_000
    assert runtime.path("@")[-1].node.length == 50_160
    assert texts(runtime, "#100")[-1] == "word 99"
    runtime.close()
    assert Runtime.doctor(runtime.house.settings, via="cli").problems == (), "it was put in as appending would"
