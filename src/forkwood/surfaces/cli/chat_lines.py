"""What a line typed into a chat means: a message, or `/verb` and its words as the command of that name takes them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import click
from msgspec import Struct

from forkwood.domain.errors import Misused
from forkwood.surfaces.cli.options import option_of, takes_next

FREE_TEXT_AFTER = {"send": 0, "edit": 1, "set": 1, "queue": 0}
"""Verbs whose last word is the rest of the line, and how many words come before it."""
_QUOTED = re.compile(r'"(?P<double>(?:[^"\\]|\\.)*)"|\'(?P<single>[^\']*)\'', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')
ALIASES = {"model": ("set", "model"), "title": ("set", "title"), "system": ("set", "system")}
LEAVING = frozenset({"quit", "exit", "q"})
ELSEWHERE = frozenset({"chat", "completion"})
"""Commands that make no sense inside a chat."""


class Message(Struct, frozen=True):
    """Words for the model."""

    text: str


class Verb(Struct, frozen=True):
    """A command of the program, as a command line has it."""

    name: str
    words: tuple[str, ...]


class Help(Struct, frozen=True):
    """What can be typed here."""


class Leave(Struct, frozen=True):
    """The end."""


class Nothing(Struct, frozen=True):
    """A blank line."""


Line = Message | Verb | Help | Leave | Nothing


def read_line(line: str, commands: click.Group) -> Line:
    """What LINE means. Two slashes at the start are one slash of a message. Raises Misused for an unknown verb."""
    if not line.strip():
        return Nothing()
    if line.startswith("//"):
        return Message(line[1:])
    if not line.startswith("/"):
        return Message(line)
    name, _, rest = line[1:].strip().partition(" ")
    if name in {"help", "?", ""}:
        return Verb(rest.split()[0], ("--help",)) if rest else Help()
    if name in LEAVING:
        return Leave()
    first, *more = ALIASES.get(name, (name,))
    command = None if first in ELSEWHERE else commands.get_command(click.Context(commands), first)
    if command is None:
        raise Misused(f"There is no verb /{name}", hint="/help lists them; a message that begins with / takes two: //")
    return Verb(first, (*more, *_words(command, rest.strip(), FREE_TEXT_AFTER.get(first, -1) - len(more))))


def _words(command: click.Command, rest: str, before_text: int) -> tuple[str, ...]:
    """REST as words; from BEFORE_TEXT on, so many words and any options, then all that is left as one."""
    if before_text < 0:
        return _split(rest)
    taken: list[str] = []
    while rest:
        is_text = option_of(command, rest.partition(" ")[0]) is None
        if is_text and before_text == 0:
            return (*taken, "--", _unquoted(rest))
        before_text -= is_text
        word, rest = _first_word(rest)
        taken.append(word)
        if takes_next(command, word):
            value, rest = _first_word(rest)
            taken.append(value)
    return tuple(taken)


def _first_word(rest: str) -> tuple[str, str]:
    """The first word of REST as a shell takes it, and what follows."""
    line = StringIO(rest)
    reader = shlex.shlex(line, posix=True)
    reader.whitespace_split, reader.commenters = True, ""
    with _closed_quotes():
        word = reader.get_token() or ""
    return word, line.read().lstrip()


def _unquoted(text: str) -> str:
    """TEXT; without the marks where it is one quoted string from end to end."""
    quoted = _QUOTED.fullmatch(text)
    if quoted is None:
        return text
    return quoted["single"] if quoted["double"] is None else _ESCAPED.sub(r"\1", quoted["double"])


def _split(rest: str) -> tuple[str, ...]:
    with _closed_quotes():
        return tuple(shlex.split(rest))


@contextmanager
def _closed_quotes() -> Iterator[None]:
    try:
        yield
    except ValueError:
        raise Misused("A quotation mark is not closed", hint="close it, or put a backslash before it") from None
