"""When a try is repeated, what usage adds up to, what it costs."""

from __future__ import annotations

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import FailureKind, ProviderFailed
from forkwood.domain.model import REPEATABLE, Price, Usage, cost_of, wait_before


@pytest.mark.parametrize("reason", sorted(REPEATABLE))
def test_panelot_82_what_may_pass_is_tried_again_with_doubled_waits(reason: FailureKind) -> None:
    failure = ProviderFailed(reason, "busy")
    assert [wait_before(failure, number, 1.0) for number in (1, 2, 3)] == [0.5, 1.0, 2.0]
    assert [wait_before(failure, number, 0.0) for number in (1, 2, 3)] == [0.25, 0.5, 1.0]
    assert wait_before(failure, limits.tries_max, 0.5) is None


@pytest.mark.parametrize("reason", ["auth", "quota", "context_overflow", "invalid_request", "protocol", "refused"])
def test_what_will_not_pass_is_told_at_once(reason: FailureKind) -> None:
    assert wait_before(ProviderFailed(reason, "no"), 1, 0.5) is None


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [
        (0.0, 0.0),
        (7.0, 7.0),
        (float(limits.retry_after_seconds_max), 30.0),
        (limits.retry_after_seconds_max + 0.1, None),
    ],
)
def test_panelot_82_the_provider_says_how_long_within_bounds(retry_after: float, wait: float | None) -> None:
    assert wait_before(ProviderFailed("rate_limit", "slow", retry_after=retry_after), 1, 0.5) == wait


def test_usage_adds_up() -> None:
    one = Usage(input=10, output=2, cache_read=4, cache_write=1, reasoning=1)
    assert one + one == Usage(input=20, output=4, cache_read=8, cache_write=2, reasoning=2)


@pytest.mark.parametrize(
    ("usage", "price", "cost"),
    [
        (Usage(input=1_000_000), Price(input=3, output=15), 3.0),
        (Usage(output=2_000_000), Price(input=3, output=15), 30.0),
        (Usage(input=1_000_000, cache_read=1_000_000), Price(input=3, output=15, cache_read=0.3), 0.3),
        (Usage(input=1_000_000, cache_read=1_000_000), Price(input=3, output=15), 3.0),
        (Usage(input=1_000_000, cache_write=400_000), Price(input=1, output=1, cache_write=2), 1.4),
        (Usage(input=10, cache_read=20), Price(input=1, output=1, cache_read=0), 0.0),
        (Usage(input=10), None, None),
    ],
)
def test_cost_counts_caches_at_their_own_price(usage: Usage, price: Price | None, cost: float | None) -> None:
    assert cost_of(usage, price) == (None if cost is None else pytest.approx(cost))
