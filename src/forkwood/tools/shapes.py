"""How tools spell their schemas and their outcomes: the few shapes they share."""

from __future__ import annotations

from typing import Any

from forkwood.domain.message import Text
from forkwood.domain.prompt import ToolSpec
from forkwood.domain.tool import ToolOutcome


def spec(name: str, description: str, properties: dict[str, Any], *, required: tuple[str, ...] = ()) -> ToolSpec:
    """A tool that takes PROPERTIES (a JSON schema each), the REQUIRED ones always, and nothing else."""
    return ToolSpec(name=name, description=description, schema=strict(properties, required=required))


def strict(properties: dict[str, Any], *, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """The schema of an object with these PROPERTIES and no others."""
    needs = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needs, "additionalProperties": False}


def text(description: str, characters_max: int) -> dict[str, Any]:
    """The schema of words, at least one character of them."""
    return {"type": "string", "description": description, "minLength": 1, "maxLength": characters_max}


def told(words: str) -> ToolOutcome:
    """The outcome of a call that went well."""
    return ToolOutcome(outcome="ok", parts=(Text(text=words),))
