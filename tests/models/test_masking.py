"""No secret comes back from a provider: in errors by value and by shape, in replies by value, in any cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain.masking import MASK, echoable, settled
from forkwood.models.masking import masked

KEY = "k3y/with+odd=chars-4711"
SHAPED = (
    "sk-proj-abcDEF123456",
    "sk-abc***********xyz9",
    "ghp_0123456789abcdefABCD",
    "github_pat_11ABCDE_0123456789",
    "AIzaSyA0123456789abcdefg",
    "gsk_0123456789ab",
    "xai-0123456789ab",
    "hf_abcdefghijkl",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc",
)


@pytest.mark.parametrize("secret", SHAPED)
def test_what_is_shaped_like_a_key_goes(secret: str) -> None:
    assert masked(f"Incorrect key '{secret}' given", ()) == f"Incorrect key '{MASK}' given"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer seededsecret, sent", f"Authorization: Bearer {MASK}, sent"),
        ('{"authorization": "Basic dXNlcg"}', f'{{"authorization": "Basic {MASK}"}}'),
        ("x-api-key: abcdefgh1", f"x-api-key: {MASK}"),
        ("bad bearer abcdefg1hi", f"bad bearer {MASK}"),
        ("GET /v1?key=abc&x=1", f"GET /v1?key={MASK}&x=1"),
        (f"no {KEY} and k3y%2Fwith%2Bodd%3Dchars-4711 here", f"no {MASK} and {MASK} here"),
    ],
)
def test_credentials_go_and_the_words_around_stay(text: str, left: str) -> None:
    assert masked(text, (KEY,)) == left


@pytest.mark.parametrize(
    "text",
    [
        "the task-force of disk-usage",
        "Bearer authentication is required",
        "api key: please set it",
        "risk-averse tokens",
    ],
)
def test_plain_words_stay(text: str) -> None:
    assert masked(text, ("abc",)) == text


def test_a_secret_inside_a_longer_one_leaves_nothing_of_it() -> None:
    assert masked("abcdefgh", ("abcd", "abcdefgh")) == MASK


@given(before=st.text("ab", max_size=8), after=st.text("ab", max_size=8), cuts=st.sets(st.integers(1, 30)))
def test_a_secret_echoed_in_a_reply_is_masked_in_any_cut(before: str, after: str, cuts: set[int]) -> None:
    secrets = echoable(("aababbaabbab", "short"))
    text = f"{before}aababbaabbab{after}"
    at = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    shown, held = "", ""
    for one, two in pairwise(at):
        ready, held = settled(held + text[one:two], secrets)
        shown += ready
    assert "aababbaabbab" not in shown + held
    assert MASK in shown


def test_short_values_are_no_secrets_in_replies() -> None:
    assert echoable(("ollama", "x" * 12)) == ("x" * 12,)
    assert settled("say ollama", echoable(("ollama",))) == ("say ollama", "")


def test_only_what_may_still_become_a_secret_is_held_back() -> None:
    assert settled("one abcd", ("abcdefghijkl",)) == ("one ", "abcd")
    assert settled("one abcx", ("abcdefghijkl",)) == ("one abcx", "")
