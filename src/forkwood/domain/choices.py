"""What `set` takes: each setting's name, how its value is spelled, and what it may be."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, get_args

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.domain.settings import Approvals, Effort

CLEARED = frozenset({"", "none", "default"})
PARAMETERS = ("temperature", "top_p", "max_output", "seed", "effort", "context")


def parse(key: str, value: str, tools_off: tuple[str, ...] = ()) -> Any:
    """The value of setting KEY that VALUE spells; None where it clears it. `tools` is read against those off now.

    Raises Misused for a key nobody knows or a value of the wrong form, LimitExceeded for one too large.
    """
    if key == "tools":
        return _switched(value, tools_off)
    if key not in _READERS:
        raise Misused(f"there is no setting '{key}'", hint=f"settings: {', '.join(NAMES)}")
    return _READERS[key](key, value)


def tools_named(value: str) -> tuple[str, ...]:
    """The tools that VALUE, a value of `tools`, speaks of. Raises Misused for one of the wrong form."""
    return tuple(switch[1:] for switch in _switches(value))


def _text(bound_name: str, bound: int, *, in_bytes: bool = False) -> Callable[[str, str], str | None]:
    def read(key: str, value: str) -> str | None:
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            raise Misused(f"the {key} is not valid Unicode", hint="spell it in UTF-8") from None
        got = size if in_bytes else len(value)
        if got > bound:
            raise LimitExceeded(f"the {key}", limit=bound_name, bound=bound, got=got)
        return value if value.strip() else None

    return read


def _number(low: float, high: float) -> Callable[[str, str], float | None]:
    def read(key: str, value: str) -> float | None:
        if value.lower() in CLEARED:
            return None
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not isfinite(number) or not low <= number <= high:
            raise Misused(f"{key} takes a number from {low:g} to {high:g}, not '{value}'", hint=_clears(key))
        return number

    return read


def _whole(low: int, high: int) -> Callable[[str, str], int | None]:
    def read(key: str, value: str) -> int | None:
        if value.lower() in CLEARED:
            return None
        spelled = value.replace("_", "")
        if not spelled.isascii() or not spelled.isdigit() or not low <= int(spelled[:20]) <= high:
            raise Misused(f"{key} takes a whole number from {low:,} to {high:,}, not '{value}'", hint=_clears(key))
        return int(spelled)

    return read


def _one_of(*choices: str, clearable: bool = False) -> Callable[[str, str], str | None]:
    def read(key: str, value: str) -> str | None:
        if clearable and value.lower() in CLEARED:
            return None
        if value not in choices:
            raise Misused(
                f"{key} takes {', '.join(choices)}, not '{value}'",
                hint=_clears(key) if clearable else f"forkwood set {key} {choices[0]}",
            )
        return value

    return read


def _clears(key: str) -> str:
    """How a setting is taken back, in the one way that is told everywhere."""
    return f'forkwood set {key} "" clears it'


def _yes_or_no(key: str, value: str) -> bool:
    match value.lower():
        case "yes" | "true" | "on" | "1":
            return True
        case "no" | "false" | "off" | "0":
            return False
    raise Misused(f"{key} takes yes or no, not '{value}'", hint=f"forkwood set {key} yes")


def _tags(key: str, value: str) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(tag.strip() for tag in value.split(",") if tag.strip()))
    if len(tags) > limits.tags_max:
        raise LimitExceeded("tags", limit="tags_max", bound=limits.tags_max, got=len(tags))
    for tag in tags:
        _text("tag_characters_max", limits.tag_characters_max)(key, tag)
    return tags


def _switched(value: str, off: tuple[str, ...]) -> tuple[str, ...]:
    """OFF after the switches in VALUE: `-NAME` takes a tool out, `+NAME` brings it back; blanks or commas between."""
    names = dict.fromkeys(off)
    for switch in _switches(value):
        if switch[0] == "-":
            names[switch[1:]] = None
        else:
            names.pop(switch[1:], None)
    if len(names) > limits.tools_max:
        raise LimitExceeded("tools switched off", limit="tools_max", bound=limits.tools_max, got=len(names))
    return tuple(sorted(names))


def _switches(value: str) -> list[str]:
    switches = value.replace(",", " ").split()
    if not switches or any(len(switch) < 2 or switch[0] not in "+-" for switch in switches):
        raise Misused(f"tools takes +NAME or -NAME, not '{value}'", hint="forkwood set tools -current_time")
    return switches


_READERS: dict[str, Callable[[str, str], Any]] = {
    "title": _text("title_characters_max", limits.title_characters_max),
    "model": _text("model_characters_max", limits.model_characters_max),
    "system": _text("system_bytes_max", limits.system_bytes_max, in_bytes=True),
    "approvals": _one_of(*get_args(Approvals)),
    "temperature": _number(0, 2),
    "top_p": _number(0, 1),
    "max_output": _whole(1, 10_000_000),
    "seed": _whole(0, 2**63 - 1),
    "effort": _one_of(*get_args(Effort), clearable=True),
    "context": _whole(256, 100_000_000),
    "pinned": _yes_or_no,
    "archived": _yes_or_no,
    "tags": _tags,
    "folder": _text("title_characters_max", limits.title_characters_max),
}

NAMES = tuple(sorted((*_READERS, "tools")))
"""Every setting's name."""
