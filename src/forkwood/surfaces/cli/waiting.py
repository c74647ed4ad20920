"""A sign of life for whatever takes longer than a second: on a person's screen, and gone when it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from forkwood.surfaces.cli.terminal import CLEARED, Terminal
from forkwood.surfaces.cli.words import bytes_of

QUIET_SECONDS = 1.0
TURN_SECONDS = 0.12
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_ASCII = "|/-\\"


@contextmanager
def waiting(what: str, terminal: Terminal) -> Iterator[None]:
    """While the body runs: after a second, WHAT with a turning mark on standard error. Silent where nobody watches."""
    if not terminal.err.isatty():
        yield
        return
    over = Event()
    thread = Thread(target=_turn, args=(what, terminal, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def progress(what: str, terminal: Terminal) -> Iterator[Callable[[int, int], None]]:
    """While the body runs: what it tells of bytes done, of all, with WHAT on a person's screen."""
    shown = terminal.err.isatty()

    def told(done: int, total: int) -> None:
        if shown:
            terminal.note_part(f"\r{what}: {bytes_of(done)} of {bytes_of(total)}\x1b[K")

    try:
        yield told
    finally:
        if shown:
            terminal.note_part(CLEARED)


def _turn(what: str, terminal: Terminal, over: Event) -> None:
    if over.wait(QUIET_SECONDS):
        return
    frames = FRAMES_ASCII if terminal.pen.glyphs.rule.isascii() else FRAMES
    turn = 0
    while not over.wait(TURN_SECONDS):
        terminal.note_part(f"\r{frames[turn % len(frames)]} {what} ...")
        terminal.turning = True
        turn += 1
    terminal.note_part(CLEARED)
    terminal.turning = False
