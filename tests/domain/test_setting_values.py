"""A value of the settings: read as what it must be where it stands, or refused with its place and what works."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct

from forkwood.domain.setting_values import At, Wrong, dotted, field_at, shape_at, shaped, spelled
from forkwood.domain.settings import Settings


class Lamp(Struct, frozen=True):
    watts: float = 5.0
    colours: tuple[str, ...] = ()


class Room(Struct, frozen=True):
    lamps: dict[str, Lamp] = {}
    note: Any = None


def test_a_file_is_read_as_its_shape() -> None:
    found = shaped({"lamps": {"desk": {"watts": 7, "colours": ["red"]}}, "note": [1]}, Room, ())
    assert found == Room(lamps={"desk": Lamp(watts=7.0, colours=("red",))}, note=[1])


@pytest.mark.parametrize(
    ("value", "at", "why"),
    [
        ({"lamp": {}}, ("lamp",), "is not known"),
        ({"lamps": 1}, ("lamps",), "must be a table"),
        ({"lamps": {"desk": {"volts": 1}}}, ("lamps", "desk", "volts"), "is not known"),
        ({"lamps": {"desk": {"watts": "x"}}}, ("lamps", "desk", "watts"), "Expected `float`, got `str`"),
        ({"lamps": {"desk": {"watts": float("inf")}}}, ("lamps", "desk", "watts"), "must be a finite number"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(value: Any, at: At, why: str) -> None:
    with pytest.raises(Wrong) as wrong:
        shaped(value, Room, ())
    assert (wrong.value.at, wrong.value.why) == (at, why)


@pytest.mark.parametrize(
    ("text", "at", "value"),
    [
        ("7", ("lamps", "desk", "watts"), 7.0),
        ("red,blue", ("lamps", "desk", "colours"), ("red", "blue")),
        ('["a,b"]', ("lamps", "desk", "colours"), ("a,b",)),
        ('{"a": 1}', ("note",), {"a": 1}),
        ("plain words", ("note",), "plain words"),
        ("null", ("note",), "null"),
    ],
)
def test_words_of_a_command_line_are_read_as_what_stands_there(text: str, at: At, value: Any) -> None:
    assert spelled(text, shape_at(at, Room), at) == value


@pytest.mark.parametrize(("text", "at"), [("x", ("lamps", "desk")), ("[1]", ("lamps", "desk", "colours"))])
def test_words_that_are_no_such_value_are_refused(text: str, at: At) -> None:
    with pytest.raises(Wrong) as wrong:
        spelled(text, shape_at(at, Room), at)
    assert wrong.value.at == at


def test_keys_that_lead_nowhere_are_told_how_far_they_led() -> None:
    with pytest.raises(Wrong) as wrong:
        shape_at(("lamps", "desk", "watts", "more"), Room)
    assert wrong.value.hint == "lamps.desk.watts is a value, not a table"


def test_what_the_environment_sets_no_file_can() -> None:
    with pytest.raises(Wrong) as wrong:
        field_at(Settings, "home", ())
    assert wrong.value.hint == "set FORKWOOD_HOME"
    with pytest.raises(Wrong) as unknown:
        field_at(Settings, "hone", ())
    assert "home" not in unknown.value.hint.removeprefix("known are: ").split(", ")


def test_a_key_that_is_no_plain_word_is_quoted() -> None:
    assert dotted(("providers", "my-box", "a b.c", "\u00e9")) == 'providers.my-box."a b.c"."\u00e9"'
