"""The chat at a screen: several lines, history out of the store, completion, Ctrl-C, Ctrl-D, in a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from forkwood.surfaces.cli import named
from forkwood.surfaces.cli.chat_input import EarlierWords, Verbs, entering
from forkwood.surfaces.cli.desk import Desk
from tests.surfaces.cli.desks import given, succeed, terminal
from tests.surfaces.cli.scripts import echoing, scripted


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk with a conversation of two messages of a person, one of them hidden later."""
    succeed("new", "--model", echoing(tmp_path), "--title", "Trees")
    for text in ("First words", "Second words", "First words"):
        succeed("send", text, "--no-run")
    with Desk(terminal(**os.environ)) as here:  # type: ignore[arg-type]
        yield here


def test_what_was_said_comes_from_the_store_newest_first(desk: Desk) -> None:
    assert list(EarlierWords(desk).load_history_strings()) == ["First words", "Second words"]
    desk.runtime.hide("#1")
    desk.runtime.purge(["#2"])
    assert list(EarlierWords(desk).load_history_strings()) == ["First words"]


def completed(desk: Desk, line: str) -> list[str]:
    return [found.text for found in Verbs(desk).get_completions(Document(line), CompleteEvent())]


def test_verbs_and_names_are_completed(desk: Desk) -> None:
    assert completed(desk, "/sw") == ["switch"]
    assert completed(desk, "/mod") == ["models", "model"]
    assert completed(desk, "Hello /sw") == []
    assert completed(desk, "//sw") == []
    nodes = completed(desk, "/switch ")
    assert nodes == ["@", *(entry.node.id[-8:] for entry in reversed(desk.runtime.path()))]
    assert completed(desk, f"/drop {nodes[1][:6]}")[0] == nodes[1]
    assert completed(desk, "/use ") == [desk.runtime.conversation().id[-8:]]
    assert "temperature" in completed(desk, "/set ")
    assert completed(desk, "/nonsense ") == []


def test_a_word_is_completed_to_what_can_stand_there(desk: Desk) -> None:
    models = ["embedded:smollm2"]
    assert completed(desk, "/model e") == models
    assert completed(desk, "/set model ") == models
    assert completed(desk, "/model x:y ") == []
    assert completed(desk, "/retry @ --model ") == models
    assert completed(desk, "/new ") == []
    assert completed(desk, "/new --title T --model ") == models
    assert completed(desk, "/send Hello ") == []
    assert completed(desk, "/set title ") == []
    assert completed(desk, "/models ") == ["use", "pull", "key"]
    assert completed(desk, "/models use ") == models
    assert completed(desk, "/models nonsense ") == []
    assert len(completed(desk, "/purge @ ")) == 4


def test_servers_are_asked_once_and_not_at_each_key(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    verbs, asked = Verbs(desk), list[str]()

    def reached(*_: object) -> list[tuple[str, str]]:
        asked.append("again")
        return [("a:b", "")]

    monkeypatch.setattr(named.MODEL, "candidates", reached)
    for line in ("/model a", "/model a:", "/new --model "):
        assert [found.text for found in verbs.get_completions(Document(line), CompleteEvent())] == ["a:b"]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("line", "left", "shown"),
    (("/swi", "/switch", ()), ("/mod", "/model", ("models", "model")), ("Hello /swi", "Hello /swi", ())),
)
def test_tab_puts_in_the_one_word_that_fits_and_shows_several(
    desk: Desk, line: str, left: str, shown: tuple[str, ...]
) -> None:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        asking: PromptSession[str] = PromptSession(
            completer=Verbs(desk), key_bindings=entering(), complete_while_typing=False, multiline=True
        )
        seen: list[str] = []

        def look(_: object) -> None:
            state = asking.default_buffer.complete_state
            if state and not seen:
                seen.extend(found.text for found in state.completions)
                keys.send_text("\r")

        asking.default_buffer.on_completions_changed += look
        keys.send_text(f"{line}\t" if shown else f"{line}\t\r")
        assert asking.prompt("") == left
    assert tuple(seen) == shown


READY = "\x1b[?2004h"
"""A prompt stands there and takes what is pasted."""


class Screen:
    """A real `forkwood` in a pseudo-terminal: what it shows is read, what is typed is written."""

    def __init__(self, *arguments: str) -> None:
        self.child, self.fd = pty.fork()
        if self.child == 0:
            environ = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
            os.execve(sys.executable, [sys.executable, "-m", "forkwood", *arguments], environ)
        self.shown = ""

    def until(self, words: str, seconds: float = 60.0) -> str:
        """Read until WORDS are on the screen; what was shown up to there."""
        while words not in self.shown:
            ready, _, _ = select.select([self.fd], [], [], seconds)
            assert ready, f"{words!r} is not shown: {self.shown[-2000:]!r}"
            self._read()
        before, _, self.shown = self.shown.partition(words)
        return before

    def type(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def end(self) -> int:
        """Read what is left; the exit code."""
        while self._read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])

    def _read(self) -> bool:
        try:
            found = os.read(self.fd, 65536).decode(errors="replace")
        except OSError:
            return False
        if "\x1b[6n" in found:
            self.type("\x1b[1;1R")
        self.shown += found
        return bool(found)


def test_a_person_talks_at_a_screen(tmp_path: Path) -> None:
    slow = {"match": "slowly", "text": "word " * 100_000, "chunk": 5, "pause_ms": 20}
    succeed("new", "--model", scripted(tmp_path, slow, {"text": "A *fine* reply.", "usage": {"input": 3, "output": 4}}))
    screen = Screen()
    screen.until("/help the rest")
    screen.until(READY)
    screen.type("Hello,\x1b\rin two lines\r")
    screen.until("fine")
    screen.until(" tokens")
    screen.until(READY)
    screen.type("quit\r")
    screen.until("/quit or Ctrl-D leaves")
    screen.until(READY)
    screen.type("Talk slowly\r")
    screen.until("word word")
    assert not termios.tcgetattr(screen.fd)[3] & termios.ECHO
    screen.type("\x03")
    screen.until("marked partial")
    screen.until(READY)
    screen.type("thrown away\x03")
    screen.until(READY)
    screen.type("Talk slowly again\r")
    screen.until("word word")
    screen.type("/branches\r")
    succeed("cancel")
    screen.until("What you typed meanwhile comes next.")
    screen.until("6 messages")
    screen.until(READY)
    screen.type("/new --model emb")
    screen.until("embedded")
    screen.type("\x03")
    screen.until(READY)
    screen.type("/branches\r")
    screen.until("6 messages")
    screen.until(READY)
    screen.type("\x04")
    assert screen.end() == 0
    said = [(entry["node"]["text"][:20], entry["node"]["partial"]) for entry in given(["path"])]
    assert said[:3] == [("Hello,\nin two lines", False), ("A *fine* reply.", False), ("Talk slowly", False)]
    assert said[3][1] is True
    assert len(said) == 6
