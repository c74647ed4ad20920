"""Prices: known models have one, unknown ones have none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from forkwood.domain.model import Price, Usage, cost_of
from forkwood.models import prices
from forkwood.models.prices import UNKNOWN

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def test_a_known_model_has_its_price_and_context() -> None:
    assert prices.public("openai", "gpt-4o", NOW) == prices.Public(
        price=Price(input=2.5, output=10.0, cache_read=1.25), context=128_000
    )


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-sonnet-4-5"),
        ("google", "gemini-2.5-pro"),
        ("mistral", "mistral-large-2512"),
        ("deepseek", "deepseek-chat"),
        ("groq", "llama-3.3-70b-versatile"),
        ("xai", "grok-4-0709"),
        ("openrouter", "meta-llama/llama-3.1-70b-instruct"),
    ],
)
def test_every_provider_is_found_under_its_name(provider: str, model: str) -> None:
    price = prices.public(provider, model, NOW).price
    assert price is not None
    assert 0 < price.input <= price.output
    assert cost_of(Usage(input=1_000_000, output=0), price) == price.input


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "no-such-model"), ("ollama", "gpt-4o"), ("work", "gpt-4o"), ("openai", "")]
)
def test_what_is_unknown_is_not_guessed(provider: str, model: str) -> None:
    assert prices.public(provider, model, NOW) == UNKNOWN


def test_every_model_the_list_knows_can_be_read() -> None:
    from genai_prices.data_snapshot import get_snapshot

    known = [(provider.id, model.id) for provider in get_snapshot().providers for model in provider.models]
    found = [price for named in known if (price := prices.public(*named, NOW).price)]
    assert len(found) > len(known) / 2, "most of them have a price of tokens"
    assert all(price.input >= 0 and price.output >= 0 for price in found)
