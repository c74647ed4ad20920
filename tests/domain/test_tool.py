"""A sealed tool: what differs when a tool has changed since."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain.tool import ToolSealed
from tests.domain.paths import LOOK


@pytest.mark.parametrize(
    "changed",
    [
        {"effect": "write"},
        {"after_crash": "doubt"},
        {"asks_first": True},
        {"spec": replace(LOOK.spec, description="Looks hard.")},
        {"spec": replace(LOOK.spec, schema={"type": "object", "required": ["at"]})},
    ],
)
def test_any_change_of_a_tool_is_seen(changed: dict[str, Any]) -> None:
    assert replace(LOOK, **changed) != LOOK
    assert wire.digest(replace(LOOK, **changed)) != wire.digest(LOOK)


def test_a_sealed_tool_is_read_again_from_a_manifest() -> None:
    assert wire.decode(wire.canonical(LOOK), ToolSealed) == LOOK
