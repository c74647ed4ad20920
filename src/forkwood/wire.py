"""JSON in and out: one shape for every value, and the canonical bytes that digests are taken of."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, TypeVar

import msgspec

from forkwood.domain.digest import spelled

T = TypeVar("T")

_encoder = msgspec.json.Encoder()


def encode(value: Any) -> bytes:
    """VALUE as JSON in UTF-8, fields in the order they are declared."""
    return _encoder.encode(value)


def text(value: Any) -> str:
    """VALUE as JSON text."""
    return _encoder.encode(value).decode()


def decode(source: bytes | str, shape: type[T]) -> T:
    """The value of SHAPE that SOURCE spells. Raises msgspec.ValidationError, msgspec.DecodeError for no JSON."""
    return msgspec.json.decode(source, type=shape)


def plain(value: Any) -> Any:
    """VALUE as its JSON is read back: dicts, lists, text, numbers."""
    return msgspec.json.decode(_encoder.encode(value))


def canonical(value: Any) -> bytes:
    """The one spelling of VALUE: keys sorted, no white space, UTF-8. Equal values give equal bytes, for ever."""
    return spelled(value)


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes of VALUE, in hexadecimal."""
    return sha256(spelled(value)).hexdigest()
