"""The forms a credential takes in a text: another case, escapes, mark-up and blanks in between, base64, hexadecimal.

A text is *read*: blanks taken out, in lower case; where it holds escapes or mark-up, also with those undone. A form is
a string that is looked for in each reading. What is found is told as a span of the text as it stands.
"""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

FORM_CHARACTERS_MIN = 8
"""A form that reads shorter could be any word (a value that is mostly blanks, or all mark-up)."""
GAP_CHARACTERS_MAX = 256
"""How much may stand between two characters of a value for which the end of a text is held back."""
SPELLING_CHARACTERS_MAX = 32
"""How many may stand for one character of a form, on average, for that: no escape is longer."""
TAG_CHARACTERS_MAX = 64
"""How long an opened tag may be for that: a longer one may be no tag at all."""

Span: TypeAlias = tuple[int, int]

_BLANKS = r"\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_HEX = "[0-9a-fA-F]"
_BACKSLASH = r"(?: \\ | %(?:25)*5[cC] )+"
_END = "(?: ; | %(?:25)*3[bB] )"
_AND = rf"(?: & | %(?:25)*26 | \\+(?:u00|x)26 )(?:amp{_END})*"
_NUMBER = r"(?: \# | %(?:25)*23 )"
_ESCAPES = rf"""
 | {_AND}(?: {_NUMBER}(?: (?P<tens>[0-9]{{1,7}}) | [xX](?P<sixteens>{_HEX}{{1,6}}) ){_END}?
         | (?P<named>[A-Za-z]{{2,8}}){_END} )
 | {_BACKSLASH}(?: u(?P<unit>{_HEX}{{4}}) | u\{{(?P<braced>{_HEX}{{1,6}})\}} | x(?P<pair>{_HEX}{{2}}) | [nrtfbv]
        | (?=[^0-9A-Za-z]) )
 | (?P<bytes>(?: %(?:25)*[89a-fA-F]{_HEX} )+) | %(?:25)*(?P<byte>{_HEX}{{2}})
"""
_PLAIN = re.compile(f"[{_BLANKS}]+")
_UNDONE = re.compile(f"[{_BLANKS}]+ {_ESCAPES}", re.VERBOSE)
_BARE = re.compile(f"[{_BLANKS}]+ | <[^<>]*> {_ESCAPES}", re.VERBOSE)
_BEGUN_ESCAPE = rf"""
   {_AND}(?: {_NUMBER}[xX]?{_HEX}{{0,6}} | [A-Za-z]{{0,8}} )(?: %(?:25)*[23]? )?
 | {_BACKSLASH}(?: u{_HEX}{{0,3}} | u\{{{_HEX}{{0,6}} | x{_HEX}? )?
 | (?: %(?:25)*[89a-fA-F]{_HEX} ){{1,3}}(?: %(?:25)*{_HEX}? )? | %(?:25)*{_HEX}?
"""
_BEGUN = re.compile(rf"(?:{_BEGUN_ESCAPE})\Z", re.VERBOSE)
_BEGUN_TAG = re.compile(rf"<[^<>]{{0,{TAG_CHARACTERS_MAX - 1}}}\Z")
_NAMED = {
    "amp": "&", "apos": "'", "ast": "*", "bsol": "\\", "colon": ":", "comma": ",", "commat": "@", "dash": "-",
    "dollar": "$", "equals": "=", "excl": "!", "grave": "`", "gt": ">", "hat": "^", "hyphen": "-", "lbrace": "{",
    "lbrack": "[", "lcub": "{", "lowbar": "_", "lpar": "(", "lsqb": "[", "lt": "<", "num": "#", "percnt": "%",
    "period": ".", "plus": "+", "quest": "?", "quot": '"', "rbrace": "}", "rbrack": "]", "rcub": "}", "rpar": ")",
    "rsqb": "]", "semi": ";", "sol": "/", "verbar": "|", "vert": "|",
}  # fmt: skip


