"""One process drives a run, another follows the log: every event once and in order, and the deltas are the reply."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.surfaces.cli.desks import succeed
from tests.surfaces.cli.scripts import scripted

WORDS = "".join(f"word {number} " for number in range(60))
SLOW = {"text": WORDS, "chunk": 9, "pause_ms": 15}


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A forkwood of its own, which is gone when the body is done."""
    command = [sys.executable, "-m", "forkwood", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process: subprocess.Popen[str], until: str) -> list[dict[str, Any]]:
    """What PROCESS says, up to the first event of kind UNTIL (or the first delta, where that is UNTIL)."""
    assert process.stdout is not None
    found: list[dict[str, Any]] = []
    for line in process.stdout:
        found.append(json.loads(line))
        if until in {found[-1]["type"], found[-1].get("kind")}:
            break
    return found


def stopped(process: subprocess.Popen[str]) -> tuple[int, str]:
    """How PROCESS ends at Ctrl-C: its exit code, and what it says then."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


def test_who_follows_after_a_number_misses_nothing_that_another_process_does(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, SLOW))
    succeed("send", "before", "--no-run")
    after = succeed("log", "--json").lines[-1]["seq"]
    with started("log", "--follow", "--json", "--after", str(after)) as follower:
        for words in ("one", "two"):  # the second run begins while the log is followed
            succeed("send", words)
            told = lines(follower, "run.ended")
            events = [line["seq"] for line in told if line["type"] == "event"]
            assert events == list(range(after + 1, events[-1] + 1))
            assert "".join(line["text"] for line in told if line["type"] == "delta") == WORDS
            after = events[-1]
        assert stopped(follower) == (0, ""), "Ctrl-C is how a watch ends: nothing was interrupted"
    assert succeed("log", "--json").lines[-1]["seq"] == after


def test_windie_95_a_run_goes_on_when_who_watches_it_is_killed(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, SLOW))
    with started("send", "--json", "Talk") as driver:
        with started("log", "--follow", "--json") as follower:
            lines(follower, "delta")
        result = lines(driver, "result")[-1]
    assert (result["status"], result["text"]) == ("done", WORDS)


def test_who_begins_in_mid_reply_gets_it_whole(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, SLOW))
    with started("send", "--json", "Talk") as driver:
        lines(driver, "delta")
        with started("log", "--follow", "--json", "--after", "1") as follower:
            told = lines(follower, "run.ended")
    events = [line["seq"] for line in told if line["type"] == "event"]
    assert events == list(range(2, events[-1] + 1))
    assert "".join(line["text"] for line in told if line["type"] == "delta") == WORDS
    kept = next(line for line in told if line.get("kind") == "reply.kept")
    assert told.index(kept) > max(at for at, line in enumerate(told) if line["type"] == "delta")


def test_for_a_person_each_event_is_a_line_and_a_reader_who_leaves_ends_it(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, {"text": "Hello"}))
    succeed("send", "Hi")
    with started("log", "--follow", "--after", "0") as follower:
        assert follower.stdout is not None and follower.stderr is not None
        shown = [follower.stdout.readline().rstrip("\n") for _ in succeed("log", "--json").lines]
        assert shown == succeed("log").out.splitlines()
        follower.stdout.close()  # nothing more is written: it is told by the pipe itself
        assert follower.wait(timeout=60) == 0
        assert follower.stderr.read() == ""
