"""What was found, as rows for people, and the choice among it where nothing is set. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from fnmatch import fnmatchcase

import msgspec

from forkwood.domain.model import ModelListed, Traits
from forkwood.models import names, prices
from forkwood.models.catalog import Known
from forkwood.models.discover import Found
from forkwood.models.listing import Offer
from forkwood.models.names import AtUrl, Named

ANY = "…"
"""Stands for the name of any model of a provider, in a row that no list was asked for."""


def name(known: Known, model: str) -> str:
    """What `--model` takes for MODEL of KNOWN: a server without a name of its own goes by its address."""
    if known.name == known.url:
        return names.spell(AtUrl(url=known.url, model=model))
    return names.spell(Named(provider=known.name, model=model))


def traits(known: Known, offer: Offer, now: datetime) -> Traits:
    """What is known of an offered model: what its server says, and of models with a public price that."""
    public = prices.UNKNOWN if known.local else prices.public(known.name, offer.model, now)
    return Traits(
        context=offer.context or public.context,
        tools=offer.tools,
        images=offer.images,
        thinking=offer.thinking,
        price=offer.price or public.price,
    )


def row(known: Known, offer: Offer, now: datetime) -> ModelListed:
    """The row of one model."""
    return ModelListed(
        name=name(known, offer.model),
        provider=known.name,
        dialect=known.dialect,
        origin=known.url,
        loaded=offer.loaded,
        **msgspec.structs.asdict(traits(known, offer, now)),
    )


def rows(found: Found, now: datetime) -> list[ModelListed]:
    """The rows of one server by name; a provider with a key and without a list has one that stands for all."""
    known = found.provider
    offers = sorted((offer for offer in found.offers if offer.replies), key=lambda offer: offer.model)
    if offers or not _is_keyed(known):
        return [row(known, offer, now) for offer in offers]
    note = found.failure.message if found.failure else f"a key was found; any model of {known.name} can be named"
    return [msgspec.structs.replace(row(known, Offer(model=ANY), now), note=note)]


def notes(found: Sequence[Found]) -> list[str]:
    """What a person should know of servers that gave nothing."""
    failed = [said.failure.message for said in found if said.failure and not said.silent]
    empty = [said.provider for said in found if not said.failure and not said.offers and not _is_keyed(said.provider)]
    return [*failed, *(f"{known.name} answers at {known.url} and has no models" for known in empty)]


def first(local: Sequence[Found], cloud: Sequence[Found], now: datetime) -> str | None:
    """The model to take: a loaded one of the first server that has any, else what the first provider prefers."""
    for found in local:
        offers = sorted(
            (offer for offer in found.offers if offer.replies), key=lambda offer: (not offer.loaded, offer.model)
        )
        if offers:
            return name(found.provider, offers[0].model)
    chosen = (preferred(found, now) for found in cloud)
    return next((name for name in chosen if name), None)


def preferred(found: Found, now: datetime) -> str | None:
    """The newest model under the first pattern that fits one whose price is known, else one at all."""
    known = found.provider
    offers = [offer for offer in found.offers if offer.replies]
    priced = [offer for offer in offers if traits(known, offer, now).price is not None]
    for pattern in (*known.preferred, "*"):
        fitting = [offer for offer in priced or offers if fnmatchcase(offer.model, pattern)]
        if fitting:
            return name(known, max(fitting, key=lambda offer: (offer.created or 0.0, offer.model)).model)
    return None


def standing_for_all(cloud: Sequence[Found]) -> str | None:
    """The row of the first provider whose list was not asked for: one of its models will be chosen when it is."""
    return next((name(found.provider, ANY) for found in cloud if not found.failure and not found.offers), None)


def _is_keyed(known: Known) -> bool:
    return bool(known.keys) and not known.local
