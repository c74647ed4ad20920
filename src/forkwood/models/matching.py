"""The patterns of scripts: regular expressions of RE2, which are searched in time that grows with the text alone."""

from __future__ import annotations

from functools import cache
from typing import Any

from forkwood.domain import limits


def fault(pattern: str) -> str | None:
    """What is wrong with PATTERN; None where it may be searched with."""
    import re2

    if len(pattern) > limits.match_characters_max:
        return f"has {len(pattern):,} characters: at most {limits.match_characters_max:,}"
    try:
        _compiled(pattern)
    except (re2.error, UnicodeEncodeError) as error:
        said = error.args[0] if error.args and isinstance(error, re2.error) else b"half of a pair"
        why = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        return f"is no regular expression of RE2 (no lookaround, no back-references): {why}"
    return None


def fits(pattern: str, text: str) -> bool:
    """Whether PATTERN, in which `fault` finds nothing, is found in TEXT."""
    return _compiled(pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> Any:
    import re2

    quiet = re2.Options()
    quiet.log_errors = False
    return re2.compile(pattern, quiet)
