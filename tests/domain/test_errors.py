"""Errors phrase themselves, carry their facts, and name the way that works."""

from __future__ import annotations

from forkwood.domain import limits
from forkwood.domain.errors import (
    Conflict,
    Defect,
    ForkwoodError,
    LimitExceeded,
    Misused,
    NotFound,
    ProviderFailed,
    Refused,
    StoreUnusable,
)

KINDS: dict[type[ForkwoodError], str] = {
    NotFound: "not_found",
    Conflict: "conflict",
    Refused: "refused",
    Misused: "usage",
    LimitExceeded: "limit",
    ProviderFailed: "provider",
    StoreUnusable: "store",
    Defect: "defect",
}


def test_each_kind_has_its_own_word_and_the_tree_is_whole() -> None:
    assert {kind.kind for kind in KINDS} == set(KINDS.values())
    assert set(ForkwoodError.__subclasses__()) == set(KINDS)
    assert all(kind.kind == word for kind, word in KINDS.items())


def test_a_limit_says_what_was_too_large_by_how_much() -> None:
    error = LimitExceeded(
        "the text's bytes", limit="message_bytes_max", bound=8_388_608, got=67_108_864, hint="attach it"
    )
    assert str(error) == "the text's bytes: 67,108,864 is over the limit of 8,388,608"
    assert error.facts == {"limit": "message_bytes_max", "bound": 8_388_608, "got": 67_108_864}
    assert error.hint == "attach it"


def test_a_provider_failure_has_its_reason_in_its_facts() -> None:
    error = ProviderFailed("rate_limit", "slow down", retry_after=2.5, status=429)
    assert (error.reason, error.retry_after) == ("rate_limit", 2.5)
    assert error.facts == {"reason": "rate_limit", "status": 429}


def test_facts_are_fields() -> None:
    error = NotFound("no node ab12", hint="forkwood tree", candidates=["1", "2"])
    assert (error.message, error.hint, error.facts["candidates"]) == ("no node ab12", "forkwood tree", ["1", "2"])


def test_what_is_repeated_of_what_was_given_is_bounded() -> None:
    long = "x" * (limits.error_characters_max * 25)
    error = NotFound(f"no node is named '{long}'", hint=long, name=long)
    assert error.message.startswith("no node is named 'xxx") and error.message.endswith("xxx'")
    for text in (error.message, str(error), error.hint, error.facts["name"]):
        assert len(text) <= limits.error_characters_max
    fits = "x" * (limits.error_characters_max - 3)
    assert NotFound(fits).message == fits
