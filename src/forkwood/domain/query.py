"""What a person asks a search for: words, taken literally, and what the index is asked so that none is missed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.domain.words import fold, is_unspaced, pieces, terms

_LINE = re.compile(r'(?<!\S)"([^"]*[^"\s][^"]*)"(?!\S)|(\S+)')
_UNTYPABLE = re.compile("[\x00\ud800-\udfff]")
_RAW = re.compile(r'"((?:[^"]|"")*)"|([^\W]+)|(,\s*\d+)|(.)', re.DOTALL)
_OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR"})
_BEGINNING_MIN = 2


class Word(Struct, frozen=True, kw_only=True):
    """One word, or phrase with single spaces, folded: what must stand in a message, and the terms it is indexed by.

    No literal is empty.
    """

    literal: str
    terms: tuple[str, ...]
    pieces: tuple[str, ...] = ()
    """Of an identifier with humps: it may also stand inside a longer one."""
    begins: bool = False
    """Longer words that begin with it will do."""
    checked: bool = True
    """Whether a message that the index names must still be read to see that the literal stands there."""


def words_of_line(line: str) -> list[str]:
    """The words of a LINE typed into one field: white space parts them, and "a phrase in quotes" is one."""
    return [phrase or word for phrase, word in _LINE.findall(line)]


def asked(words: Sequence[str]) -> tuple[Word, ...]:
    """WORDS as a search takes them; blank ones, and those of unseen characters alone, ask nothing.

    Raises Misused (nothing asked, no text) and LimitExceeded.
    """
    assert not isinstance(words, str), "words come one by one: words_of_line parts a line"
    said = [" ".join(word.split()) for word in words]
    _check([word for word in said if word])
    found = _heard(said)
    if not found:
        raise Misused(
            "There is nothing to search for: these characters are not seen by themselves",
            hint="name at least one word with a letter, a digit or a sign in it",
        )
    return found


def without_stars(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """WORDS without the final `*` that asks for longer words too, or None where no word has one."""
    if not any(_is_starred(word) for word in words):
        return None
    return tuple(_bare(word) if _is_starred(word) else word for word in words)


def beginnings(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """WORDS as beginnings of longer ones, or None where none can be one."""
    if not any(_is_beginning(word) for word in words):
        return None
    return tuple(replace(_bare(word), begins=True) if _is_beginning(word) else word for word in words)


def expression(words: Iterable[Word]) -> str:
    """The FTS5 query whose answer holds every message with all of WORDS; empty where they have no terms at all."""
    return " AND ".join(_phrases(word) for word in words if word.terms)


def raw_expression(words: Sequence[str]) -> str:
    """FTS5's own syntax as the index understands it: operators stay, words and quoted strings are folded and split."""
    _check(list(words))
    return "".join(_raw_token(*found) for found in _RAW.findall(" ".join(words)))


def raw_words(words: Sequence[str]) -> tuple[Word, ...]:
    """The words in a query of FTS5's own syntax, each by itself: what a snippet can show."""
    found = (string.replace('""', '"') or bare for string, bare, _, _ in _RAW.findall(" ".join(words)))
    return _heard(" ".join(word.split()) for word in found if word not in _OPERATORS)


def holds(word: Word, folded: str) -> bool:
    """Whether WORD stands literally in FOLDED text; between the words of a phrase any white space will do."""
    if " " not in word.literal:
        return word.literal in folded
    return re.search(pattern(word.literal), folded) is not None


def pattern(literal: str) -> str:
    """The regular expression of a folded LITERAL."""
    return r"\s+".join(re.escape(part) for part in literal.split(" "))


def _heard(said: Iterable[str]) -> tuple[Word, ...]:
    """Those of SAID of which folding leaves something: nothing at all stands everywhere."""
    return tuple(word for word in map(_word, said) if word.literal)


def _word(said: str) -> Word:
    literal = " ".join(fold(said).split())
    found, humps = tuple(terms(literal)), tuple(pieces(said))
    return Word(literal=literal, terms=found, pieces=humps, checked=bool(humps) or found != (literal,))


def _bare(word: Word) -> Word:
    literal = word.literal.removesuffix("*")
    return replace(word, literal=literal, checked=bool(word.pieces) or word.terms != (literal,))


def _is_starred(word: Word) -> bool:
    """Whether WORD ends in a letter or digit and a `*`."""
    return word.literal.endswith("*") and bool(word.terms) and word.literal[:-1].endswith(word.terms[-1])


def _is_beginning(word: Word) -> bool:
    """Whether longer words may begin with WORD: it ends inside one, and is long enough to mean some, or is starred."""
    last = word.terms[-1] if word.terms else ""
    if not last or is_unspaced(last[-1]) or not word.literal.removesuffix("*").endswith(last):
        return False
    return len(last) >= _BEGINNING_MIN or _is_starred(word)


def _phrases(word: Word) -> str:
    ways = [way for way in (word.terms, word.pieces) if way]
    quoted = " OR ".join(f'"{" ".join(way)}"{" *" if word.begins else ""}' for way in ways)
    return f"({quoted})" if len(ways) > 1 else quoted


def _raw_token(string: str, bare: str, count: str, other: str) -> str:
    if count or other:
        return count or other
    if bare in _OPERATORS:
        return bare
    return f'"{" ".join(terms(fold(string or bare)))}"'


def _check(words: list[str]) -> None:
    if not any(word.strip() for word in words):
        raise Misused("There is nothing to search for", hint="name at least one word, for example: search budget")
    if any(_UNTYPABLE.search(word) for word in words):
        raise Misused("A word holds NUL or half a character: no message could match", hint="type the word anew")
    if len(words) > limits.search_words_max:
        raise LimitExceeded(
            "Words in one search", limit="search_words_max", bound=limits.search_words_max, got=len(words),
            hint="a phrase in quotes counts as one word",
        )  # fmt: skip
    longest = max(map(len, words))
    if longest > limits.search_word_characters_max:
        raise LimitExceeded(
            "Characters in one word of a search", limit="search_word_characters_max",
            bound=limits.search_word_characters_max, got=longest, hint="search for a part of it",
        )  # fmt: skip
