"""Keeps credentials out of what comes back from a provider: its error texts, and replies that echo a key."""

from __future__ import annotations

import re
from urllib.parse import quote

MASK = "[secret]"
ERROR_SECRET_CHARACTERS_MIN = 4
REPLY_SECRET_CHARACTERS_MIN = 12
"""A shorter value may well be a plain word of an answer (some local servers take `ollama` for a key)."""

_SHAPES = re.compile(
    r"""(?<![A-Za-z0-9])(?:sk-[\w*.…-]{6,}|gh[opsur]_\w{8,}|github_pat_\w{8,}|AIza[\w-]{16,}|gsk_\w{8,}|xai-[\w-]{8,}
    |hf_\w{10,}|AKIA[0-9A-Z]{12,}|xox[abprs]-[\w-]{8,}|eyJ[\w-]{8,}\.[\w.-]{8,})""",
    re.VERBOSE,
)
_NAMED = re.compile(
    r"""(?P<name>(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token)\s+)?)[^\s"',;]+
    |(?P<key>(?:x-|x-goog-)?api[-_\ ]?key["']?\s*[:=]\s*["']?)[^\s"',;]{8,}
    |(?P<bearer>\bbearer\s+)(?=[^\s"',;]*\d|[^\s"',;]{20})[^\s"',;]{8,}
    |(?P<query>[?&](?:key|api_key|token|access_token)=)[^\s&"']+""",
    re.VERBOSE | re.IGNORECASE,
)


def masked(text: str, secrets: tuple[str, ...]) -> str:
    """TEXT of an error without SECRETS, without anything shaped like a key, without values of credential headers."""
    for secret in tellable(secrets):
        text = text.replace(secret, MASK).replace(quote(secret, safe=""), MASK)
    text = _SHAPES.sub(MASK, text)
    return _NAMED.sub(lambda found: f"{next(filter(None, found.groups()), '')}{MASK}", text)


def settled(text: str, secrets: tuple[str, ...]) -> tuple[str, str]:
    """TEXT of a reply in flight, in two: what can be shown, free of SECRETS, and the end that may still become one."""
    held = 0
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, MASK)
        held = max(held, _beginning(text, secret))
    return (text[:-held], text[-held:]) if held else (text, "")


def tellable(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """Those of SECRETS that are looked for in errors, the longest first."""
    return tuple(sorted({one for one in secrets if len(one) >= ERROR_SECRET_CHARACTERS_MIN}, key=len, reverse=True))


def echoable(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """Those of SECRETS that are looked for in replies, the longest first."""
    return tuple(sorted({one for one in secrets if len(one) >= REPLY_SECRET_CHARACTERS_MIN}, key=len, reverse=True))


def _beginning(text: str, secret: str) -> int:
    """How many characters at the end of TEXT are the beginning of SECRET."""
    tail = text[1 - len(secret) :]
    at = tail.find(secret[0])
    while at >= 0:
        if secret.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(secret[0], at + 1)
    return 0
