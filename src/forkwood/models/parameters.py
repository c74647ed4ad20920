"""Parameters a person set that a model cannot be sent: a promise is refused, a wish is left out and told. Pure."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import msgspec

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.settings import Parameters

WISHES = frozenset({"effort", "context"})
"""Without these an answer is still what the settings say it is; without any other it would pass for what it is not."""


def refuse_promises(model: str, parameters: Parameters, lacks: AbstractSet[str]) -> None:
    """Raise ProviderFailed("capability") where PARAMETERS set what MODEL, which LACKS some, cannot be held to."""
    for name in _unsent(parameters, lacks - WISHES):
        raise ProviderFailed(
            "capability",
            f"{model} takes no {name}, and this conversation sets one",
            hint=f"take it back with `forkwood set {name} none`, or choose another model",
            setting=name,
            model=model,
        )


def wishes_left_out(model: str, parameters: Parameters, lacks: AbstractSet[str]) -> tuple[str, ...]:
    """What a person should know of PARAMETERS that MODEL, which LACKS some, is not sent."""
    return tuple(
        f"{name} ({getattr(parameters, name)}) was not sent: {model} takes none;"
        f" `forkwood set {name} none` takes it back"
        for name in _unsent(parameters, lacks & WISHES)
    )


def _unsent(parameters: Parameters, lacks: AbstractSet[str]) -> tuple[str, ...]:
    found = msgspec.structs.asdict(parameters)
    return tuple(name for name, value in found.items() if value is not None and name in lacks)
