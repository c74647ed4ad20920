"""The forms of a credential that are looked for in the readings of a text: itself, backwards, and in the usual codes.

Not only a whole form is found: so much of one as would give it away is masked wherever it stands. What is found is told
as a span of the text.
"""

from __future__ import annotations

import re
from base64 import b32encode, b64encode
from collections.abc import Iterator
from functools import lru_cache
from math import ceil
from typing import TypeAlias

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.readings import LETTERS, SIGNS, Family, Reading, Span, begun, read, read_mapped, suited

FORM_CHARACTERS_MIN = 8
"""Fewer could be any word: a form that reads shorter is not looked for, nor is a shorter piece of one."""
TELLING = 1 / 2
"""How much of a form gives it away: of two halves one is masked at least."""
TELLING_OF_WORDS = 9 / 10
"""The same for a value that is made of words: half of it is what people say."""
GRAM = 3
"""So many characters of a form at the end of a text, from anywhere in it, are held back."""

_WORDS = re.compile(r"(?:(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,15})(?:[\W_]+|\Z))+")

Place: TypeAlias = tuple[str, int]
"""A form, and where in it something stands."""


class Form(Struct, frozen=True, kw_only=True):
    """WORD is what one reads as. From LEAST characters in a row on it is masked; its first one is HELD back already."""

    word: str
    least: int
    held: bool = False


class Forms(Struct, frozen=True, kw_only=True):
    """What is looked for, and in which readings. WORDS has each form, and how much of it is masked."""

    words: dict[str, int]
    blocks: dict[str, tuple[Place, ...]]
    """Pieces of which one stands in whatever is to be masked."""
    grams: dict[str, tuple[Place, ...]]
    """All pieces of GRAM characters, each with where it ends."""
    beginnings: frozenset[str]
    """Whatever is shorter than that and begins a form that is held."""
    families: tuple[Family, ...]
    longest: int
    shortest: int
    """The most characters that a form has, and the fewest that are masked."""


@lru_cache(maxsize=8)
def forms_of(secrets: tuple[str, ...]) -> Forms:
    """All forms of SECRETS, of which there is one at least."""
    found = [form for secret in secrets for form in _forms(secret)]
    words = {form.word: form.least for form in sorted(found, key=lambda form: (form.word, -form.least))}
    lettered = all(len(read(secret, LETTERS[0])) >= FORM_CHARACTERS_MIN for secret in secrets)
    return Forms(
        words=words,
        blocks=_placed(_blocks(words)),
        grams=_placed(
            (word[at : at + GRAM], (word, at + GRAM)) for word in words for at in range(len(word) - GRAM + 1)
        ),
        beginnings=frozenset(form.word[:length] for form in found if form.held for length in range(1, GRAM)),
        families=(LETTERS,) if lettered else (LETTERS, SIGNS),
        longest=max(map(len, words), default=0),
        shortest=min(words.values(), default=0),
    )


def spans(text: str, forms: Forms) -> list[Span]:
    """Where so much of a secret stands in TEXT as gives it away, in any of its FORMS: from left to right."""
    kept: list[Span] = []
    for start, end in sorted(span for _, reading in _suited(text, forms) for span in _found(text, reading, forms)):
        if kept and start < kept[-1][1]:
            kept[-1] = kept[-1][0], max(end, kept[-1][1])
        else:
            kept.append((start, end))
    return kept


def looked(text: str, forms: Forms) -> tuple[list[Span], int]:
    """TEXT so far, of which more may come: the spans that are sure, and where that begins which may yet become one.

    Ordinary text costs one look.
    """
    hold = len(text)
    for family, reading in _suited(text, forms):
        end, escaped = begun(text, reading, family)
        words = read(text[:end], reading)
        if _ends_as_one(words, forms) or any(_present(words, forms)):
            return _settled(text, forms)
        hold = min(hold, escaped)
    return [], hold


def recent(text: str) -> str:
    """The end of TEXT, all of it told, that is to be looked at again with what comes."""
    marked = text[-limits.secret_told_marked_characters_max :]
    if "<" in marked or "\\" in marked or "%" in marked or "&" in marked:
        return marked
    return marked[-limits.secret_told_characters_max :]


def betrays(text: str, forms: Forms) -> bool:
    """Whether TEXT ends with half of what a secret begins with: as much as would tell it."""
    return any(
        start == 0 and end >= TELLING * len(word)
        for _, reading in _suited(text, forms)
        for word, start, end in _ends(read(text, reading), forms)
    )


def _forms(secret: str) -> Iterator[Form]:
    """What SECRET reads as. In a code it stands at one of several places, whatever stands before it."""
    content = secret.encode("utf-8", "surrogatepass")
    family = LETTERS if len(read(secret, LETTERS[0])) >= FORM_CHARACTERS_MIN else SIGNS
    share = TELLING_OF_WORDS if _WORDS.fullmatch(secret) else TELLING
    for plain in {read(secret, reading) for reading in family}:
        yield from _form(plain, share, held=True)
        yield from _form(plain[::-1], share)
    yield from _form(content.hex(), held=True)
    for before in range(3):
        yield from _form(_coded(b64encode(bytes(before) + content).decode(), before, len(content), 6), held=True)
    for before in range(5):
        yield from _form(_coded(b32encode(bytes(before) + content).decode(), before, len(content), 5))


