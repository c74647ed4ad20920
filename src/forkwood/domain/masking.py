"""Credentials do not get about: their values are replaced where words come in, also where they come in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MASK = "[secret]"
SECRET_CHARACTERS_MIN = 12
"""A shorter value may well be a plain word of an answer (some local servers take `ollama` for a key)."""


def echoable(secrets: Iterable[str]) -> tuple[str, ...]:
    """Those of SECRETS that are looked for in words, the longest first."""
    return tuple(sorted({one for one in secrets if len(one) >= SECRET_CHARACTERS_MIN}, key=len, reverse=True))


def settled(text: str, secrets: tuple[str, ...]) -> tuple[str, str]:
    """TEXT of a reply in flight, in two: what can be shown, free of SECRETS, and the end that may still become one."""
    held = 0
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, MASK)
        held = max(held, _beginning(text, secret))
    return (text[:-held], text[-held:]) if held else (text, "")


def masked_text(text: str, secrets: tuple[str, ...]) -> str:
    """TEXT, which is whole, without SECRETS (the longest first)."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def masked_value(value: Any, secrets: tuple[str, ...]) -> Any:
    """VALUE, as JSON has it, without SECRETS in any of its strings, keys too."""
    match value:
        case str():
            return masked_text(value, secrets)
        case dict():
            return {masked_text(key, secrets): masked_value(one, secrets) for key, one in value.items()}
        case list() | tuple():
            return type(value)(masked_value(one, secrets) for one in value)
        case _:
            return value


def names_in(text: str, named: Mapping[str, str]) -> list[str]:
    """The names of the secrets (NAMED: name to value) that TEXT holds the values of, each value once."""
    found = {value: name for name, value in sorted(named.items(), reverse=True) if value in text}
    return sorted(found.values())


def _beginning(text: str, secret: str) -> int:
    """How many characters at the end of TEXT are the beginning of SECRET."""
    tail = text[1 - len(secret) :]
    at = tail.find(secret[0])
    while at >= 0:
        if secret.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(secret[0], at + 1)
    return 0
