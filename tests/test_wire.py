"""One value, one JSON shape; canonical bytes are the same for equal values."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from forkwood import wire
from forkwood.domain.model import Usage

JSON = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**53), 2**53) | some.text(),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_json_comes_back(value: Any) -> None:
    assert msgspec.json.decode(wire.encode(value)) == value
    assert wire.text(value).encode() == wire.encode(value)


@given(some.dictionaries(some.text(), JSON, min_size=2, max_size=5))
def test_the_order_of_keys_does_not_count(value: dict[str, Any]) -> None:
    backwards = dict(reversed(value.items()))
    assert wire.canonical(value) == wire.canonical(backwards)
    assert wire.digest(value) == wire.digest(backwards)


def test_the_digest_is_of_the_canonical_bytes() -> None:
    assert wire.canonical({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()
    assert wire.digest({"b": 1, "a": "é"}) == sha256('{"a":"é","b":1}'.encode()).hexdigest()


def test_a_wrong_shape_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        wire.decode('{"input":"many"}', Usage)
    with pytest.raises(msgspec.DecodeError):
        wire.decode("{", Usage)
