"""Keeps credentials out of the error texts that come back from a provider."""

from __future__ import annotations

import re
from urllib.parse import quote

from forkwood.domain.masking import MASK, echoable, masked_text

ERROR_SECRET_CHARACTERS_MIN = 4

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
    """TEXT of an error without SECRETS, without anything shaped like a key, without values of credential headers.

    A secret that is long enough is found in all its forms, a shorter one as it is and as part of an address.
    """
    text = masked_text(text, echoable(secrets))
    for secret in tellable(secrets):
        text = text.replace(secret, MASK).replace(quote(secret, safe=""), MASK)
    text = _SHAPES.sub(MASK, text)
    return _NAMED.sub(lambda found: f"{next(filter(None, found.groups()), '')}{MASK}", text)


def tellable(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """Those of SECRETS that are looked for in errors, the longest first."""
    return tuple(sorted({one for one in secrets if len(one) >= ERROR_SECRET_CHARACTERS_MIN}, key=len, reverse=True))
