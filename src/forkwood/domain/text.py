"""What text must be before it is stored or shown."""

from __future__ import annotations

import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_BRACKETS = re.compile(r'\\.|["\[\]{}]', re.DOTALL)


def storable(text: str) -> str:
    """TEXT with each lone surrogate spelled out as `\\ud83d`, so that it can be written as UTF-8. NUL is text: kept."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def storable_value(value: Any) -> Any:
    """JSON VALUE with every string in it, keys too, made storable. It calls itself for each level of nesting."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(str(key)): storable_value(item) for key, item in value.items()}
        case list() | tuple():
            return [storable_value(item) for item in value]
        case _:
            return value


def is_deeper(json: str, than: int) -> bool:
    """Whether objects and lists stand in one another deeper THAN that in the text JSON, which is not decoded."""
    if json.count("[") + json.count("{") <= than:
        return False
    depth, quoted = 0, False
    for found in _BRACKETS.finditer(json):
        match found[0]:
            case '"':
                quoted = not quoted
            case "[" | "{" if not quoted:
                depth += 1
                if depth > than:
                    return True
            case "]" | "}" if not quoted:
                depth -= 1
    return False


def first_line(text: str, characters_max: int) -> str:
    """The first line of TEXT that says something, cut to CHARACTERS_MAX with an ellipsis: a title, a preview."""
    line = next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= characters_max else line[: characters_max - 1].rstrip() + "…"