def _form(word: str, share: float = TELLING, *, held: bool = False) -> Iterator[Form]:
    if len(word) >= FORM_CHARACTERS_MIN:
        yield Form(word=word, least=max(FORM_CHARACTERS_MIN, ceil(len(word) * share)), held=held)


def _coded(code: str, before: int, length: int, bits: int) -> str:
    """What reads in CODE, of so many BITS a character, of LENGTH bytes alone, with so many other bytes BEFORE them."""
    return read(code[ceil(before * 8 / bits) : (before + length) * 8 // bits], LETTERS[0])


def _blocks(words: dict[str, int]) -> Iterator[tuple[str, Place]]:
    """So many that one of them stands, whole, in each piece that has the least length."""
    for word, least in words.items():
        step = least // 2
        size = least - step + 1
        for at in range(0, len(word) - size + 1, step):
            yield word[at : at + size], (word, at)


def _placed(found: Iterator[tuple[str, Place]]) -> dict[str, tuple[Place, ...]]:
    places: dict[str, tuple[Place, ...]] = {}
    for piece, place in found:
        places[piece] = (*places.get(piece, ()), place)
    return places


def _suited(text: str, forms: Forms) -> Iterator[tuple[Family, Reading]]:
    for family in forms.families:
        for reading in suited(text, family):
            yield family, reading


def _present(words: str, forms: Forms) -> Iterator[str]:
    return (block for block in forms.blocks if block in words) if len(words) >= forms.shortest else iter(())


def _found(text: str, reading: Reading, forms: Forms) -> Iterator[Span]:
    words = read(text, reading)
    runs = {run for block in _present(words, forms) for run in _runs(words, block, forms)}
    if runs:
        mapped = read_mapped(text, reading)
        yield from (mapped.span(start, end) for start, end in runs)


def _runs(words: str, block: str, forms: Forms) -> Iterator[Span]:
    """Where in WORDS so much of a form stands around BLOCK as is to be masked."""
    most = max(forms.words[word] for word, _ in forms.blocks[block])
    at = words.find(block)
    while at >= 0:
        last = 0
        for word, place in forms.blocks[block]:
            start = at - _alike_before(words, at, word, place)
            end = at + _alike_after(words, at, word, place)
            if end - start >= forms.words[word]:
                last = max(last, end)
                yield start, end
        # what goes on after the last one has its block there: a row of one letter is not looked at letter by letter
        at = words.find(block, max(at + 1, last - most + 1))


def _alike_before(words: str, at: int, word: str, place: int) -> int:
    """How many characters before AT in WORDS are those before PLACE in WORD."""
    most = min(at, place)
    return next((n for n in range(most) if words[at - n - 1] != word[place - n - 1]), most)


def _alike_after(words: str, at: int, word: str, place: int) -> int:
    """How many characters from AT on in WORDS are those from PLACE on in WORD."""
    most = min(len(words) - at, len(word) - place)
    return next((n for n in range(most) if words[at + n] != word[place + n]), most)


def _ends(words: str, forms: Forms) -> Iterator[tuple[str, int, int]]:
    """With what WORDS end: a form, and from where to where in it."""
    for word, end in forms.grams.get(words[-GRAM:], ()):
        yield word, end - _alike_before(words, len(words), word, end), end


def _ends_as_one(words: str, forms: Forms) -> bool:
    """Whether WORDS end as a secret may begin or go on."""
    return words[-GRAM:] in forms.grams or words[-2:] in forms.beginnings or words[-1:] in forms.beginnings


def _settled(text: str, forms: Forms) -> tuple[list[Span], int]:
    """As `looked`, in full."""
    found, hold = spans(text, forms), _open(text, 0, forms)
    sure = [span for span in found if span[1] <= hold]
    for start, end in found[len(sure) :]:
        if hold <= start:
            break
        sure.append((start, end))
        hold = _open(text, end, forms)
    return sure, hold


def _open(text: str, after: int, forms: Forms) -> int:
    """Where in TEXT that begins, AFTER there, which may still become a secret."""
    before = max(after, len(text) - limits.secret_spelling_characters_max * forms.longest)
    end = text[before:]
    return before + min(_open_as(end, family, reading, forms) for family, reading in _suited(end, forms))


def _open_as(text: str, family: Family, reading: Reading, forms: Forms) -> int:
    end, escaped = begun(text, reading, family)
    mapped = read_mapped(text[:end], reading)
    words = mapped.words
    first = len(words) - _open_characters(words, forms)
    if first < len(words):
        start, last = mapped.span(first, len(words))
        if len(text) - last <= limits.secret_gap_characters_max:
            return start
    return escaped


def _open_characters(words: str, forms: Forms) -> int:
    """How many characters at the end of WORDS stand in a form, and not at its end."""
    longest = max((end - start for word, start, end in _ends(words, forms) if end < len(word)), default=0)
    return longest or next((n for n in (2, 1) if words[-n:] in forms.beginnings), 0)
