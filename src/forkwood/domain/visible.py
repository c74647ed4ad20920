"""Text as a person must see it who decides on it: what hides, acts on a screen or passes for a blank is spelled out."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\U0001d159")
"""Letters and symbols by their class, and nothing to see."""
_UNSEEN_MARKS = frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f")
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0000, 0xE1000))
"""Variation selectors and tags: whole messages can be hidden in them."""
_UNSEEN_CLASSES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})


def visible(text: str) -> str:
    """TEXT with every character but line feeds that shows nothing, acts, or looks like a blank and is none, spelled as
    `\\u202e` by its number. Joiners are spelled too: what is decided on is no place for what cannot be seen."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(_spelled(character) if _is_unseen(character) else character for character in text)


def _spelled(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


@lru_cache(maxsize=4096)
def _is_unseen(character: str) -> bool:
    if character in {" ", "\n"}:
        return False
    if character in _BLANK_LETTERS or character in _UNSEEN_MARKS:
        return True
    if any(ord(character) in span for span in _SELECTORS):
        return True
    return unicodedata.category(character) in _UNSEEN_CLASSES
