"""The manifest: bounds at their limits, verified by digest and version."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded
from forkwood.domain.manifest import Bounds, Manifest, checked, checked_size, verified
from tests.domain.paths import LOOK, manifest


def body(**fields: Any) -> dict[str, Any]:
    return wire.decode(wire.canonical(manifest(**fields)), dict[str, Any])


def nested(depth: int) -> Any:
    """A project in which the manifest's depth is DEPTH."""
    value: Any = {}
    for _ in range(depth - 2):
        value = {"a": value}
    return value


def test_what_was_sealed_is_read_again_whole() -> None:
    sealed = wire.canonical(manifest())
    assert verified(sha256(sealed).hexdigest(), sealed) == manifest()


def test_one_changed_byte_is_seen() -> None:
    sealed = wire.canonical(manifest())
    with pytest.raises(Conflict) as refused:
        verified(sha256(sealed).hexdigest(), sealed.replace(b"Be brief.", b"Be briee."))
    assert refused.value.facts["reason"] == "manifest"


@pytest.mark.parametrize("spelled", [b"{}", b"[]", b"nothing", wire.canonical({**body(), "version": 2})])
def test_an_unknown_version_is_refused_even_where_the_digest_holds(spelled: bytes) -> None:
    with pytest.raises(Conflict):
        verified(sha256(spelled).hexdigest(), spelled)


@pytest.mark.parametrize(
    ("limit", "field", "sized"),
    [
        ("tools_max", "tools", lambda size: (LOOK,) * size),
        ("system_bytes_max", "system", lambda size: "é" * (size // 2) + "x" * (size % 2)),
        ("manifest_depth_max", "project", nested),
    ],
)
def test_bounds_hold_at_the_limit(limit: str, field: str, sized: Callable[[int], Any]) -> None:
    bound = getattr(limits, limit)
    assert checked(body(**{field: sized(bound)}))
    with pytest.raises(LimitExceeded) as refused:
        checked(body(**{field: sized(bound + 1)}))
    assert refused.value.facts["limit"] == limit


def test_one_tool_is_bounded() -> None:
    empty = len(wire.canonical({"name": ""}))
    fits = {"name": "x" * (limits.tool_bytes_max - empty)}
    assert checked({"tools": [fits]})
    with pytest.raises(LimitExceeded):
        checked({"tools": [{"name": fits["name"] + "x"}]})


def test_the_whole_is_bounded() -> None:
    assert checked_size(b" " * limits.manifest_bytes_max)
    with pytest.raises(LimitExceeded):
        checked_size(b" " * (limits.manifest_bytes_max + 1))


def test_no_secret_has_a_place_in_it() -> None:
    named = [name for name in Manifest.__struct_fields__ if "key" in name or "secret" in name]
    assert named == []


def test_the_limits_that_a_run_depends_on_are_sealed() -> None:
    assert Bounds.__struct_fields__ == (
        "fenced_text_bytes_max",
        "rounds_max",
        "memory_block_bytes_max",
        "memories_max",
    )
