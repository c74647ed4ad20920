"""Digests of paths: SHA-256 folded entry by entry, so that the digest of a longer path starts from that of a shorter.

The *path digest* covers role and parts whole and proves the tree. The *match digest* covers what any client can echo
(role, words with line ends normalised, tool names and arguments) and recognises a path that comes back from outside.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

START = bytes(32)
"""The digest of the empty path."""

_canonical = msgspec.json.Encoder(order="sorted")


class Digests(Struct, frozen=True, gc=False):
    """Both digests of one path, 32 bytes each."""

    path: bytes = START
    match: bytes = START


def fold(before: Digests, role: str, parts: list[dict[str, Any]] | None) -> Digests:
    """The digests of a path that goes on with one entry. PARTS is the JSON of its parts; None: it was purged."""
    return Digests(
        folded(before.path, [role, parts]),
        folded(before.match, [role, None] if parts is None else [role, _words(parts), _calls(parts)]),
    )


def folded(before: bytes, value: Any) -> bytes:
    """The digest, 32 bytes, of what has the digest BEFORE and goes on with VALUE."""
    return sha256(before + spelled(value)).digest()


def spelled(value: Any) -> bytes:
    """The one spelling of VALUE that digests are taken of: keys sorted, no white space, UTF-8."""
    return _canonical.encode(value)


def _words(parts: list[dict[str, Any]]) -> str:
    """What PARTS say, and what results say inside them, one part a paragraph, with LF as every line end."""
    said = (part for part in parts if part["kind"] in ("text", "tool_result"))
    words = (part["text"] if part["kind"] == "text" else _words(part["parts"]) for part in said)
    return "\n\n".join(text for text in words if text).replace("\r\n", "\n").replace("\r", "\n")


def _calls(parts: list[dict[str, Any]]) -> list[list[Any]]:
    return [[part["name"], part["arguments"]] for part in parts if part["kind"] == "tool_call"]
