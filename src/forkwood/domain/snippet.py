"""The piece of a message that a hit shows: plain text around the first place that matches, and the ranges that do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from forkwood.domain.query import Word, pattern
from forkwood.domain.words import fold, keeps_places

Range: TypeAlias = tuple[int, int]
Folded: TypeAlias = tuple[str, str]
"""A text, and what it folds to."""

BEFORE_CHARACTERS = 60
SNIPPET_CHARACTERS = 200
_MARKED_CHARACTERS = 100
"""A longer literal is marked by its beginning: its end may lie outside the snippet."""
_BLOCK_CHARACTERS = 4_096
# A character with what is written onto it: accents, kana voicing, the vowels and finals of spelled-out Hangul.
_SPACE = re.compile(r"\s+")
_GIVEN_UP_CHARACTERS = 24
_CLUSTER = re.compile(".[\u0300-\u036f\u3099\u309a\uff9e\uff9f\u1160-\u11ff]*", re.DOTALL)


def snippet(texts: Sequence[Folded], words: Sequence[Word]) -> tuple[str, tuple[Range, ...]]:
    """A piece of the first of TEXTS that holds one of WORDS, on one line, and the ranges of characters that match.

    The first word is looked for first. Where none is found (a query in FTS5's own syntax) the first text begins.
    """
    for word in words:
        for text, folded in texts:
            places = _places(folded, word.literal)
            if places:
                return _shown(text, _origin(text, folded, places[0][0]), words)
    return _shown(next((text for text, _ in texts if text.strip()), ""), 0, words)


def _places(folded: str, literal: str) -> list[Range]:
    """Where LITERAL stands in FOLDED: where words begin with it, or if none does, inside words too."""
    assert literal, "nothing at all stands everywhere, and is never passed"
    found = _phrase_places(folded, literal) if " " in literal else _word_places(folded, literal)
    return [place for place in found if not folded[place[0] - 1 : place[0]].isalnum()] or found


def _phrase_places(folded: str, literal: str) -> list[Range]:
    return [match.span() for match in re.finditer(pattern(literal), folded)]


def _word_places(folded: str, literal: str) -> list[Range]:
    found: list[Range] = []
    start = folded.find(literal)
    while start >= 0:
        end = start + len(literal)
        found.append((start, end))
        start = folded.find(literal, end)
    return found


def _origin(text: str, folded: str, start: int) -> int:
    """The character of TEXT that gave the one at START of FOLDED, as near as a snippet needs it."""
    if len(text) == len(folded):
        return start
    for block in range(0, len(text), _BLOCK_CHARACTERS):
        piece = text[block : block + _BLOCK_CHARACTERS]
        length = len(fold(piece))
        if start < length:
            return block + _origins(piece)[1][start]
        start -= length
    return 0


def _origins(text: str) -> tuple[str, Sequence[int]]:
    """TEXT folded, and for each folded character, and the end, where in TEXT it comes from."""
    if keeps_places(text):
        return fold(text), range(len(text) + 1)
    folded: list[str] = []
    origins: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        spelled = fold(cluster[0])
        folded.append(spelled)
        origins.extend([cluster.start()] * len(spelled))
    origins.append(len(text))
    return "".join(folded), origins


def _shown(text: str, start: int, words: Iterable[Word]) -> tuple[str, tuple[Range, ...]]:
    """The part of TEXT around START on one line, cut between words where there are any, with an ellipsis where cut."""
    left = max(0, start - BEFORE_CHARACTERS)
    right = left + SNIPPET_CHARACTERS
    head, tail = text[left:start], text[start:right]
    if left:
        head = _after_space(head)
    if right < len(text):
        tail = _after_space(tail[::-1])[::-1]
    line = " ".join((head + tail).split())
    before, after = "…" if left else "", "…" if right < len(text) else ""
    return f"{before}{line}{after}", _marks(line, words, len(before))


def _after_space(text: str) -> str:
    """TEXT from its second word on, if its first is short enough to be given up."""
    space = _SPACE.search(text, 0, _GIVEN_UP_CHARACTERS)
    return text[space.end() :] if space else text


def _marks(line: str, words: Iterable[Word], offset: int) -> tuple[Range, ...]:
    folded, origins = _origins(line)
    ranges = [place for word in words for place in _places(folded, word.literal[:_MARKED_CHARACTERS].rstrip())]
    return _merged((origins[start] + offset, origins[end] + offset) for start, end in sorted(ranges))


def _merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    merged: list[Range] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)
