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
from forkwood.surfaces.cli.failures import EXIT_CODES, as_value, exit_code, tell, told
from tests.surfaces.cli.desks import terminal, written

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
def test_each_error_has_its_exit_code(error: ForkwoodError, code: int) -> None:
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
