"""Text that people and programs hand over: an argument, standard input for `-`, or what an editor leaves."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import BinaryIO

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.surfaces.cli.terminal import Terminal

STDIN = "-"
CHUNK = limits.MIB


def text_of(argument: str, terminal: Terminal) -> str:
    """ARGUMENT, or for `-` all of standard input. Raises Misused for bytes that are no text, LimitExceeded."""
    if argument != STDIN:
        return argument
    found = read_within(
        terminal.bytes_in,
        limits.message_bytes_max,
        limit="message_bytes_max",
        hint="nothing was stored; a long text goes along as a file: --attach FILE",
    )
    return text_from(found, "standard input")


def texts_of(arguments: Sequence[str], terminal: Terminal) -> tuple[str, ...]:
    """ARGUMENTS, the one that is `-` as `text_of` reads it. Raises as that does, and Misused for a second `-`."""
    if list(arguments).count(STDIN) > 1:
        raise Misused("- stands for standard input, which can be read once", hint="give the other texts as arguments")
    return tuple(text_of(one, terminal) for one in arguments)


def is_unread(terminal: Terminal) -> bool:
    """Whether a pipe on standard input holds something that nobody has asked for, as far as can be seen now."""
    try:
        import fcntl
        import termios

        handle = terminal.stdin.fileno()
        if not stat.S_ISFIFO(os.fstat(handle).st_mode):
            return False
        held = fcntl.ioctl(handle, termios.FIONREAD, bytes(4))
    except (ImportError, OSError, ValueError):  # no such question here, or no real stream
        return False
    return any(held)


def read_within(stream: BinaryIO, bytes_max: int, *, limit: str, hint: str) -> bytes:
    """All of STREAM. Raises LimitExceeded naming LIMIT, having kept no more than BYTES_MAX, with the size as far as
    counted."""
    kept = stream.read(bytes_max + 1)
    if len(kept) <= bytes_max:
        return kept
    got = len(kept)
    while got < limits.stdin_counted_bytes_max and (chunk := stream.read(CHUNK)):
        got += len(chunk)
    raise LimitExceeded(
        "The bytes on standard input",
        limit=limit,
        bound=bytes_max,
        got=got,
        hint=hint,
    )


def text_from(found: bytes, what: str) -> str:
    """FOUND as text, without a byte order mark and the one line end that closes it. Raises Misused naming the byte."""
    try:
        text = found.decode()
    except UnicodeDecodeError as error:
        raise Misused(
            f"{what} is not UTF-8 at byte {error.start}",
            hint="convert it, or send the file as it is with --attach FILE",
            byte=error.start,
        ) from None
    at = found.find(b"\0")
    if at >= 0:
        raise Misused(
            f"{what} holds a NUL at byte {at}: that is no text",
            hint="send the file as it is with --attach FILE",
            byte=at,
        )
    text = text.removeprefix("\ufeff")
    return text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")


def edited(before: str, terminal: Terminal) -> str:
    """BEFORE as a person leaves it in their editor. Raises Misused where there is none, or nothing was changed."""
    import click

    editor = editor_of(terminal)
    closing = "" if before.endswith("\n") else "\n"
    left = click.edit((before + closing).encode(), editor=editor, extension=".md", require_save=False)
    text = text_from(left or b"", "the edited text").rstrip("\n")
    if not text.strip():
        raise Misused(
            "The edited text is empty: nothing was changed", hint="to take a message out: forkwood drop or hide"
        )
    if text == before.rstrip("\n"):
        raise Misused(
            "The text is as it was: nothing was changed", hint="save another text, or give it: forkwood edit NODE TEXT"
        )
    return text


def editor_of(terminal: Terminal) -> str | None:
    """The person's editor; None leaves the choice to what is installed, where somebody sits at a screen."""
    named = terminal.environ.get("VISUAL") or terminal.environ.get("EDITOR")
    if named or terminal.is_conversation:
        return named
    raise Misused("There is no TEXT, and no editor to write it in", hint="forkwood edit NODE TEXT, or set EDITOR")