class Forms(Struct, frozen=True, kw_only=True):
    """What is looked for. WORDS are all forms, the longest first; HEADS and BEGINNINGS know them by how they begin."""

    words: tuple[str, ...]
    heads: dict[str, tuple[str, ...]]
    """By its first FORM_CHARACTERS_MIN characters: the forms."""
    beginnings: frozenset[str]
    """Whatever is shorter than that and begins a form."""
    suspect: re.Pattern[str]
    """Finds, in lower case, where a form may begin: three of its characters, fewer at the end, or an escape."""


class Mapped(Struct, frozen=True, kw_only=True):
    """A reading of a text: WORDS, made of stretches, stretch N of them from ATS[N] on, of the text from STARTS[N] on.

    A stretch stands for as many characters of the text as it has itself, or else as a whole for all up to ENDS[N].
    """

    words: str
    ats: list[int]
    starts: list[int]
    ends: list[int]

    def span(self, start: int, end: int) -> Span:
        """Where WORDS[START:END] stands in the text."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> Span:
        n = bisect_right(self.ats, at) - 1
        after = self.ats[n + 1] if n + 1 < len(self.ats) else len(self.words)
        if after - self.ats[n] != self.ends[n] - self.starts[n]:
            return self.starts[n], self.ends[n]
        found = self.starts[n] + at - self.ats[n]
        return found, found + 1


@lru_cache(maxsize=8)
def forms_of(secrets: tuple[str, ...]) -> Forms:
    """All forms of SECRETS, of which there is one at least."""
    words = sorted({word for secret in secrets for word in _words(secret)}, key=lambda word: (-len(word), word))
    heads: dict[str, tuple[str, ...]] = {}
    for word in words:
        head = word[:FORM_CHARACTERS_MIN]
        heads[head] = (*heads.get(head, ()), word)
    beginnings = frozenset(head[:length] for head in heads for length in range(1, FORM_CHARACTERS_MIN))
    firsts = "".join(f"|{_suspected(head)}" for head in sorted({word[:3] for word in words}))
    return Forms(words=tuple(words), heads=heads, beginnings=beginnings, suspect=re.compile(rf"[\\%&]{firsts}"))


def spans(text: str, forms: Forms) -> list[Span]:
    """Where a secret stands in TEXT, in any of its FORMS: from left to right, none overlapping another."""
    found = [span for pattern in _patterns(text) for span in _found(text, pattern, forms)]
    kept: list[Span] = []
    for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def looked(text: str, forms: Forms) -> tuple[list[Span], int]:
    """TEXT so far, of which more may come: the spans that are sure, and where that begins which may yet become one.

    Ordinary text costs one look.
    """
    lower = lowered(text)
    hit = forms.suspect.search(lower)
    if hit is None:
        return [], len(text)
    first = hit.start()
    if hit.end() == len(lower) <= first + GAP_CHARACTERS_MAX:
        return [], first
    sure, hold = _settled(text[first:], forms)
    return [(start + first, end + first) for start, end in sure], hold + first


def betrays(text: str, forms: Forms) -> bool:
    """Whether TEXT, which ends as a secret begins, holds half of that: as much as would tell it."""
    for pattern in _patterns(text):
        words = _read(text, pattern)
        begun = _begun(words, forms)
        head = words[begun:]
        if any(word.startswith(head) and 2 * len(head) >= len(word) for word in forms.words if head):
            return True
    return False


def lowered(text: str) -> str:
    """TEXT in lower case, each character in its place: also where a language makes two of one."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := one.lower()) == 1 else one for one in text)


def _words(secret: str) -> Iterator[str]:
    """What SECRET reads as. In base64 it stands at one of three places, whatever stands before it."""
    content = secret.encode("utf-8", "surrogatepass")
    readings = {_read(secret, pattern) for pattern in (_PLAIN, _UNDONE, _BARE)}
    readings.add(content.hex())
    for before, skipped in ((0, 0), (1, 2), (2, 3)):
        until = (before + len(content)) * 8 // 6
        for encode in (b64encode, urlsafe_b64encode):
            readings.add(encode(bytes(before) + content)[skipped:until].decode().lower())
    return (word for word in readings if len(word) >= FORM_CHARACTERS_MIN)


