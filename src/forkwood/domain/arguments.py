"""A call's arguments against the schema that was sealed with its tool."""

from __future__ import annotations

from typing import Any

from forkwood.domain import limits
from forkwood.domain.cutting import shortened

_FAULTS_SHOWN = 5


def fault(arguments: dict[str, Any] | str, schema: dict[str, Any]) -> str | None:
    """What is wrong with ARGUMENTS, in words for the model; None where they are what SCHEMA (2020-12) asks for.

    Raw text is what could not be read as one JSON object.
    """
    if isinstance(arguments, str):
        return "the arguments are not one JSON object, with each name in it once"
    from jsonschema import Draft202012Validator

    found = Draft202012Validator(schema).iter_errors(arguments)
    wrong = [f"{_short(error.json_path)}: {_short(error.message)}" for error in found]
    if not wrong:
        return None
    left = [f"and {len(wrong) - _FAULTS_SHOWN} more"] if len(wrong) > _FAULTS_SHOWN else []
    return f"the arguments do not fit the schema: {'; '.join([*wrong[:_FAULTS_SHOWN], *left])}"


def _short(text: str) -> str:
    """TEXT without its middle where it quotes what is long: what is wrong stands at its end."""
    return shortened(text, limits.quoted_characters_max)
