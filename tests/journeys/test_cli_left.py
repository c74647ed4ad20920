"""A process died while its reply came: the next thing that is said waits for that reply, and shows its own alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.desks import given, succeed
from tests.surfaces.cli.scripts import scripted

WORDS = "word " * 60
FINISHING = "A run was left here that is not over"
AGAIN = "it goes on first, and what had come is kept."


@pytest.fixture
def left(tmp_path: Path) -> str:
    """The id of a run whose process was killed in mid-reply."""
    succeed("new", "--model", talkative(tmp_path))
    return killed("Talk")


def talkative(folder: Path, words: str = WORDS) -> str:
    return scripted(folder, {"text": words, "chunk": 10, "pause_ms": 20})


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "forkwood", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy())


def killed(*words: str) -> str:
    with start("send", "--json", *words) as process:
        run: str = heard(process)["run"]
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    return run


def heard(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The first delta that PROCESS gives."""
    assert process.stdout is not None
    return next(line for line in map(json.loads, process.stdout) if line["type"] == "delta")


@pytest.fixture
def other(tmp_path: Path) -> str:
    return scripted(tmp_path, {"text": "Something else."}, file="other.json")


def texts() -> list[str]:
    return [entry["node"]["text"] for entry in given(["path"])]


def test_the_next_message_stands_behind_the_reply_that_was_left(left: str, other: str) -> None:
    ran = succeed("send", "Next", "--model", other)
    assert ran.out == "Something else.\n"
    assert ran.err.startswith(f"{FINISHING} (run {left[-8:]}): {AGAIN}\nIt is done. It is kept as ")
    assert texts() == ["Talk", WORDS, "Next", "Something else."]
    assert given(["doctor"])["ok"] is True


@pytest.mark.parametrize("arguments", (["edit", "@~1", "Speak"], ["retry", "@"], ["retry", "@~1"]))
def test_an_edit_and_a_retry_wait_for_it_too(left: str, other: str, arguments: list[str]) -> None:
    ran = succeed(*arguments)
    assert (ran.out, FINISHING in ran.err) == (WORDS + "\n", True)
    assert [run["status"] for run in given(["runs"])] == ["done", "done"]
    assert "Finishing" not in succeed("send", "Again", "--model", other).err


def test_as_json_it_is_lines_like_any_other(left: str, other: str) -> None:
    lines = succeed("send", "Next", "--model", other, "--json").lines
    results = [line for line in lines if line["type"] == "result"]
    assert [(line["run"] == left, line["text"]) for line in results] == [(True, WORDS), (False, "Something else.")]
    runs = [line["run"] for line in lines if line["run"]]
    assert runs == sorted(runs, key=[left, results[1]["run"]].index)


def test_several_that_were_left_are_finished_one_by_one(tmp_path: Path, other: str) -> None:
    slow = talkative(tmp_path)
    succeed("new")
    killed("Talk", "--model", slow, "--model", slow)
    left = [run["id"] for run in reversed(given(["runs"]))]
    ran = succeed("send", "Next", "--model", other)
    assert ran.out == "Something else.\n"
    said = [line for line in ran.err.splitlines() if FINISHING in line]
    assert said == [f"{FINISHING} (run {run[-8:]}): {AGAIN}" for run in left]
    assert texts() == ["Talk", WORDS, "Next", "Something else."]


@pytest.mark.parametrize("which", [0, 1])
def test_resume_drives_what_else_was_left_there(tmp_path: Path, which: int) -> None:
    slow = talkative(tmp_path)
    succeed("new")
    killed("Talk", "--model", slow, "--model", slow)
    left = [run["id"] for run in given(["runs"])]
    results = [line for line in succeed("resume", left[which], "--json").lines if line["type"] == "result"]
    assert [line["run"] for line in results] == [left[1 - which], left[which]], "the one that was named comes last"
    assert {line["status"] for line in results} == {"done"}


def test_a_command_that_only_reads_drives_nothing(tmp_path: Path) -> None:
    succeed("new")
    killed("Talk", "--model", talkative(tmp_path))
    (run,) = given(["runs"])
    for reads in (
        ["path"],
        ["tree"],
        ["runs"],
        ["pending"],
        ["log"],
        ["ls"],
        ["show"],
        ["switch", "@"],
        ["search", "x"],
    ):
        succeed(*reads)
    assert given(["runs"]) == [run]


def test_one_who_does_not_want_it_ends_it_and_says_nothing(tmp_path: Path) -> None:
    succeed("new", "--model", talkative(tmp_path, "word " * 100_000))
    killed("Talk")
    with start("send", "Next") as process:
        assert process.stderr is not None
        assert FINISHING in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "interrupted" in err
    assert [run["status"] for run in given(["runs"])] == ["cancelled"]
    assert texts()[0] == "Talk"
    assert "Next" not in texts()


def test_what_another_process_answers_is_neither_shown_nor_awaited_nor_ended(tmp_path: Path, other: str) -> None:
    succeed("new", "--model", talkative(tmp_path, "word " * 100_000))
    succeed("send", "Before", "--no-run")
    with start("send", "Talk", "--json") as process:
        run = heard(process)["run"]
        assert succeed("send", "Next", "--at", "@~1", "--model", other).out == "Something else.\n"
        assert [found["status"] for found in given(["runs"]) if found["id"] == run] == ["running"]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
