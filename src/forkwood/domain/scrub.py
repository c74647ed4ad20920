"""What is left of an event's payload or a receipt's response when the words in it are purged: its structure."""

from __future__ import annotations

from typing import Any

from forkwood.domain.ids import is_id

WORDS = frozenset({
    "text", "title", "system", "tags", "folder", "message", "hint", "error", "parts", "settings", "answer", "snippet",
    "before", "after", "value", "profile",
})  # fmt: skip
"""The fields in which somebody's words can stand, by name, in payloads and responses alike."""


def scrubbed(value: Any) -> Any:
    """JSON VALUE without anybody's words: fields that can hold some are emptied, ids and places stay."""
    match value:
        case dict():
            return {key: _emptied(item) if _speaks(key, value) else scrubbed(item) for key, item in value.items()}
        case list():
            return [scrubbed(item) for item in value]
        case _:
            return value


def _speaks(key: str, around: dict[str, Any]) -> bool:
    return key in WORDS or (key == "name" and around.get("effect") == "label")


def _emptied(value: Any) -> Any:
    match value:
        case str():
            return value if _is_place(value) else ""
        case list():
            return []
        case dict():
            return {}
        case _:
            return value


def _is_place(text: str) -> bool:
    name, _, cut = text.partition("~")
    return is_id(name) and (not cut or cut.isdigit())
