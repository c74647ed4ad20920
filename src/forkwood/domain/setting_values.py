"""What a value of the settings must be where it stands, as a file has it and as a person spells it."""

from __future__ import annotations

import math
from typing import Any, TypeAlias, get_args, get_origin

import msgspec
from msgspec import Struct

FROM_ENVIRONMENT = frozenset({"home", "client"})
"""Fields of Settings that no file can set."""

At: TypeAlias = tuple[str, ...]
"""Where a value stands in the file: the keys that lead to it."""


class Wrong(Exception):
    """A value of the file that cannot be used: where it stands, why, and what works instead."""

    def __init__(self, at: At, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.at = at
        self.why = why
        self.hint = hint


def shaped(value: Any, shape: Any, at: At) -> Any:
    """VALUE as a SHAPE. Raises Wrong at the first key that is unknown or whose value has another type."""
    if get_origin(shape) is dict:
        inner = get_args(shape)[1]
        return {name: shaped(item, inner, (*at, name)) for name, item in _table(value, at).items()}
    if isinstance(shape, type) and issubclass(shape, Struct):
        return shape(
            **{name: shaped(item, field_at(shape, name, at), (*at, name)) for name, item in _table(value, at).items()}
        )
    try:
        typed = msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise Wrong(at, str(error)) from None
    if isinstance(typed, float) and not math.isfinite(typed):
        raise Wrong(at, "must be a finite number")
    return typed


def spelled(text: str, shape: Any, at: At) -> Any:
    """TEXT from a command line as a value of SHAPE. Raises Wrong."""
    if get_origin(shape) is dict or (isinstance(shape, type) and issubclass(shape, Struct)):
        raise Wrong(at, "is a table, not a value", f"set one of its keys: {dotted(at)}.KEY")
    try:
        if get_origin(shape) is tuple:
            return msgspec.json.decode(text, type=shape) if text.lstrip().startswith("[") else tuple(text.split(","))
        if shape is Any:
            return _plain(text)
        return msgspec.convert(text, shape, strict=False)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Wrong(at, str(error)) from None


def shape_at(at: At, shape: Any) -> Any:
    """The type of the value that stands AT in SHAPE. Raises Wrong for keys that lead nowhere."""
    for depth, name in enumerate(at):
        if get_origin(shape) is dict:
            shape = get_args(shape)[1]
        elif isinstance(shape, type) and issubclass(shape, Struct):
            shape = field_at(shape, name, at[:depth])
        else:
            raise Wrong(at, "is not known", f"{dotted(at[:depth])} is a value, not a table")
    return shape


def field_at(shape: type[Struct], name: str, at: At) -> Any:
    """The type of the field NAME of SHAPE, which stands AT. Raises Wrong where there is none, or no file can set it."""
    if not at and name in FROM_ENVIRONMENT:
        raise Wrong((name,), "it is set by the environment alone", f"set FORKWOOD_{name.upper()}")
    fields = {field.name: field.type for field in msgspec.structs.fields(shape)}
    if name not in fields:
        known = sorted(fields.keys() - (FROM_ENVIRONMENT if not at else ()))
        raise Wrong((*at, name), "is not known", f"known are: {', '.join(known)}")
    return fields[name]


def dotted(at: At) -> str:
    """AT as it is written: with dots, in quotes where a key is no plain word."""
    return ".".join(
        part
        if part.replace("-", "").replace("_", "").isalnum() and part.isascii()
        else msgspec.json.encode(part).decode()
        for part in at
    )


def _table(value: Any, at: At) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Wrong(at, "must be a table", f"write [{dotted(at)}] and its keys below")
    return value


def _plain(text: str) -> Any:
    """TEXT as the JSON it spells, else as the words it is; no file of settings can hold a null."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return text if found is None else found
