"""Text as a search sees it: folded, and split into the terms that are indexed and asked for.

Folding makes equal what a person takes for equal: compatibility forms (full width, ligatures), case, diacritics, kinds
of dashes and quotes. A term is a run of letters and digits; in scripts written without spaces each character is one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from forkwood.domain.message import Attachment, Part, Text, Thinking, ToolCall, ToolResult

TERM_CHARACTERS = 64
"""A longer term (base64, minified code) is indexed by its beginning; the literal check sees the rest."""

# Han, kana, bopomofo and Hangul; Thai and Lao, Myanmar, Khmer: written without spaces, or with endings grown on.
_UNSPACED = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u3099\u309a\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001aff0-\U0001b16f\U00020000-\U0003fffd\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1780-\u17d3"
)
# Vowel signs of the scripts of South Asia stand inside words, though Unicode does not count them as letters.
_VOWEL_SIGNS = "\u0900-\u0963\u0966-\u0df3"
_TERM = re.compile(f"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\\W_]|[{_VOWEL_SIGNS}])+")
_UNSPACED_ONE = re.compile(f"[{_UNSPACED}]")
_ASCII_TERM = re.compile("[0-9a-z]+")

# ASCII, Han, kana and Hangul: of these only ASCII folds, so most texts need no look at each character.
_ONLY_CASE = re.compile(
    "[\x00-\x7f\u3001-\u3006\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]*"
)

# Accents of Latin, Greek and Cyrillic; points of Hebrew and Arabic; what is not seen: soft hyphens, zero widths.
_UNHEARD = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u00ad\u200b-\u200f\u2060\ufeff]"
)
_SHORT_I = "и\u0306"
_ALIKE = str.maketrans({
    **dict.fromkeys("‘’‚‛′ʼ", "'"), **dict.fromkeys("“”„‟″«»", '"'), **dict.fromkeys("‐‑‒–—―−", "-"),
    "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i",
})  # fmt: skip

_CAMEL = re.compile("[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_IDENTIFIER = re.compile("[A-Za-z0-9]+")
_CAMEL_PIECE = re.compile("[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")


class _Folds(dict[int, str]):
    """What each character folds to, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        spelled = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", chr(code)).casefold())
        if spelled != _SHORT_I:
            spelled = _UNHEARD.sub("", spelled)
        folded = self[code] = unicodedata.normalize("NFC", spelled.translate(_ALIKE))
        return folded


_folds = _Folds()


def fold(text: str) -> str:
    """TEXT with case, diacritics and compatibility forms folded away; white space stays as it is."""
    if text.isascii() or _ONLY_CASE.fullmatch(text):
        return text.lower()
    return unicodedata.normalize("NFKC", text).translate(_folds)


def keeps_places(text: str) -> bool:
    """Whether each character of TEXT folds to exactly one, so that a place in the folded text is the same in TEXT."""
    if text.isascii() or _ONLY_CASE.fullmatch(text):
        return True
    return unicodedata.is_normalized("NFKC", text) and all(len(_folds[ord(character)]) == 1 for character in set(text))


def terms(folded: str) -> list[str]:
    """The terms of FOLDED text in their order."""
    pattern = _ASCII_TERM if folded.isascii() else _TERM
    return [term[:TERM_CHARACTERS] for term in pattern.findall(folded)]


def is_unspaced(character: str) -> bool:
    """Whether CHARACTER belongs to a script written without spaces, so that it is a term by itself."""
    return _UNSPACED_ONE.match(character) is not None


def pieces(text: str) -> list[str]:
    """The pieces of the camel-case identifiers in TEXT, as terms, each identifier once: `userName` gives user, name."""
    if not _CAMEL.search(text):
        return []
    humps = dict.fromkeys(word for word in _IDENTIFIER.findall(text) if _CAMEL.search(word))
    return [piece[:TERM_CHARACTERS].lower() for word in humps for piece in _CAMEL_PIECE.findall(word)]


def indexed(parts: Iterable[Part]) -> str:
    """What the index takes of a message: its terms in order, then the pieces of its identifiers, a space between."""
    texts = list(searchable(parts))
    found = [term for text in texts for term in terms(fold(text))]
    return " ".join(found + [piece for text in texts for piece in pieces(text)])


def searchable(parts: Iterable[Part]) -> Iterator[str]:
    """Every text in PARTS that a search can find, one by one: no hit ever spans two of them."""
    for part in parts:
        match part:
            case Text() | Thinking():
                yield part.text
            case ToolCall():
                yield part.name
                yield from _strings(part.arguments)
            case ToolResult():
                yield part.name
                yield from searchable(part.parts)
            case Attachment():
                yield part.name


def _strings(value: Any) -> Iterator[str]:
    """The keys, texts and numbers in a JSON VALUE."""
    match value:
        case str():
            yield value
        case dict():
            for key, item in value.items():
                yield str(key)
                yield from _strings(item)
        case list() | tuple():
            for item in value:
                yield from _strings(item)
        case None | bool():
            return
        case _:
            yield str(value)
