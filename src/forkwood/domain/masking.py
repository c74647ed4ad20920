"""Credentials do not get about: their values are replaced where words come in, in whatever form and pieces."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from forkwood.domain.forms import forms_of, looked, spans
from forkwood.domain.readings import Span

MASK = "[secret]"
SECRET_CHARACTERS_MIN = 12
"""A shorter value may well be a plain word of an answer (some local servers take `ollama` for a key)."""


def echoable(secrets: Iterable[str]) -> tuple[str, ...]:
    """Those of SECRETS that are looked for in words, the longest first."""
    found = {one for one in secrets if len(one) >= SECRET_CHARACTERS_MIN}
    return tuple(sorted(found, key=lambda one: (-len(one), one)))


def settled(text: str, secrets: tuple[str, ...]) -> tuple[str, str]:
    """TEXT, of which more may come, in two: what can be shown, free of SECRETS, and the end that may become one."""
    if not secrets:
        return text, ""
    sure, hold = looked(text, forms_of(secrets))
    return shares([text], sure, until=hold)[0], text[hold:]


def masked_text(text: str, secrets: tuple[str, ...]) -> str:
    """TEXT, which is whole, without SECRETS in any of their forms."""
    return masked_pieces([text], secrets)[0]


def masked_pieces(pieces: Sequence[str], secrets: tuple[str, ...]) -> list[str]:
    """PIECES of one text without SECRETS, also those that stand across several: the first of these has the mask."""
    if not secrets:
        return list(pieces)
    return shares(pieces, spans("".join(pieces), forms_of(secrets)))


def masked_value(value: Any, secrets: tuple[str, ...]) -> Any:
    """VALUE, as JSON has it, without SECRETS in any of its strings, keys too."""
    return with_words(value, lambda text: masked_text(text, secrets)) if secrets else value


def with_words(value: Any, change: Callable[[str], str]) -> Any:
    """VALUE, as JSON has it, with each string in it as CHANGE gives it, keys too. However deep it is."""
    whole = [value]
    waiting: list[tuple[Any, Any]] = [(whole, 0)]
    while waiting:
        holder, at = waiting.pop()
        match holder[at]:
            case str(text):
                holder[at] = change(text)
            case dict(found):
                holder[at] = fresh = _keyed(found, change)
                waiting.extend((fresh, key) for key in reversed(fresh))
            case list() | tuple() as found:
                holder[at] = items = list(found)
                waiting.extend((items, n) for n in reversed(range(len(items))))
    return whole[0]


def words_of(value: Any) -> list[str]:
    """Every string in VALUE, as JSON has it, keys too."""
    words: list[str] = []

    def heard(text: str) -> str:
        words.append(text)
        return text

    with_words(value, heard)
    return words


def shares(pieces: Sequence[str], masked: Sequence[Span], *, told: int = 0, until: int | None = None) -> list[str]:
    """What each of PIECES of one text shows, from character TOLD to UNTIL of it: a mask for each of the spans MASKED,
    where the first character of that stands, or the first that was not TOLD."""
    text = "".join(pieces)
    found: list[str] = []
    start = 0
    for piece in pieces:
        end = start + len(piece)
        found.append(_share(text, max(start, told), end if until is None else min(end, until), masked, told))
        start = end
    return found


def names_in(text: str, named: Mapping[str, str]) -> list[str]:
    """The names of the secrets (NAMED: name to value) that TEXT holds the values of, each value once."""
    found = {value: name for name, value in sorted(named.items(), reverse=True) if value in text}
    return sorted(found.values())


def _share(text: str, start: int, end: int, masked: Sequence[Span], told: int) -> str:
    if start >= end:
        return ""
    shown: list[str] = []
    at = start
    for n in range(bisect_right(masked, start, key=itemgetter(1)), len(masked)):
        first, last = masked[n]
        if first >= end:
            break
        shown.append(text[at : max(first, at)])
        if max(first, told) >= start:
            shown.append(MASK)
        at = min(last, end)
    shown.append(text[at:end])
    return "".join(shown)


def _keyed(found: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """FOUND under changed keys; where two come out as one, none is lost."""
    fresh: dict[str, Any] = {}
    for key, value in found.items():
        name = changed = change(key)
        number = 2
        while name in fresh:
            name, number = f"{changed} {number}", number + 1
        fresh[name] = value
    return fresh
