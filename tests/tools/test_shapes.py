"""The shapes that tools share."""

from __future__ import annotations

from forkwood.domain.message import Text
from forkwood.tools.shapes import spec, strict, text, told


def test_a_tool_without_arguments_takes_none() -> None:
    assert spec("now", "Now.", {}).schema == {"type": "object", "properties": {}, "additionalProperties": False}


def test_required_properties_are_named() -> None:
    assert strict({"a": text("An a.", 5)}, required=("a",)) == {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "An a.", "minLength": 1, "maxLength": 5}},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_what_is_told_is_one_text() -> None:
    assert (told("x").outcome, told("x").parts) == ("ok", (Text(text="x"),))
