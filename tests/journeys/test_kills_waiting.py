"""A run waits in a terminal that dies: another one sees it, answers, is killed too, and it is finished all the same."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

SEARCH = {"name": "search_conversations", "arguments": {"words": "tree"}}
ASK = {"name": "ask_user", "arguments": {"questions": [{"text": "Which?", "options": ["oak", "elm"]}]}}
WORDS = "word " * 60


class Screen:
    """A process at a terminal of its own, as a person has one."""

    def __init__(self, *arguments: str) -> None:
        self.end, inside = pty.openpty()
        environ = {**os.environ, "TERM": "dumb", "PROMPT_TOOLKIT_NO_CPR": "1"}
        command = [sys.executable, "-m", "forkwood", *arguments]
        self.process = subprocess.Popen(
            command, stdin=inside, stdout=inside, stderr=inside, env=environ, start_new_session=True
        )
        os.close(inside)

    def read_until(self, words: str) -> str:
        seen = ""
        while words not in seen:
            seen += os.read(self.end, 4096).decode("utf-8", "replace")
        return seen

    def type(self, words: str) -> None:
        os.write(self.end, words.encode() + b"\r")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.end)

    def close(self) -> None:
        """The window is closed: the process is told so, and nobody reads what it says."""
        os.close(self.end)
        self.process.send_signal(signal.SIGHUP)
        self.process.wait()


@pytest.fixture
def model(tmp_path: Path) -> str:
    slow = {"text": WORDS, "chunk": 10, "pause_ms": 20}
    return scripted(tmp_path, {"text": "Let me look.", "tool_calls": [SEARCH]}, {"tool_calls": [ASK]}, slow)


def start(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "forkwood", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy())


def finish(words: tuple[str, ...]) -> None:
    """From another terminal: what waits is listed, answered, and the run is watched to its end."""
    (asked,) = given(["pending"])
    assert (asked["kind"], asked["call"]["name"]) == ("approval", "search_conversations")
    ran = run_cli("answer", asked["id"][-8:], *words)
    assert ran.code == 5, "a question follows"
    (question,) = given(["pending"])
    assert question["questions"] == [{"text": "Which?", "options": ["oak", "elm"]}]
    assert succeed("answer", question["id"][-8:], "the oak").out.endswith(WORDS + "\n")
    assert_whole()


def assert_whole() -> None:
    assert [entry["node"]["role"] for entry in given(["path"])] == ["user", *["assistant", "tool"] * 2, "assistant"]
    assert given(["path"])[-1]["node"]["text"] == WORDS
    assert [run["status"] for run in given(["runs"])] == ["done"]
    assert given(["pending"]) == []
    assert given(["doctor"])["problems"] == []
    replies = [node["id"] for node in given(["tree"]) if node["role"] == "assistant"]
    assert [given(["why", node])["verified"] for node in replies] == [True] * len(replies)


@pytest.mark.parametrize(
    ("leave", "words"),
    [(Screen.kill, ("allow",)), (Screen.close, ("allow", "--remember", "run"))],
    ids=["killed", "closed"],
)
def test_pain_37_the_terminal_of_a_chat_that_asks_is_gone_and_another_answers(
    model: str, leave: Callable[[Screen], None], words: tuple[str, ...]
) -> None:
    screen = Screen("chat", "--new", "--model", model)
    screen.read_until("> ")
    screen.type("Find trees")
    assert "search_conversations" in screen.read_until("n: deny")
    leave(screen)
    assert [run["status"] for run in given(["runs"])] == ["waiting"]
    finish(words)


def test_a_chat_that_was_answered_elsewhere_meanwhile_says_so_and_goes_on(model: str) -> None:
    screen = Screen("chat", "--new", "--model", model)
    screen.read_until("> ")
    screen.type("Find trees")
    screen.read_until("n: deny")
    (asked,) = given(["pending"])
    assert succeed("answer", asked["id"], "deny", "--no-run").code == 0
    screen.type("y")
    assert "was answered by another word already: deny" in screen.read_until("any text?")
    screen.type("1")
    screen.read_until("word word")
    screen.kill()
    (run,) = given(["runs"])
    assert succeed("resume", run["id"]).out.endswith(WORDS + "\n")
    parts = [part for entry in given(["path"]) for part in entry["node"]["parts"] if part["kind"] == "tool_result"]
    assert [part["outcome"] for part in parts] == ["denied", "ok"]


@pytest.mark.parametrize("again", ["answer", "send", "resume"])
def test_who_answers_is_killed_in_the_reply_that_follows(model: str, again: str) -> None:
    succeed("new", "--model", model)
    assert run_cli("send", "Find trees", "--key", "once").code == 5
    (asked,) = given(["pending"])
    assert run_cli("answer", asked["id"], "allow").code == 5
    (question,) = given(["pending"])
    answer = ("answer", question["id"], "the oak", "--key", "mine")
    with start(*answer) as process:
        assert process.stdout and process.stdout.read(20)
        process.kill()
    commands: dict[str, tuple[str, ...]] = {
        "answer": answer,
        "send": ("send", "Find trees", "--key", "once"),
        "resume": ("resume", given(["runs"])[0]["id"]),
    }
    assert succeed(*commands[again]).out.endswith(WORDS + "\n")
    partial: list[Any] = [node["text"] for node in given(["tree"]) if node["partial"]]
    assert all(WORDS.startswith(text) for text in partial)
    assert_whole()
