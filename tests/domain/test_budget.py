"""What a prompt may take and what it takes: tables of budgets, estimates and corrections."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forkwood.domain import budget, joins, limits
from forkwood.domain.budget import Budget, Counted, budget_of, correction, estimate, tokens_of
from forkwood.domain.message import Text
from forkwood.domain.model import Traits
from forkwood.domain.prompt import PromptMessage
from forkwood.domain.settings import Parameters
from tests.domain.paths import CAT, FILES, GOLDEN, manifest


@pytest.mark.parametrize(
    ("known", "set_to", "max_output", "wanted"),
    [
        (None, None, None, None),
        (8_000, None, None, Budget(context=8_000, tokens=6_000)),
        (None, 8_000, None, Budget(context=8_000, tokens=6_000)),
        (200_000, 8_000, None, Budget(context=8_000, tokens=6_000)),
        (8_000, 200_000, None, Budget(context=200_000, tokens=200_000 - limits.output_tokens_default)),
        (8_000, None, 100, Budget(context=8_000, tokens=7_900)),
        (8_000, None, 8_000, Budget(context=8_000, tokens=2_000)),
        (8_000, None, 10_000_000, Budget(context=8_000, tokens=2_000)),
    ],
)
def test_the_budget_is_the_context_without_room_for_the_reply(
    known: int | None, set_to: int | None, max_output: int | None, wanted: Budget | None
) -> None:
    sealed = manifest(traits=Traits(context=known), parameters=Parameters(context=set_to, max_output=max_output))
    assert budget_of(sealed) == wanted


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a" * 400, 100), ("ж" * 300, 200), ("木" * 300, 300), ("ab木", 1.5)]
)
def test_a_text_is_estimated_by_its_bytes(text: str, tokens: float) -> None:
    assert tokens_of(text) == tokens


def test_everything_that_is_sent_counts() -> None:
    prompt = joins.build(GOLDEN["tools"], manifest(), files=FILES)
    whole = estimate(prompt)
    assert estimate(replace(prompt, tools=())) < whole
    assert estimate(replace(prompt, system=None)) < whole
    for at in range(len(prompt.messages)):
        fewer = (*prompt.messages[:at], *prompt.messages[at + 1 :])
        assert estimate(replace(prompt, messages=fewer)) < whole
    picture = PromptMessage("user", (Text(text="see"), CAT), ())
    assert estimate(replace(prompt, messages=(picture,))) >= budget.TOKENS_PER_PICTURE


@pytest.mark.parametrize(
    ("counted", "factor"),
    [
        (None, 1),
        (Counted(estimated=1_000, reported=1_500), 1.5),
        (Counted(estimated=1_000, reported=700), 0.7),
        (Counted(estimated=1_000, reported=1), 0.5),
        (Counted(estimated=1_000, reported=100_000), limits.estimate_ratio_max),
        (Counted(estimated=1_000, reported=0), 1),
        (Counted(estimated=limits.counted_tokens_min, reported=2 * limits.counted_tokens_min), 2),
        (Counted(estimated=limits.counted_tokens_min - 1, reported=2 * limits.counted_tokens_min), 1),
    ],
)
def test_what_was_counted_corrects_within_bounds(counted: Counted | None, factor: float) -> None:
    assert correction(counted) == factor


@given(st.text(), st.text())
def test_texts_add_up(one: str, other: str) -> None:
    assert tokens_of(one + other) == pytest.approx(tokens_of(one) + tokens_of(other))


@given(st.integers(256, 10**8), st.none() | st.integers(1, 10**7))
def test_a_budget_leaves_room_for_both(context: int, max_output: int | None) -> None:
    sealed: dict[str, Any] = {"parameters": Parameters(context=context, max_output=max_output)}
    found = budget_of(manifest(**sealed))
    assert found is not None and context // 4 <= found.tokens < context