def _suspected(head: str) -> str:
    one, two, three = map(re.escape, head)
    return rf"{one}[{_BLANKS}]*(?:\Z|[<\\%&]|{two}[{_BLANKS}]*(?:\Z|[<\\%&]|{three}))"


def _patterns(text: str) -> list[re.Pattern[str]]:
    """How TEXT is read: as it stands, with escapes undone, with mark-up gone too, as far as it holds such."""
    patterns = [_PLAIN]
    if "\\" in text or "%" in text or "&" in text:
        patterns.append(_UNDONE)
    if "<" in text:
        patterns.append(_BARE)
    return patterns


def _found(text: str, pattern: re.Pattern[str], forms: Forms) -> list[Span]:
    words = _read(text, pattern)
    present = [word for word in forms.words if word in words]
    if not present:
        return []
    mapped = read_mapped(text, pattern)
    return [mapped.span(at, at + len(word)) for word in present for at in _everywhere(word, mapped.words)]


def _everywhere(word: str, words: str) -> Iterator[int]:
    at = words.find(word)
    while at >= 0:
        yield at
        at = words.find(word, at + 1)


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
    before = max(after, len(text) - SPELLING_CHARACTERS_MAX * len(forms.words[0]))
    end = text[before:]
    return before + min(_open_as(end, pattern, forms) for pattern in _patterns(end))


def _open_as(text: str, pattern: re.Pattern[str], forms: Forms) -> int:
    escape = None if pattern is _PLAIN else _BEGUN.search(text)
    tag = _BEGUN_TAG.search(text) if pattern is _BARE else None
    end = min(len(text) if one is None else one.start() for one in (escape, tag))
    mapped = read_mapped(text[:end], pattern)
    begun = _begun(mapped.words, forms)
    last = mapped.span(begun, len(mapped.words)) if begun < len(mapped.words) else None
    if last is not None and len(text) - last[1] <= GAP_CHARACTERS_MAX:
        return last[0]
    return len(text) if escape is None else escape.start()


def _begun(words: str, forms: Forms) -> int:
    """Where the longest end of WORDS starts that begins a form and is not all of it."""
    for at in range(max(0, len(words) - len(forms.words[0]) + 1), len(words)):
        head = words[at : at + FORM_CHARACTERS_MIN]
        if len(head) < FORM_CHARACTERS_MIN:
            if head in forms.beginnings:
                return at
        elif any(len(word) > len(words) - at and word.startswith(words[at:]) for word in forms.heads.get(head, ())):
            return at
    return len(words)


def _read(text: str, pattern: re.Pattern[str]) -> str:
    return lowered(pattern.sub("" if pattern is _PLAIN else _meant, text))


def read_mapped(text: str, pattern: re.Pattern[str]) -> Mapped:
    """TEXT read by PATTERN, with where each stretch of the reading stands."""
    pieces: list[str] = []
    ats: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    at = length = 0
    for unit in pattern.finditer(text):
        for piece, start, end in ((text[at : unit.start()], at, unit.start()), (_meant(unit), *unit.span())):
            if piece:
                pieces.append(piece)
                ats.append(length)
                starts.append(start)
                ends.append(end)
                length += len(piece)
        at = unit.end()
    if at < len(text):
        pieces.append(text[at:])
        ats.append(length)
        starts.append(at)
        ends.append(len(text))
    return Mapped(words=lowered("".join(pieces)), ats=ats, starts=starts, ends=ends)


def _meant(unit: re.Match[str]) -> str:
    """The characters that an escape stands for; none for blanks and mark-up."""
    match unit.lastgroup:
        case None:
            return ""
        case "named":
            return _NAMED.get(unit["named"].lower(), "")
        case "bytes":
            found = bytes.fromhex("".join(re.findall(rf"%(?:25)*({_HEX}{{2}})", unit["bytes"])))
            return _PLAIN.sub("", found.decode("utf-8", "replace"))
        case "tens":
            return _character(int(unit["tens"]))
        case group:
            return _character(int(unit[group], 16))


def _character(code: int) -> str:
    return _PLAIN.sub("", chr(code)) if code <= 0x10FFFF else ""
