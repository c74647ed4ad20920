"""`make run` at a screen: Ctrl-C ends a reply, and leaving later ends make well."""

from __future__ import annotations

import os
import pty
from pathlib import Path

from tests.surfaces.cli.desks import succeed
from tests.surfaces.cli.scripts import scripted
from tests.surfaces.cli.test_chat_input import READY, Screen

CHECKOUT = Path(__file__).parents[2]


class Making(Screen):
    """A real `make run` in a pseudo-terminal, with the set-up done."""

    def __init__(self) -> None:
        self.child, self.fd = pty.fork()
        if self.child == 0:
            environ = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
            os.chdir(CHECKOUT)
            os.execvpe("make", ["make", "-o", "setup", "run"], environ)
        self.shown = ""


def test_a_reply_that_was_ended_is_no_failure_of_make(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, {"text": "word " * 100_000, "chunk": 5, "pause_ms": 20}))
    screen = Making()
    screen.until("/help the rest")
    screen.until(READY)
    screen.type("Talk slowly\r")
    screen.until("word word")
    screen.type("\x03")
    screen.until("marked partial")
    screen.until(READY)
    screen.type("\x04")
    assert screen.end() == 0
