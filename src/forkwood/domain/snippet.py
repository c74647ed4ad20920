"""The piece of a message that a hit shows: plain text around the first place that matches, and the ranges that do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from forkwood.domain.query import Word, pattern
from forkwood.domain.words import fold

Range: TypeAlias = tuple[int, int]

BEFORE_CHARACTERS = 60
SNIPPET_CHARACTERS = 200
_MARKED_CHARACTERS = 100
"""A longer literal is marked by its beginning: its end may lie outside the snippet."""
_BLOCK_CHARACTERS = 4_096
# A character with what is written onto it: accents, kana voicing, the vowels and finals of spelled-out Hangul.
_CLUSTER = re.compile(".[\u0300-\u036f\u3099\u309a\uff9e\uff9f\u1160-\u11ff]*", re.DOTALL)


def snippet(texts: Sequence[str], words: Sequence[Word]) -> tuple[str, tuple[Range, ...]]:
    """A piece of the first of TEXTS that holds one of WORDS, on one line, and the ranges of characters that match.

    The first word is looked for first. Where none is found (a query in FTS5's own syntax) the first text begins.
    """
    for word in words:
        for text in texts:
            start = _first(fold(text), word.literal)
            if start is not None:
                shown = _window(text, _origin(text, start))
                return shown, _marks(shown, words)
    shown = _window(next((text for text in texts if text.strip()), ""), 0)
    return shown, _marks(shown, words)


def _first(folded: str, literal: str) -> int | None:
    """Where LITERAL stands in FOLDED: the first place where a word begins with it, else the first at all."""
    expression = pattern(literal)
    found = re.search(rf"(?<!\w){expression}", folded) or re.search(expression, folded)
    return found.start() if found else None


def _origin(text: str, start: int) -> int:
    """The character of TEXT that gave the one at START of the folded text, as near as blocks of it can tell."""
    if text.isascii():
        return start
    for block in range(0, len(text), _BLOCK_CHARACTERS):
        piece = text[block : block + _BLOCK_CHARACTERS]
        length = len(fold(piece))
        if start < length:
            return block + _origins(piece)[1][start]
        start -= length
    return 0


def _origins(text: str) -> tuple[str, list[int]]:
    """TEXT folded cluster by cluster, and for each folded character, and the end, where its cluster begins in TEXT."""
    folded: list[str] = []
    origins: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        spelled = fold(cluster[0])
        folded.append(spelled)
        origins.extend([cluster.start()] * len(spelled))
    origins.append(len(text))
    return "".join(folded), origins


def _window(text: str, start: int) -> str:
    """The part of TEXT around START on one line, cut between words where there are any, with an ellipsis where cut."""
    left = max(0, start - BEFORE_CHARACTERS)
    right = min(len(text), left + SNIPPET_CHARACTERS)
    head, tail = text[left:start], text[start:right]
    if left:
        head = "…" + _after_space(head)
    if right < len(text):
        tail = _after_space(tail[::-1])[::-1] + "…"
    return " ".join((head + tail).split())


def _after_space(text: str) -> str:
    """TEXT from its second word on, if its first is short enough to be given up."""
    space = re.search(r"\s+", text[:24])
    return text[space.end() :] if space else text


def _marks(shown: str, words: Iterable[Word]) -> tuple[Range, ...]:
    folded, origins = _origins(shown)
    found = [
        (origins[match.start()], origins[match.end()])
        for word in words
        for match in _matches(folded, word.literal)
    ]  # fmt: skip
    return _merged(sorted(found))


def _matches(folded: str, literal: str) -> list[re.Match[str]]:
    expression = pattern(literal[:_MARKED_CHARACTERS].rstrip())
    return list(re.finditer(rf"(?<!\w){expression}", folded)) or list(re.finditer(expression, folded))


def _merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    merged: list[Range] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)
