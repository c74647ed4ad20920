"""What the engine is handed: the store, time, names, chance, models, tools and settings. It makes none of them."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from pathlib import Path

from forkwood.domain.ids import Id
from forkwood.domain.model import Model
from forkwood.domain.settings import Settings
from forkwood.domain.tool import Tool
from forkwood.store.db import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Supplies:
    """OPEN_MODEL gives the model of a name (or something to be awaited for it); CLOCK is in Unix milliseconds;
    SETTINGS gives those that hold now, SECRETS the values that must not be kept or told."""

    store: Store
    clock: Callable[[], int]
    new_id: Callable[[], Id]
    open_model: Callable[[str], Model | Awaitable[Model]]
    drivers: Path
    settings: Callable[[], Settings]
    tools: Mapping[str, Tool] = field(default_factory=dict)
    chance: Callable[[], float] = random.random
    secrets: Callable[[], Sequence[str]] = tuple

    async def model(self, name: str) -> Model:
        """The model of that name. Raises what `open_model` raises."""
        found = self.open_model(name)
        return await found if isawaitable(found) else found
