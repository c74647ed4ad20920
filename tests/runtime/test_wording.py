"""What may be said, and what is told before it is."""

from __future__ import annotations

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.runtime.wording import checked_text, warned

SECRETS = {"MY_TOKEN": "a-value-of-a-token"}


def test_a_text_has_words_and_bounds() -> None:
    checked_text(" ", blank_allowed=True)
    checked_text("x" * limits.message_bytes_max, blank_allowed=False)
    with pytest.raises(Misused, match="the text is empty"):
        checked_text(" \n", blank_allowed=False)
    with pytest.raises(Misused, match="character 2 is half of a pair"):
        checked_text("a\ud800", blank_allowed=False)
    with pytest.raises(LimitExceeded):
        checked_text("é" * (limits.message_bytes_max // 2 + 1), blank_allowed=False)


def test_a_credential_is_told_by_its_name_and_never_by_its_value() -> None:
    [told] = warned(SECRETS, f"use {SECRETS['MY_TOKEN']}")
    assert told == "the text holds the value of MY_TOKEN; it is kept and sent as it is"
    assert warned(SECRETS, "use nothing") == ()
