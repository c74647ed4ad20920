"""Each error with its exit code, in words and as JSON."""

from __future__ import annotations

import click
import msgspec
import pytest

from forkwood.domain.errors import (
    Conflict,
    ForkwoodError,
    LimitExceeded,
    Misused,
    NotFound,
    ProviderFailed,
    Refused,
    StoreUnusable,
)
from forkwood.surfaces.cli.failures import EXIT_CODES, as_value, exit_code, tell, told, unwritten
from tests.surfaces.cli.desks import run_cli, terminal, written

CODES = (
    (ProviderFailed("auth", "wrong key"), 1),
    (Misused("empty"), 2),
    (NotFound("no such"), 3),
    (Conflict("moved on"), 4),
    (Refused("no"), 4),
    (LimitExceeded("text", limit="message_bytes_max", bound=1, got=2), 6),
    (StoreUnusable("newer"), 7),
)


@pytest.mark.parametrize(("error", "code"), CODES)
def test_windie_92_each_error_has_its_exit_code(error: ForkwoodError, code: int) -> None:
    assert exit_code(error) == code
    assert tell(error, terminal(), as_json=False) == code


def test_every_class_of_error_is_in_the_table() -> None:
    assert set(EXIT_CODES) == {ForkwoodError, *ForkwoodError.__subclasses__()}


def test_a_class_beneath_one_of_the_table_has_its_code() -> None:
    class Newer(StoreUnusable):
        pass

    assert exit_code(Newer("x")) == 7


def test_words_go_to_people_and_json_to_programs() -> None:
    error = NotFound("no node \x1b[2J", hint="say another", candidates=["a", "b"])
    here = terminal()
    tell(error, here, as_json=False)
    assert (written(here.out), written(here.err)) == ("", "forkwood: no node \\x1b[2J\n  say another\n")
    there = terminal()
    tell(error, there, as_json=True)
    assert written(there.err) == ""
    assert msgspec.json.decode(written(there.out)) == {
        "error": {"kind": "not_found", "message": "no node \x1b[2J", "hint": "say another", "candidates": ["a", "b"]}
    }


def test_facts_never_hide_what_happened() -> None:
    error = ForkwoodError("real", hint="way", fact=1)
    error.facts["message"] = "fake"
    assert as_value(error) == {"kind": "error", "message": "real", "hint": "way", "fact": 1}


@pytest.mark.parametrize("error", (KeyboardInterrupt(), click.Abort()))
@pytest.mark.parametrize("as_json", (True, False))
def test_interruptions_are_130(error: BaseException, as_json: bool) -> None:
    def fail() -> int:
        raise error

    here = terminal()
    assert told(here, fail, as_json=as_json) == 130
    assert bool(written(here.out)) == as_json


def test_a_fault_of_the_program_is_not_dressed_up() -> None:
    def fail() -> int:
        raise AssertionError("a bug")

    with pytest.raises(AssertionError):
        told(terminal(), fail)


@pytest.mark.parametrize(("code", "given"), ((0, 1), (130, 130), (7, 7)))
def test_what_could_not_be_written_is_told_once(code: int, given: int) -> None:
    here = terminal()
    here.unwritten = "No space left on device"
    assert unwritten(here, code) == given
    said = written(here.err)
    assert said.startswith("forkwood: What was to be said cannot be written: No space left on device\n")
    assert ("done all the same" in said) == (code == 0)
    assert (unwritten(here, code), written(here.err)) == (code, said)


QUOTED = (
    (("send", "hi", "there"), 'forkwood send "hi there"'),
    (("send", "what", "costs", "$5?", "--no-run"), "forkwood send 'what costs $5?'"),
    (("edit", "#12", "hi", "there"), 'forkwood edit "#12" "hi there"'),
    (("set", "title", "My", "trees"), 'forkwood set title "My trees"'),
    (("config", "set", "system", "Be", "brief."), 'forkwood config set system "Be brief."'),
    (("send", "a" * 99, "b"), f'forkwood send "{"a" * 99}…"'),
)


@pytest.mark.parametrize(("arguments", "way"), QUOTED)
def test_words_too_many_are_put_in_quotes(arguments: tuple[str, ...], way: str) -> None:
    ran = run_cli(*arguments)
    assert (ran.code, ran.err.splitlines()[1]) == (2, f"  put the words in quotes: {way}")


@pytest.mark.parametrize("arguments", (("ls", "x"), ("path", "@", "x"), ("models", "key", "a", "b"), ("undo", "x")))
def test_what_is_no_text_gets_no_quotes(arguments: tuple[str, ...]) -> None:
    ran = run_cli(*arguments)
    assert (ran.code, "quotes" in ran.err, " --help" in ran.err) == (2, False, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    (
        (("stats", "--", "--json"), True),
        (("send", "--", "hi", "--no-run"), True),
        (("ls", "--", "-c", "x"), True),
        (("ls", "x", "y"), False),
        (("ls", "x-y"), False),
        (("ls", "-"), False),
    ),
)
def test_options_behind_the_two_dashes_are_said_to_be_words(arguments: tuple[str, ...], told: bool) -> None:
    ran = run_cli(*arguments)
    assert (ran.code, "behind -- is taken as words" in ran.err) == (2, told)
