"""A text as it reads: its letters and digits alone, folded as a search folds them, with escapes and mark-up undone.

What stands between letters is nothing here: blanks, signs, characters that are not seen, accents. Each stretch of a
reading knows where in the text it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.words import fold

Span: TypeAlias = tuple[int, int]

# What Unicode calls default-ignorable: by these a text looks the same. The fillers among them count as letters.
_FILLERS = r"\u115f\u1160\u3164\uffa0"
_BLANKS = (
    rf"\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c{_FILLERS}\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HEX = "[0-9a-fA-F]"
_BACKSLASH = r"(?: \\ | %(?:25)*5[cC] )+"
_END = "(?: ; | %(?:25)*3[bB] )"
_AND = rf"(?: & | %(?:25)*26 | \\+(?:u00|x)26 )(?:amp{_END})*"
_NUMBER = r"(?: \# | %(?:25)*23 )"
_ESCAPES = rf"""
   {_AND}(?: {_NUMBER}(?: (?P<tens>[0-9]{{1,7}}) | [xX](?P<sixteens>{_HEX}{{1,6}}) ){_END}?
         | (?P<named>[A-Za-z]{{2,8}}){_END} )
 | {_BACKSLASH}(?: u(?P<unit>{_HEX}{{4}}) | u\{{(?P<braced>{_HEX}{{1,6}})\}} | U(?P<long>{_HEX}{{8}})
        | x(?P<pair>{_HEX}{{2}}) | (?P<eights>[0-3][0-7]{{2}}) | [nrtfbv] | (?=[^0-9A-Za-z]) )
 | (?P<bytes>(?: %(?:25)*[89a-fA-F]{_HEX} )+) | %(?:25)*(?P<byte>{_HEX}{{2}})
