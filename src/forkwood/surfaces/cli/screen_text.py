"""Text as a screen may show it: nothing in it moves the cursor, hides itself or turns the reading direction."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_INK = re.compile(r"\x1b\[[0-9;]*m")
JOINERS = frozenset("\u200c\u200d")
"""Zero-width, and yet they have work to do between letters of many scripts and inside emoji."""
BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters by their class, and nothing to see."""


def visible(text: str) -> str:
    """TEXT with every character that could not be seen, or would act on the screen, spelled as `\\x00` or `\\u202e`.

    Line breaks (CRLF as LF) and tabs stay; so do joiners between two characters beyond ASCII.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(
        spelled(character) if _is_unseen(character) and not _joins(text, index) else character
        for index, character in enumerate(text)
    )


def visible_line(text: str) -> str:
    """TEXT as one visible line: line breaks and tabs become spaces."""
    return visible(" ".join(text.split()))


def spelled(character: str) -> str:
    """CHARACTER by its number, as Python and JSON readers know it."""
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def cells(text: str) -> int:
    """How many columns TEXT takes on a terminal: wide characters two, combining ones and our own colours none."""
    text = _INK.sub("", text) if "\x1b" in text else text
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def cropped(text: str, width: int) -> str:
    """TEXT in at most WIDTH columns, with an ellipsis where something was cut off."""
    if cells(text) <= width:
        return text
    kept, left = [], width - 1
    for character in text:
        left -= _cells_of(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def indented(text: str, by: str = "  ") -> str:
    """TEXT with BY before each line that says something."""
    return "\n".join(by + line if line.strip() else "" for line in text.split("\n"))


def wrapped(text: str, width: int) -> str:
    """TEXT with its longer lines broken between words, each going on under its own beginning; WIDTH 0: as it is."""
    if not width:
        return text
    return "\n".join(line if cells(line) <= width else _broken(line, width) for line in text.split("\n"))


def _broken(line: str, width: int) -> str:
    margin = line[: len(line) - len(line.lstrip(" "))][: width // 2]
    kept, row, room = [], margin, width - len(margin)
    for word in line.strip(" ").split(" "):
        taken = cells(row) - len(margin)
        if taken and taken + 1 + cells(word) > room:
            kept.append(row)
            row = margin + word
        else:
            row += f" {word}" if taken else word
    return "\n".join([*kept, row])


@lru_cache(maxsize=4096)
def _is_unseen(character: str) -> bool:
    if character in "\n\t":
        return False
    if character in BLANK_LETTERS or 0xE0000 <= ord(character) <= 0xE01EF:
        return True
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _joins(text: str, index: int) -> bool:
    """Whether the character at INDEX is a joiner that stands between two characters beyond ASCII."""
    if text[index] not in JOINERS or not 0 < index < len(text) - 1:
        return False
    around = text[index - 1], text[index + 1]
    return all(ord(neighbour) > 0x7F and not _is_unseen(neighbour) for neighbour in around)


@lru_cache(maxsize=4096)
def _cells_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
