"""Arguments against a schema: what fits passes, and what does not is told to the model in few words."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.domain import arguments, limits

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "words": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1},
        "questions": {"type": "array", "maxItems": 2, "items": {"type": "object", "required": ["text"]}},
    },
    "required": ["words"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("given", [{"words": "a"}, {"words": "a", "limit": 3}, {"words": "a", "questions": []}])
def test_what_fits(given: dict[str, Any]) -> None:
    assert arguments.fault(given, SCHEMA) is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{half", "not one JSON object"),
        ({}, "$: 'words' is a required property"),
        ({"words": 1}, "$.words: 1 is not of type 'string'"),
        ({"words": "a", "limit": "3"}, "$.limit: '3' is not of type 'integer'"),
        ({"words": "a", "limit": True}, "$.limit: True is not of type 'integer'"),
        ({"words": "a", "other": 1}, "('other' was unexpected)"),
        ({"words": "a", "questions": [{}]}, "$.questions[0]: 'text' is a required property"),
        ({"words": "a", "questions": [{"text": "x" * 5_000}] * 3}, "is too long"),
    ],
)
def test_what_does_not_is_told_with_its_place(given: dict[str, Any] | str, told: str) -> None:
    found = arguments.fault(given, SCHEMA)
    assert found is not None and told in found
    assert len(found) < 1_500


def test_the_first_few_faults_are_told_and_the_others_counted() -> None:
    found = arguments.fault({"words": "a", "questions": [{}] * 2 + [1] * 20}, SCHEMA)
    assert found is not None and found.endswith("; and 18 more")


def test_neither_a_long_name_nor_a_long_value_makes_a_long_fault() -> None:
    schema = {"additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}}}
    told = arguments.fault({"n" * 100_000: {"m" * 100_000: ["v" * 100_000]}}, schema)
    assert told is not None and len(told) < 3 * limits.quoted_characters_max
