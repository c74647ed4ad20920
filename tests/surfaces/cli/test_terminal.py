"""Writing to screens, pipes, narrow encodings and readers that left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forkwood.surfaces.cli.glyphs import ASCII, COLOURED, PLAIN, UNICODE
from forkwood.surfaces.cli.terminal import PIPE_WIDTH, SCREEN_WIDTH, Terminal, error_line
from tests.surfaces.cli.desks import Stream, terminal, written


@pytest.mark.parametrize(
    ("is_screen", "environ", "inks"),
    (
        (True, {}, COLOURED),
        (False, {}, PLAIN),
        (True, {"NO_COLOR": "1"}, PLAIN),
        (True, {"NO_COLOR": ""}, COLOURED),
        (True, {"TERM": "dumb"}, PLAIN),
    ),
)
def test_colour_is_for_screens_that_want_it(is_screen: bool, environ: dict[str, Any], inks: object) -> None:
    assert terminal(is_screen=is_screen, **environ).pen.inks == inks


@pytest.mark.parametrize(
    ("is_screen", "columns", "width"),
    (
        (True, "40", 40),
        (True, "", SCREEN_WIDTH),
        (True, "0", SCREEN_WIDTH),
        (True, "wide", SCREEN_WIDTH),
        (False, "40", PIPE_WIDTH),
    ),
)
def test_a_screen_has_its_width_and_a_pipe_one_of_its_own(is_screen: bool, columns: str, width: int) -> None:
    assert terminal(is_screen=is_screen, COLUMNS=columns).pen.width == width


@pytest.mark.parametrize(("encoding", "glyphs"), (("utf-8", UNICODE), ("ascii", ASCII), ("latin-1", ASCII)))
def test_marks_can_be_written_in_the_encoding(encoding: str, glyphs: object) -> None:
    assert terminal(encoding=encoding).pen.glyphs == glyphs


def test_no_character_makes_writing_fail() -> None:
    narrow = terminal(encoding="ascii")
    narrow.say("naïve … 你 \ud83d")
    assert written(narrow.out) == "na\\xefve ... \\u4f60 \\ud83d\n"
    wide = terminal()
    wide.say("naïve … \ud83d")
    assert written(wide.out) == "naïve … \\ud83d\n"


def test_json_is_utf8_in_every_locale() -> None:
    narrow = terminal(encoding="latin-1")
    narrow.json({"text": "你 …"})
    assert narrow.out.buffer.getvalue() == '{"text":"你 …"}\n'.encode()  # type: ignore[attr-defined]


def test_facts_with_lone_surrogates_are_told() -> None:
    assert error_line({"kind": "x", "name": "\ud83d"}) == b'{"error":{"kind":"x","name":"\\\\ud83d"}}'


def test_a_reader_that_leaves_ends_the_writing_and_nothing_else() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as out:
        here = Terminal(Stream(), out, Stream(), {})
        here.say("heard")
        os.close(reading)
        here.say("x" * 100_000)
        here.json({"still": "no error"})
        here.say("nor now")


def test_a_full_disk_behind_standard_output_stops_nothing_and_is_remembered() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as out:
        here = Terminal(Stream(), out, Stream(), {})
        here.say("x")
        assert here.unwritten == "No space left on device"
        here.unwritten = None
        here.say("goes nowhere now")
        assert here.unwritten is None


def test_a_full_disk_behind_standard_error_is_nobodys_error() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as err:
        here = Terminal(Stream(), Stream(), err, {})
        here.note("x")
        assert here.unwritten is None


def test_notes_are_broken_between_words_on_a_screen_alone() -> None:
    long = "one two three four"
    for here, said in ((terminal(is_screen=True, COLUMNS="9"), "one two\nthree\nfour\n"), (terminal(), long + "\n")):
        here.note(long)
        assert written(here.err) == said


@pytest.mark.parametrize(
    ("hint", "in_chat"),
    (
        ("forkwood undo, or forkwood use X", "/undo, or /use X"),
        ("forkwood chat begins one", "forkwood chat begins one"),
        ("all of them: forkwood --help", "all of them: forkwood --help"),
        ("forkwood send --help", "/send --help"),
    ),
)
def test_a_hint_names_commands_as_they_are_given_here(hint: str, in_chat: str) -> None:
    here = terminal()
    assert here.hint(hint) == hint
    here.in_chat = True
    assert here.hint(hint) == in_chat
