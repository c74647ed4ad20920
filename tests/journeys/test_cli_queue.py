"""Several processes and one run at work: what is said meanwhile waits or steers, survives a kill, and is done once."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.test_cli_left import heard, start
from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

SLOW = {"match": "^Hi", "text": "First reply.", "chunk": 1, "pause_ms": 150}
ASKS = {
    "match": "^Hi",
    "tool_calls": [{"name": "search_conversations", "arguments": {"words": "anything"}}],
}


def model(folder: Path, *first: dict[str, Any]) -> str:
    replies = [{"match": word, "text": f"Reply to {word}."} for word in ("one", "two", "left", "more")]
    return scripted(folder, *first, *replies)


@pytest.fixture
def slow(tmp_path: Path) -> subprocess.Popen[str]:
    """A process whose reply has begun to come and takes its time."""
    succeed("new", "--model", model(tmp_path, SLOW))
    process = start("send", "--json", "Hi")
    heard(process)
    return process


def rest_of(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    out, _ = process.communicate(timeout=60)
    return [json.loads(line) for line in out.splitlines()]


def texts() -> list[str]:
    return [entry["node"]["text"] for entry in given(["path"])]


def test_windie_94_what_is_said_meanwhile_waits_and_its_reply_comes_in_the_first_process(
    slow: subprocess.Popen[str], tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("words of a note")
    waiting = [given(["send", "one"]), given(["send", "two", "--attach", str(note)])]
    assert [(one["state"], one["node"]) for one in waiting] == [("waiting", None)] * 2
    assert len(given(["queue"])) == 2
    lines = rest_of(slow)
    assert slow.returncode == 0
    assert texts() == ["Hi", "First reply.", "one", "Reply to one.", "two", "Reply to two."]
    results = [line["text"] for line in lines if line["type"] == "result"]
    assert results == ["Reply to one.", "Reply to two.", "First reply."]
    assert lines[-1]["type"] == "result", "its own Result is the last line"
    assert "Reply to two." in "".join(line["text"] for line in lines if line["type"] == "delta")
    assert given(["path"])[4]["node"]["parts"][1]["name"] == "note.txt"
    assert given(["doctor"])["ok"] is True


def test_the_exit_code_is_that_of_its_own_run(tmp_path: Path) -> None:
    failing = {"match": "one$", "text": "x", "fail": {"status": 401, "times": 9}}
    succeed("new", "--model", scripted(tmp_path, SLOW, failing, {"match": "two$", "text": "Reply to two."}))
    with start("send", "--json", "Hi") as process:
        heard(process)
        succeed("send", "one")
        succeed("send", "two")
        lines = rest_of(process)
    assert process.returncode == 0
    assert [line["status"] for line in lines if line["type"] == "result"] == ["failed", "done", "done"]
    assert texts() == ["Hi", "First reply.", "one", "two", "Reply to two."]


def test_a_steer_that_comes_behind_the_last_reply_goes_first(slow: subprocess.Popen[str]) -> None:
    succeed("send", "one")
    steering = given(["send", "left", "--steer"])
    assert steering["steers"] is True
    rest_of(slow)
    assert texts()[2::2] == ["left", "one"]


def test_a_killed_process_leaves_all_of_it_to_the_next(slow: subprocess.Popen[str]) -> None:
    succeed("send", "one")
    succeed("send", "left", "--steer")
    slow.send_signal(signal.SIGKILL)
    slow.communicate(timeout=60)
    assert len(given(["queue"])) == 2, "no acknowledged word is lost"
    ran = succeed("send", "more")
    assert ran.out == "Reply to more.\n"
    said = texts()
    assert [text for text in said if not text.startswith(("Reply", "First"))] == ["Hi", "left", "one", "more"]
    assert given(["queue"]) == []
    assert given(["doctor"])["ok"] is True


def test_a_cancel_from_another_process_holds_the_queue_until_somebody_goes_on(slow: subprocess.Popen[str]) -> None:
    run = given(["send", "one"])["behind"]
    succeed("cancel", run)
    rest_of(slow)
    assert slow.returncode == 130
    assert [one["state"] for one in given(["queue"])] == ["held"]
    assert "First reply." not in texts()
    ran = succeed("resume", run)
    assert "What was held comes after it (1 message)" in ran.err
    assert ran.out.endswith("Reply to one.\n")
    assert texts()[-2:] == ["one", "Reply to one."]


def test_what_is_typed_while_a_run_waits_for_an_answer_waits_too(tmp_path: Path) -> None:
    succeed("new", "--model", model(tmp_path, ASKS))
    assert run_cli("send", "Hi").code == 5
    ran = run_cli("chat", stdin=b"one\n")
    assert "Queued as " in ran.out and "waits for an answer: /pending" in ran.out
    [asked] = given(["pending"])
    succeed("answer", asked["id"], "allow")
    assert texts()[-2:] == ["one", "Reply to one."]


@pytest.mark.parametrize("begun", [True, False])
def test_panelot_22_28_two_processes_with_one_key_say_it_once(tmp_path: Path, *, begun: bool) -> None:
    name = scripted(tmp_path, {"text": "Once.", "chunk": 1, "pause_ms": 100})
    if begun:
        succeed("new")
    both = [start("send", "Hello", "--model", name, "--key", "K", "--json") for _ in range(2)]
    results = [rest_of(process)[-1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert results[0] == results[1]
    assert (results[0]["type"], results[0]["text"]) == ("result", "Once.")
    assert texts() == ["Hello", "Once."]
    assert len(given(["runs"])) == 1
    assert len(given(["ls"])) == 1, "nor is a second conversation begun"


def test_two_processes_with_one_key_wait_once(slow: subprocess.Popen[str]) -> None:
    both = [start("send", "one", "--key", "K", "--json") for _ in range(2)]
    first, second = (rest_of(process) for process in both)
    assert first[0]["id"] == second[0]["id"]
    rest_of(slow)
    assert texts() == ["Hi", "First reply.", "one", "Reply to one."]
