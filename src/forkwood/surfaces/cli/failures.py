"""One table: which exit code an error has, and how it is told in words and as JSON."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any, TypeVar

import click

from forkwood.domain.errors import (
    Conflict,
    Defect,
    ForkwoodError,
    LimitExceeded,
    Misused,
    NotFound,
    ProviderFailed,
    Refused,
    StoreUnusable,
)
from forkwood.domain.text import first_line
from forkwood.surfaces.cli.screen_text import visible
from forkwood.surfaces.cli.terminal import Terminal, error_line

T = TypeVar("T")
_OPTION_EXTRA = re.compile(r"unexpected extra arguments? \((.* )?-[^ )]")
"""What click says of a word too many that looks like an option: it is taken for a word only behind `--`."""
_EXTRA = re.compile(r"unexpected extra arguments? \((?P<words>.*)\)$", re.DOTALL)
TEXTS = frozenset({"text", "value", "name"})
"""Arguments that are a person's own words: several of them want quotes."""
QUOTED_CHARACTERS = 100
SHELL_SIGNS = frozenset(" #'\"$`\\!*?()<>|&;")
UNSAFE_SIGNS = frozenset('"$`\\!')
"""What a shell reads between double quotes too."""
WAITING = 5
"""The exit code of a command whose run waits for an answer."""
INTERRUPTED = 130
EXIT_CODES: dict[type[ForkwoodError], int] = {
    ProviderFailed: 1,
    Misused: 2,
    NotFound: 3,
    Conflict: 4,
    Refused: 4,
    LimitExceeded: 6,
    StoreUnusable: 7,
    Defect: 1,
    ForkwoodError: 1,
}
EXIT_CODES_BY_KIND = {error.kind: code for error, code in EXIT_CODES.items()}
"""The same for an error that was kept as JSON: a run's."""


def exit_code(error: ForkwoodError) -> int:
    """The exit code of ERROR: that of the nearest class of the table."""
    return next(EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES)


def tell(error: ForkwoodError, terminal: Terminal, *, as_json: bool) -> int:
    """Say what went wrong and the way that works; the exit code."""
    if as_json:
        terminal.line(error_line(as_value(error)))
    else:
        tell_words(error.message, error.hint, terminal)
    return exit_code(error)


def as_value(error: ForkwoodError) -> dict[str, Any]:
    """ERROR as programs read it: kind, message, hint, then its facts."""
    facts = {name: value for name, value in error.facts.items() if name not in {"kind", "message", "hint"}}
    return {"kind": error.kind, "message": error.message, "hint": error.hint, **facts}


def tell_words(message: str, hint: str, terminal: Terminal) -> None:
    """MESSAGE and HINT on standard error."""
    terminal.note(f"forkwood: {visible(message)}")
    if hint:
        terminal.note(f"  {terminal.hint(visible(hint))}")


def misused(error: click.ClickException) -> Misused:
    """What click says about the words of a command, as an error of the house: the hint is where help stands."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context else "forkwood"
    message = error.format_message().rstrip(".")
    if words := _in_quotes(message, context):
        return Misused(message, hint=f"put the words in quotes: {words}")
    behind = "what stands behind -- is taken as words: options go before it; " if _OPTION_EXTRA.search(message) else ""
    return Misused(message, hint=f"{behind}{where} --help")


def _in_quotes(message: str, context: click.Context | None) -> str:
    """The command of CONTEXT with its text and what is too much behind it in quotes; empty where it takes no text."""
    extra = _EXTRA.search(message)
    arguments = [one for one in context.command.params if isinstance(one, click.Argument)] if context else []
    if context is None or extra is None or _OPTION_EXTRA.search(message) or not arguments:
        return ""
    words = [word for one in arguments if isinstance(word := context.params.get(one.name or ""), str)]
    if arguments[-1].name not in TEXTS or len(words) < len(arguments):
        return ""
    whole = first_line(f"{words[-1]} {extra['words']}", QUOTED_CHARACTERS)
    return " ".join([context.command_path, *map(_one_word, words[:-1]), _quoted(whole)])


def _one_word(words: str) -> str:
    """WORDS as one word of a shell."""
    return _quoted(words) if SHELL_SIGNS.intersection(words) else words


def _quoted(words: str) -> str:
    return shlex.quote(words) if UNSAFE_SIGNS.intersection(words) else f'"{words}"'


def told(terminal: Terminal, do: Callable[[], T], *, as_json: bool = False) -> T | int:
    """What DO gives; where it fails in a way a person can act on, the exit code, having told them."""
    try:
        return do()
    except click.ClickException as error:
        return tell(misused(error), terminal, as_json=as_json)
    except ForkwoodError as error:
        return tell(error, terminal, as_json=as_json)
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(terminal, as_json=as_json)


def unwritten(terminal: Terminal, code: int) -> int:
    """CODE, or 1 in place of 0 where something could not be written on standard output: that is told here, once."""
    why, terminal.unwritten = terminal.unwritten, None
    if why is None:
        return code
    hint = "" if code else "what was asked for was done all the same; what is kept can be shown again"
    tell_words(f"What was to be said cannot be written: {why}", hint, terminal)
    return code or exit_code(ForkwoodError(why))


def _interrupted(terminal: Terminal, *, as_json: bool) -> int:
    """Ctrl-C where no run was at work."""
    if as_json:
        terminal.line(error_line({"kind": "interrupted", "message": "interrupted", "hint": ""}))
    else:
        terminal.note("interrupted")
    return INTERRUPTED
