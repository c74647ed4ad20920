"""The house: what every verb needs, wired once. The store, the settings, and where times, ids and chance come from."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from forkwood.domain.act import Who
from forkwood.domain.ids import Id, make_id
from forkwood.domain.message import Via
from forkwood.domain.settings import Settings
from forkwood.store.db import Store


def wall_clock() -> int:
    """Now, in Unix milliseconds."""
    return time.time_ns() // 1_000_000


class House:
    """One store, one door, one client. Handed to every verb; holds no rule."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        environ: Mapping[str, str],
        via: Via,
        *,
        clock: Callable[[], int] = wall_clock,
        chance: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.store = store
        self.settings = settings
        self.environ = environ
        self.who = Who(by="user", via=via)
        self.clock = clock
        self.chance = chance

    def new_id(self) -> Id:
        """A fresh name for something made now."""
        return make_id(self.clock(), self.chance(10))

    def known_model(self, name: str) -> str:
        """NAME as it is kept, if it can be a model's name; a script's path is made absolute. Raises Misused."""
        from forkwood.models import names

        return names.settled(name, str(Path.cwd()))

    def default_model(self) -> str:
        """The model that answers where nobody chose one."""
        return self.known_model(self.settings.model or "embedded:smollm2")

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()
