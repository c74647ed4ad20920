"""The patterns of scripts: regular expressions that are done in bounded time, whatever pattern and text are."""

from __future__ import annotations

import re

from msgspec import Struct

from forkwood.domain import limits

_TOKEN = re.compile(
    r"""(?P<back>\\[1-9])|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]
    |(?P<flags>\(\?[aims]+\))|(?P<open>\((?:\?:)?)(?P<odd>\?)?|(?P<close>\))|(?P<bar>\|)
    |(?P<choice>\?)[?+]?|(?P<repeat>[*+]|\{\d*,?\d*\})[?+]?|.""",
    re.DOTALL | re.VERBOSE,
)


class _Shape(Struct):
    """What takes time in a pattern: repeats go over the text once more each, choices double what is tried."""

    repeats: int = 0
    choices: int = 0
    fault: str | None = None


def fault(pattern: str) -> str | None:
    """What is wrong with PATTERN; None where it may be searched with."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is no regular expression: {error}"
    shape = _shape(pattern)
    if shape.repeats > limits.match_repeats_max:
        return f"has more than {limits.match_repeats_max} repeats"
    if shape.choices > limits.match_choices_max:
        return f"has more than {limits.match_choices_max} choices in groups"
    return shape.fault


def fits(pattern: str, text: str) -> bool:
    """Whether PATTERN is found in TEXT, or in as much of its beginning as `limits.match_steps_max` steps allow."""
    return re.search(pattern, text[: reach(pattern)]) is not None


def reach(pattern: str) -> int:
    """How many characters PATTERN is searched in."""
    shape = _shape(pattern)
    steps_each = max(len(pattern), 1) * 2**shape.choices
    return int((limits.match_steps_max / steps_each) ** (1 / (shape.repeats + 1)))


def _shape(pattern: str) -> _Shape:
    shape, depth, before = _Shape(), 0, None
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if kind in {"choice", "repeat"} and before == "close":
            shape.fault = "repeats a group: only single characters and sets of them can be repeated"
        elif kind in {"back", "odd"}:
            shape.fault = "looks around or back: groups are plain, ( ) or (?: )"
        depth += (kind == "open") - (kind == "close")
        shape.repeats += kind == "repeat"
        shape.choices += kind == "choice" or (kind == "bar" and depth > 0)
        before = kind
    return shape
