"""A process is killed in mid-stream at the command line: nothing that was acknowledged is lost, and it goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

WORDS = "word " * 400


@pytest.fixture
def killed(tmp_path: Path) -> str:
    """The id of a run whose process was killed while its reply came, sent under the key `once`."""
    succeed("new", "--model", scripted(tmp_path, {"text": WORDS, "chunk": 20, "pause_ms": 20}))
    command = [sys.executable, "-m", "forkwood", "send", "Talk", "--json", "--key", "once"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ.copy()) as process:
        assert process.stdout is not None
        heard = 0
        run = ""
        while heard < 60:
            line = json.loads(process.stdout.readline())
            heard += line["type"] == "delta"
            run = line["run"] or run
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    return run


def replies() -> list[tuple[str, bool]]:
    tree = given(["tree"])
    return [(node["text"], node["partial"]) for node in tree if node["role"] == "assistant"]


def finish(*arguments: str) -> None:
    ended = succeed(*arguments, "--json").lines[-1]
    assert (ended["type"], ended["status"], ended["text"]) == ("result", "done", WORDS)
    texts = [text for text, partial in replies() if not partial]
    assert texts == [WORDS]
    assert given(["doctor"])["ok"] is True


def test_the_message_is_there_and_the_run_is_mentioned(killed: str) -> None:
    read = succeed("path")
    assert "Talk" in read.out
    assert f"forkwood resume {killed[-8:]}" in read.err
    assert f"left at work, resume {killed[-8:]}" in succeed("tree").out
    assert succeed("runs").out.startswith(f"{killed[-8:]}  left at work")
    report = given(["doctor"])
    assert (report["ok"], len(report["notices"])) == (True, 1)


def test_the_same_command_with_the_same_key_finishes_it(killed: str) -> None:
    finish("send", "Talk", "--key", "once")
    assert [node["text"] for node in given(["tree"]) if node["role"] == "user"] == ["Talk"]


def test_resume_finishes_it(killed: str) -> None:
    finish("resume", killed)
    assert run_cli("resume", killed).code == 4


def test_the_next_chat_finishes_it(killed: str) -> None:
    ran = succeed("chat", stdin=b"")
    assert "its model is asked again" in ran.err
    assert ran.out.endswith(WORDS.rstrip() + "\n") or ran.out.endswith(WORDS + "\n")
    assert (WORDS, False) in replies()


def test_what_came_stays_as_a_partial_sibling(killed: str) -> None:
    succeed("resume", killed)
    partial = [text for text, is_partial in replies() if is_partial]
    assert len(partial) == 1
    assert partial[0].startswith("word word")
    assert WORDS.startswith(partial[0])


def test_it_can_be_cancelled_by_anybody(killed: str) -> None:
    assert given(["cancel", killed])["status"] == "cancelled"
    assert [partial for _, partial in replies()] == [True]
    assert succeed("path").err == ""
