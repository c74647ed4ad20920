"""Where a person or a program sits: what they type, what is written to them, and what their screen can show."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, TextIO

from forkwood import wire
from forkwood.domain.text import storable, storable_value
from forkwood.surfaces.cli.glyphs import ASCII, COLOURED, PLAIN, UNICODE, Pen
from forkwood.surfaces.cli.screen_text import wrapped

ELLIPSIS = "…"
_GIVEN = re.compile(r"forkwood (?!chat|completion|--)")
"""A command as a shell takes it, but for those that a chat has not."""
CLEARED = "\r\x1b[K"
"""Goes back to the beginning of the line and empties it."""
SCREEN_WIDTH = 80
MARGIN = 2
PIPE_WIDTH = 100
"""Columns a drawing may take where no screen says how many there are."""


class Terminal:
    """The standard streams of one process. Writing never fails for a character, nor for a reader that left."""

    def __init__(self, stdin: TextIO, out: TextIO, err: TextIO, environ: Mapping[str, str]) -> None:
        self.stdin = stdin
        self.out = out
        self.err = err
        self.environ = environ
        self.turning = False
        """Whether a sign of life stands on the line of standard error: it gives way to what is noted."""
        self.in_chat = False
        """Whether commands are given as verbs of a chat, so that hints name them so."""
        self.unwritten: str | None = None
        """Why something could not be written on standard output, until somebody is told. All is done nevertheless."""
        self._left: set[TextIO] = set()
        for stream in (out, err):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure:
                reconfigure(errors="backslashreplace")

    @property
    def is_screen(self) -> bool:
        """Whether a person looks at what is written."""
        return self.out.isatty()

    @property
    def is_heard(self) -> bool:
        """Whether what is written on standard output still goes somewhere, as far as writing has told."""
        return self.out not in self._left

    @property
    def is_conversation(self) -> bool:
        """Whether a person looks at it and types."""
        return self.out.isatty() and self.stdin.isatty()

    @property
    def pen(self) -> Pen:
        """What to draw with here: no colour in a pipe, on a dumb terminal, or with NO_COLOR; marks that can be shown.

        The width of a pipe is a fixed number: what is written there does not depend on a window.
        """
        columns = _columns(self.out, self.environ)
        plain = not self.is_screen or self.environ.get("NO_COLOR") or self.environ.get("TERM") == "dumb"
        return Pen(
            glyphs=UNICODE if can_write(UNICODE.all, self.out) else ASCII,
            inks=PLAIN if plain else COLOURED,
            width=columns if self.is_screen else PIPE_WIDTH,
            wraps=max(columns - MARGIN, MARGIN) if self.is_screen else 0,
        )

    @property
    def bytes_in(self) -> BinaryIO:
        """Standard input as it is, before anybody decodes it."""
        return self.stdin.buffer

    @property
    def holds_line(self) -> bool:
        """Whether a person has typed a whole line that nobody has read yet."""
        import select

        try:
            return self.is_conversation and bool(select.select([self.stdin], [], [], 0)[0])
        except (OSError, ValueError):  # it only seems to be a terminal
            return False

    @contextmanager
    def unechoed(self) -> Iterator[None]:
        """While the body runs, what a person types does not show between what is written. It is kept for the prompt."""
        if not self.is_conversation:
            yield
            return
        import termios

        try:
            before = termios.tcgetattr(self.stdin)
        except (termios.error, OSError, ValueError):  # it only seems to be a terminal
            yield
            return
        quiet = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        termios.tcsetattr(self.stdin, termios.TCSADRAIN, quiet)
        try:
            yield
        finally:
            termios.tcsetattr(self.stdin, termios.TCSADRAIN, before)

    def hint(self, text: str) -> str:
        """TEXT, words of the house alone, with commands as they are given here: `forkwood undo`, in a chat `/undo`."""
        return _GIVEN.sub("/", text) if self.in_chat else text

    def now_ms(self) -> int:
        """The time by which ages are told, in Unix milliseconds."""
        return time.time_ns() // 1_000_000

    def say(self, text: str) -> None:
        """Write TEXT and a line end on standard output."""
        self.put(text + "\n")

    def put(self, text: str) -> None:
        """Write TEXT on standard output, at once."""
        self._write(self.out, text)

    def json(self, value: Any) -> None:
        """Write VALUE as one line of JSON, in UTF-8 whatever the locale says."""
        self.line(wire.encode(value))

    def line(self, encoded: bytes) -> None:
        """Write one line of ENCODED JSON."""
        self._flushed(self.out, lambda: self.out.buffer.write(encoded + b"\n"))

    def note(self, text: str) -> None:
        """Write TEXT and a line end on standard error: it is for people, whatever the output is for.

        On a screen its longer lines are broken between words.
        """
        fitted = wrapped(text, _columns(self.err, self.environ)) if self.err.isatty() else text
        self._write(self.err, (CLEARED if self.turning else "") + fitted + "\n")

    def note_part(self, text: str) -> None:
        """Write TEXT on standard error without a line end."""
        self._write(self.err, text)

    def _write(self, stream: TextIO, text: str) -> None:
        if not can_write(ELLIPSIS, stream):
            text = text.replace(ELLIPSIS, "...")
        self._flushed(stream, lambda: stream.write(storable(text)))

    def _flushed(self, stream: TextIO, write: Callable[[], object]) -> None:
        if stream in self._left:
            return
        try:
            write()
            stream.flush()
        except BrokenPipeError:
            self._leave(stream)
        except OSError as error:
            self._leave(stream)
            if stream is self.out:
                self.unwritten = error.strerror or str(error)

    def _leave(self, stream: TextIO) -> None:
        """The reader is gone. What was asked for is still done, and what is written from here on goes nowhere."""
        self._left.add(stream)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _columns(screen: TextIO, environ: Mapping[str, str]) -> int:
    said = environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(screen.fileno()).columns or SCREEN_WIDTH
    except OSError:
        return SCREEN_WIDTH


def can_write(text: str, stream: TextIO) -> bool:
    """Whether the encoding of STREAM has every character of TEXT."""
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def error_line(error: dict[str, Any]) -> bytes:
    """An error as the JSON that stands on standard output, lone surrogates in its facts spelled out."""
    return wire.encode({"error": storable_value(error)})
