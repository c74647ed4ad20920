"""What a known model costs and how much it can read, from genai-prices. What is not known there is not guessed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from forkwood.domain.model import Price

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

THEIR_NAMES = {"xai": "x-ai"}
"""Providers that genai-prices calls otherwise than we do."""


class Public(Struct, frozen=True, kw_only=True):
    """What is publicly known of a model; None = unknown."""

    price: Price | None = None
    context: int | None = None


UNKNOWN = Public()


def public(provider: str, model: str, now: datetime) -> Public:
    """Price and context length of MODEL at PROVIDER as of NOW; of a price in steps, the first."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(model, None, THEIR_NAMES.get(provider, provider), None)
    except LookupError:
        return UNKNOWN
    return Public(price=_price(found, now), context=found.context_window)


def _price(found: ModelInfo, now: datetime) -> Price | None:
    if not found.prices:
        return None
    prices = found.get_prices(now)
    into, out = _dollars(prices.input_mtok), _dollars(prices.output_mtok)
    if into is None or out is None:
        return None
    read, write = _dollars(prices.cache_read_mtok), _dollars(prices.cache_write_mtok)
    return Price(input=into, output=out, cache_read=read, cache_write=write)


def _dollars(price: object) -> float | None:
    """Dollars per million tokens; of a price that grows with the length of the prompt, the one it begins with."""
    amount = getattr(price, "base", price)
    return None if amount is None else float(str(amount))
