"""What is left of an event's payload or a receipt's response when the words in it are purged: its structure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

from forkwood.domain.ids import Id, is_id

WORDS = frozenset({
    "text", "title", "system", "tags", "folder", "message", "hint", "error", "facts", "fault", "parts", "settings",
    "answer", "options", "snippet", "warnings", "before", "after", "value", "profile",
    "finish",
})  # fmt: skip
"""The fields in which somebody's words can stand, by name, in payloads and responses alike."""

OF_FAILURES = frozenset({"message", "hint", "error", "facts", "fault"})
"""Those in which a failure is told: providers quote the prompt there."""

GONE = "what was said here was purged"

_GARBLED = "\ufffd"
_OF_TITLES = frozenset({"title", "before", "after"})
_ANSWERS = frozenset({"allow", "deny", "retry", "done", "failed", "go-on", "stop"})
_FORKED = re.compile(r"(?: \(fork(?: \d+)?\))+$")


def scrubbed(value: Any, words: Collection[str] = WORDS) -> Any:
    """JSON VALUE without anybody's words: fields that can hold some are emptied, ids and places stay."""
    match value:
        case dict():
            return {
                key: _emptied(key, item) if key in words or _names(key, value) else scrubbed(item, words)
                for key, item in value.items()
            }
        case list():
            return [scrubbed(item, words) for item in value]
        case _:
            return value


def renamed(value: Any, name_of: Callable[[str], str]) -> Any:
    """JSON VALUE with other names for tool calls: providers chose them, and events tell calls apart by them."""
    match value:
        case dict():
            return {
                key: name_of(item) if key == "call" and isinstance(item, str) else renamed(item, name_of)
                for key, item in value.items()
            }
        case list():
            return [renamed(item, name_of) for item in value]
        case _:
            return value


def forgotten(value: Any, ids: Collection[Id], titles: Collection[str]) -> Any:
    """JSON VALUE that stays, without what it says of what goes: of the objects IDS, and the TITLES made of them."""
    match value:
        case dict():
            if _speaks_of(value, ids):
                return scrubbed(value)
            return {
                key: "" if key in _OF_TITLES and is_made_of(item, titles) else forgotten(item, ids, titles)
                for key, item in value.items()
            }
        case list():
            return [forgotten(item, ids, titles) for item in value]
        case _:
            return value


def is_made_of(title: Any, titles: Collection[str]) -> bool:
    """Whether TITLE is one of TITLES, or that of a fork which was given one of them, cut where it was too long.

    Damage may have garbled it, or them.
    """
    if not isinstance(title, str):
        return False
    bare = _FORKED.sub("", title)
    if title in titles or bare in titles:
        return True
    stem = bare.removesuffix("…").rstrip()
    if bare not in {title, stem} and any(one.startswith(stem) for one in titles):
        return True
    return any(_is_garbled_of(bare, one) for one in titles if _GARBLED in bare + one)


def _is_garbled_of(one: str, other: str) -> bool:
    """Whether both can have been the same text: each character that damage took stands for one, or for none."""
    return len(other) in _reached(one, other) or len(one) in _reached(other, one)


def _reached(garbled: str, text: str) -> set[int]:
    """How much of TEXT a GARBLED text can have been."""
    ends = {0}
    for character in garbled:
        further = {end + 1 for end in ends if text[end : end + 1] in {character, _GARBLED} or character == _GARBLED}
        ends = {end for end in further if end <= len(text)} | (ends if character == _GARBLED else set())
    return ends


def titles_in(payload: dict[str, Any]) -> frozenset[str]:
    """The titles that were given by what an event's PAYLOAD tells."""
    changed = (effect.get("after") for effect in payload.get("effects", ()) if effect.get("key") == "title")
    given = (payload.get("settings", {}).get("title"), *changed)
    # A title by the model is an event of its own; one that was not wanted any more left the title as it was.
    by_model = payload.get("after") if "nodes" in payload and payload.get("after") != payload.get("before") else None
    found = (*given, by_model)
    return frozenset(title for title in found if title)


def _speaks_of(value: dict[str, Any], ids: Collection[Id]) -> bool:
    """Whether an object is one of IDS, is about one, stands for one, or moves a label to or from one."""
    owner = value.get("conversation")
    names = [
        value.get("id"),
        value.get("node"),
        value.get("queued"),
        owner.get("id") if isinstance(owner, dict) else owner,
    ]
    if value.get("effect") == "label":
        names += [value.get("before"), value.get("after")]
    if isinstance(covered := value.get("covers"), list):
        names += covered  # a summary says what the messages said that it stands for
    return any(isinstance(name, str) and name in ids for name in names)


def _names(key: str, around: dict[str, Any]) -> bool:
    """Whether a name was somebody's words: a label, or a tool that a model made up."""
    return key == "name" and (around.get("effect") == "label" or bool(around.get("fault")))


def _emptied(key: str, value: Any) -> Any:
    match value:
        case str():
            return value if _is_place(value) or (key == "answer" and value in _ANSWERS) else ""
        case list():
            return []
        case dict() if key == "error":
            return {**{part: value[part] for part in ("kind", "reason") if part in value}, "message": GONE, "hint": ""}
        case dict():
            return {}
        case _:
            return value


def _is_place(text: str) -> bool:
    name, _, cut = text.partition("~")
    return is_id(name) and (not cut or cut.isdigit())
