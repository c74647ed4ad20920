"""kill -9 of a real `forkwood send` at every commit and at random moments, and several of them at once with one key."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

WORDS = "".join(f"word {number} " for number in range(60))
SLOW = {"text": WORDS, "chunk": 10, "pause_ms": 10}
SEND = ("send", "Talk", "--json", "--key", "once")
DYING = """
import os, runpy, signal, sys
import apsw
hook, wanted, *sys.argv[1:] = sys.argv[1:]
left = int(wanted)

def die(*_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return 0

apsw.connection_hooks.append(lambda connection: connection.filename and getattr(connection, hook)(die))
runpy.run_module("forkwood", run_name="__main__", alter_sys=True)
"""
"""The program, killed when SQLite is about to commit to a file (set_commit_hook) or has just done so (set_wal_hook)."""


def start(*arguments: str, before: tuple[str, ...] = ("-m", "forkwood")) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, *before, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy()
    )


def lines_of(said: bytes) -> list[Any]:
    """The whole JSON lines in what a process had said when it was killed."""
    return [msgspec.json.decode(line) for line in said.splitlines(keepends=True) if line.endswith(b"\n")]


def read_until(process: subprocess.Popen[bytes], wanted: Callable[[Any], bool]) -> list[Any]:
    """What PROCESS says up to the first line that is WANTED."""
    assert process.stdout is not None
    said: list[Any] = []
    while not said or not wanted(said[-1]):
        line = process.stdout.readline()
        assert line, f"it ended first: {said[-1:]}"
        said.append(msgspec.json.decode(line))
    return said


def is_delta(line: Any) -> bool:
    return bool(line["type"] == "delta")


def texts(role: str, *, partial: bool = False) -> list[str]:
    return [node["text"] for node in given(["tree"]) if (node["role"], node["partial"]) == (role, partial)]


def assert_kept(said: list[Any]) -> None:
    """The store opens, and what the dead process had told is in it."""
    assert given(["doctor"])["problems"] == []
    told = {line["node"] for line in said if line.get("node")}
    assert told <= {node["id"] for node in given(["tree"])}
    assert not said or texts("user") == ["Talk"]
    assert {line["run"] for line in said if line.get("run")} <= {run["id"] for run in given(["runs"])}


def assert_finished_by(*command: str) -> None:
    """The same command again: one message, one run, one whole reply; what was broken off is marked."""
    result = succeed(*command).lines[-1]
    assert (result["type"], result["status"], result["text"]) == ("result", "done", WORDS)
    assert (texts("user"), texts("assistant")) == (["Talk"], [WORDS])
    assert all(WORDS.startswith(text) for text in texts("assistant", partial=True))
    assert [run["status"] for run in given(["runs"])] == ["done"]
    assert [entry["node"]["text"] for entry in given(["path"])] == ["Talk", WORDS]
    report = given(["doctor"])
    assert (report["ok"], report["notices"]) == (True, [])
    assert succeed(*command).lines[-1] == result, "and once more, as it stands"


@pytest.mark.parametrize("seed", range(10))
def test_killed_at_any_moment_a_send_is_finished_by_the_same_key(tmp_path: Path, seed: int) -> None:
    succeed("new", "--model", scripted(tmp_path, SLOW))
    process = start(*SEND)
    try:
        process.wait(timeout=random.Random(seed).uniform(0.05, 1.4))
    except subprocess.TimeoutExpired:
        process.kill()
    said = lines_of(process.communicate()[0])
    assert_kept(said)
    assert_finished_by(*SEND)


def test_killed_in_mid_stream_what_came_is_kept_and_marked(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, {**SLOW, "pause_ms": 25}))
    with start(*SEND) as process:
        said = read_until(process, lambda line: is_delta(line) and "word 40" in line["text"])
        process.kill()
    assert_kept(said)
    assert_finished_by(*SEND)
    (kept,) = texts("assistant", partial=True)
    heard = "".join(line["text"] for line in said if is_delta(line))
    assert len(kept) > len(heard) // 2, "all but the last quarter of a second"
    broken_off = next(node for node in given(["tree"]) if node["partial"])
    assert broken_off["partial_reason"] == "interrupted"
    assert [notice["what"] for notice in given(["path", broken_off["id"]])[-1]["notices"]] == ["recovered"]


@pytest.mark.parametrize("hook", ["set_commit_hook", "set_wal_hook"])
def test_killed_in_every_commit_of_a_send_nothing_is_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    quick = scripted(tmp_path, {"text": WORDS})
    killed = 0
    for commit in range(1, 40):
        monkeypatch.setenv("FORKWOOD_HOME", str(tmp_path / f"home {commit}"))
        succeed("new", "--model", quick)
        process = start(hook, str(commit), *SEND, before=("-c", DYING))
        out, errors = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), errors
        assert_kept(lines_of(out))
        assert_finished_by(*SEND)
        if process.returncode == 0:
            break
        killed += 1
    assert process.returncode == 0
    assert killed >= 4, "message, driver with its manifest, turn, reply with its end"


@pytest.mark.parametrize("hook", ["set_commit_hook", "set_wal_hook"])
def test_killed_in_every_commit_of_a_first_start_the_next_one_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    model = scripted(tmp_path, SLOW)
    for commit in range(1, 40):
        home = tmp_path / f"home {commit}"
        monkeypatch.setenv("FORKWOOD_HOME", str(home))
        process = start(hook, str(commit), "new", "--model", model, "--key", "first", before=("-c", DYING))
        errors = process.communicate()[1]
        assert process.returncode in (0, -signal.SIGKILL), errors
        made = given(["new", "--model", model, "--key", "first"])
        assert [row["id"] for row in given(["ls"])] == [made["id"]]
        assert given(["doctor"])["ok"] is True
        assert [path.name for path in home.iterdir() if "new" in path.name or "tmp" in path.name] == []
        if process.returncode == 0:
            break
    assert (process.returncode, commit > 1) == (0, True), "killed at least once, and not for ever"


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_any_moment_of_a_first_start_the_next_one_begins(tmp_path: Path, home: Path, seed: int) -> None:
    model = scripted(tmp_path, SLOW)
    process = start("new", "--model", model, "--key", "first")
    try:
        process.wait(timeout=random.Random(seed).uniform(0.05, 0.5))
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()
    assert not (home / "forkwood.db").exists() or (home / "forkwood.db").stat().st_size > 0
    made = given(["new", "--model", model, "--key", "first"])
    assert [row["id"] for row in given(["ls"])] == [made["id"]]
    assert_finished_by(*SEND)


@pytest.mark.parametrize("count", [2, 4])
def test_processes_that_send_one_key_at_once_make_one_message_one_run_and_one_result(
    tmp_path: Path, count: int
) -> None:
    succeed("new", "--model", scripted(tmp_path, SLOW))
    processes = [start(*SEND) for _ in range(count)]
    ends = [process.communicate(timeout=120) for process in processes]
    assert [(process.returncode, errors) for process, (_, errors) in zip(processes, ends, strict=True)] == [
        (0, b"")
    ] * count
    results = [lines_of(out)[-1] for out, _ in ends]
    assert results == [results[0]] * count
    assert_finished_by(*SEND)
    assert texts("assistant", partial=True) == []
    kinds = [event["kind"] for event in succeed("log", "--json").lines]
    assert (kinds.count("message.sent"), kinds.count("run.driven"), kinds.count("run.ended")) == (1, 1, 1)


def test_who_follows_takes_over_at_once_when_the_driver_dies(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, {**SLOW, "pause_ms": 40}))
    with start(*SEND) as driver:
        read_until(driver, is_delta)
        with start(*SEND) as heir:
            read_until(heir, is_delta)
            driver.kill()
            out, errors = heir.communicate(timeout=60)
    assert (heir.returncode, errors) == (0, b"")
    result = lines_of(out)[-1]
    assert (result["status"], result["text"]) == ("done", WORDS)
    assert_finished_by(*SEND)
    assert len(texts("assistant", partial=True)) == 1


def test_another_text_under_the_same_key_is_refused_also_after_a_kill(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, SLOW))
    with start(*SEND) as process:
        read_until(process, is_delta)
        process.kill()
    ran = run_cli("send", "Something else", "--json", "--key", "once")
    assert (ran.code, ran.value["error"]["kind"]) == (4, "conflict")
    assert texts("user") == ["Talk"]
    assert_finished_by(*SEND)
