"""What text must be before it is stored or shown."""

from __future__ import annotations

import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """TEXT with each lone surrogate spelled out as `\\ud83d`, so that it can be written as UTF-8. NUL is text: kept."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def storable_value(value: Any) -> Any:
    """JSON VALUE with every string in it, keys too, made storable. As deep as what JSON decoding accepted."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(str(key)): storable_value(item) for key, item in value.items()}
        case list() | tuple():
            return [storable_value(item) for item in value]
        case _:
            return value


def first_line(text: str, characters_max: int) -> str:
    """The first line of TEXT that says something, cut to CHARACTERS_MAX with an ellipsis: a title, a preview."""
    line = next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= characters_max else line[: characters_max - 1].rstrip() + "…"