"""
_IN_COMMENT = "(?: [^<-] | -(?!->) | <(?!!--) )"
_TAG = rf"<!--{_IN_COMMENT}*+--> | <[^<>]*>"
_BEGUN_ESCAPE = re.compile(
    rf"""(?=[\\%&])(?:
   {_AND}(?: {_NUMBER}[xX]?{_HEX}{{0,6}} | [A-Za-z]{{0,8}} )(?: %(?:25)*[23]? )?
 | {_BACKSLASH}(?: u{_HEX}{{0,3}} | u\{{{_HEX}{{0,6}} | U{_HEX}{{0,7}} | x{_HEX}? | [0-3][0-7]? )?
 | (?: %(?:25)*[89a-fA-F]{_HEX} ){{1,3}}(?: %(?:25)*{_HEX}? )? | %(?:25)*{_HEX}?
)\Z""",
    re.VERBOSE,
)
_TAG_REST = f"{{0,{limits.secret_tag_characters_max - 1}}}"
_BEGUN_TAG = re.compile(rf"(?: <!--{_IN_COMMENT}{_TAG_REST} | <[^<>]{_TAG_REST} )\Z", re.VERBOSE)
_NAMED = {
    "amp": "&", "apos": "'", "ast": "*", "bsol": "\\", "colon": ":", "comma": ",", "commat": "@", "dash": "-",
    "dollar": "$", "equals": "=", "excl": "!", "grave": "`", "gt": ">", "hat": "^", "hyphen": "-", "lbrace": "{",
    "lbrack": "[", "lcub": "{", "lowbar": "_", "lpar": "(", "lsqb": "[", "lt": "<", "num": "#", "percnt": "%",
    "period": ".", "plus": "+", "quest": "?", "quot": '"', "rbrace": "}", "rbrack": "]", "rcub": "}", "rpar": ")",
    "rsqb": "]", "semi": ";", "sol": "/", "verbar": "|", "vert": "|",
}  # fmt: skip


class Reading(Struct, frozen=True, kw_only=True):
    """A way to read: UNITS finds what stands for other characters, or for none; LEFT_OUT is never read."""

    units: re.Pattern[str]
    left_out: re.Pattern[str]


Family: TypeAlias = tuple[Reading, Reading, Reading]
"""A text as it stands, with its escapes undone, and with mark-up gone too."""


def _family(left_out: str, units: str, bare_units: str) -> Family:
    """All three, of which none reads LEFT_OUT. UNITS and BARE_UNITS leave to escapes and tags what begins these."""
    gone = re.compile(f"(?:{left_out})+")
    undone = re.compile(rf"(?:{units})+ | (?=[\\%&])(?:{_ESCAPES}) | (?:{left_out})", re.VERBOSE)
    bare = re.compile(rf"(?:{bare_units})+ | (?=[<\\%&])(?:{_TAG} | {_ESCAPES}) | (?:{left_out})", re.VERBOSE)
    patterns = (gone, undone, bare)
    plain, *others = (Reading(units=pattern, left_out=gone) for pattern in patterns)
    return plain, others[0], others[1]


LETTERS = _family(
    rf"[\W_{_FILLERS}]",
    rf"[^\w\\%&]|[_{_FILLERS}]",
    rf"[^\w\\%&<]|[_{_FILLERS}]",
)
"""Letters and digits alone."""
SIGNS = _family(f"[{_BLANKS}]", f"[{_BLANKS}]", f"[{_BLANKS}]")
"""All that is seen: for what has few letters."""


class Mapped(Struct, frozen=True, kw_only=True):
    """A reading of a text: WORDS, made of stretches, stretch N of them from ATS[N] on, of what is seen from STARTS[N]
    on, of which ORIGINS tells where in the text it stands.

    A stretch stands for as many characters as it has itself, or else as a whole for all up to ENDS[N].
    """

    words: str
    ats: list[int]
    starts: list[int]
    ends: list[int]
    origins: Sequence[int]

    def span(self, start: int, end: int) -> Span:
        """Where WORDS[START:END] stands in the text."""
        return self.origins[self._place(start)[0]], self.origins[self._place(end - 1)[1] - 1] + 1

    def _place(self, at: int) -> Span:
        n = bisect_right(self.ats, at) - 1
        after = self.ats[n + 1] if n + 1 < len(self.ats) else len(self.words)
        if after - self.ats[n] != self.ends[n] - self.starts[n]:
            return self.starts[n], self.ends[n]
        found = self.starts[n] + at - self.ats[n]
        return found, found + 1


def suited(text: str, family: Family) -> Family | tuple[Reading, ...]:
    """Those of FAMILY in which TEXT may read differently."""
    plain = _seen(text)
    escaped = "\\" in plain or "%" in plain or "&" in plain
    if "<" in plain:
        return family if escaped else (family[0], family[2])
    return family[:2] if escaped else family[:1]


def read(text: str, reading: Reading) -> str:
    """The letters of TEXT in READING."""
    if reading.units is reading.left_out:
        return reading.units.sub("", _seen(text)).lower()
    return reading.units.sub(partial(_meant, reading), _seen(text)).lower()


def read_mapped(text: str, reading: Reading) -> Mapped:
    """As `read`, with where each stretch stands."""
    seen = _seen(text)
    origins = range(len(text)) if text.isascii() else [n for n, one in enumerate(text) for _ in _folds[ord(one)]]
    pieces: list[str] = []
    ats: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    at = length = 0
    for unit in reading.units.finditer(seen):
        for piece, start, end in ((seen[at : unit.start()], at, unit.start()), (_meant(reading, unit), *unit.span())):
            if piece:
                pieces.append(piece)
                ats.append(length)
                starts.append(start)
                ends.append(end)
                length += len(piece)
        at = unit.end()
    if at < len(seen):
        pieces.append(seen[at:])
        ats.append(length)
        starts.append(at)
        ends.append(len(seen))
    return Mapped(words="".join(pieces).lower(), ats=ats, starts=starts, ends=ends, origins=origins)


def begun(text: str, reading: Reading, family: Family) -> tuple[int, int]:
    """Where at the end of TEXT an escape or a tag begins that is not done, as far as READING knows such; and where an
    escape does. Both are the length of TEXT where nothing begins."""
    if reading is family[0]:
        return len(text), len(text)
    escape = _BEGUN_ESCAPE.search(text)
    tag = _BEGUN_TAG.search(text) if reading is family[2] else None
    escaped = escape.start() if escape else len(text)
    return min(escaped, tag.start() if tag else len(text)), escaped


class _Folds(dict[int, str]):
    """What each character reads as, worked out when it is first met. Those of ASCII are folded when escapes are undone,
    in which capitals differ."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = chr(code) if code < 0x80 else fold(chr(code))
        return folded


_folds = _Folds()


def _seen(text: str) -> str:
    """TEXT with all characters folded that are none of ASCII: full width, accents, capitals of any script."""
    return text if text.isascii() else text.translate(_folds)


def _meant(reading: Reading, unit: re.Match[str]) -> str:
    """The characters that an escape stands for; none for what is left out and mark-up."""
    match unit.lastgroup:
        case None:
            return ""
        case "named":
            found = _NAMED.get(unit["named"].lower(), "")
        case "bytes":
            content = bytes.fromhex("".join(re.findall(rf"%(?:25)*({_HEX}{{2}})", unit["bytes"])))
            found = content.decode("utf-8", "replace")
        case "tens":
            found = _character(int(unit["tens"]))
        case "eights":
            found = _character(int(unit["eights"], 8))
        case group:
            found = _character(int(unit[group], 16))
    return reading.left_out.sub("", _seen(found))


def _character(code: int) -> str:
    return chr(code) if code <= 0x10FFFF else ""
