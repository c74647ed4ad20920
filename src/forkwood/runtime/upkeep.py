"""Verbs of upkeep: stats, and doctor, who comes also where the store cannot be opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from forkwood import config
from forkwood.domain.act import Who
from forkwood.domain.message import Via
from forkwood.domain.settings import Settings
from forkwood.runtime.acts import Acting
from forkwood.runtime.house import wall_clock
from forkwood.store import doctor, stats
from forkwood.store.db import Tx
from forkwood.store.opening import STORE_NAME
from forkwood.store.verify import Report


class Upkeep(Acting):
    """stats, config_get, config_set."""

    def stats(self) -> stats.Stats:
        """Sizes and counts of the store."""
        with self.house.store.read() as tx:
            return stats.gather(tx, str(Path(self.house.settings.home) / STORE_NAME))

    def config_get(self, key: str | None = None) -> Any:
        """What holds for a dotted key of the configuration; without a key, everything. Raises NotFound."""
        return config.config_get(self.house.settings, key)

    def config_set(self, name: str, value: str | None, *, key: str | None = None) -> Any:
        """Write a value (None: take the line out) for a dotted name of config.toml; what holds then.

        Raises Misused, and NotFound for a model whose provider nobody knows.
        """

        def prepare() -> Callable[[Tx], dict[str, Any]]:
            written = self.house.known_model(value) if name == "model" and value else value
            return lambda _: {"now": self._written(name, written)}

        return self._once_ready("config_set", {"name": name, "value": value}, dict[str, Any], prepare, key=key)["now"]

    def _written(self, name: str, value: str | None) -> Any:
        now = config.config_set(Path(self.house.settings.home), name, value)
        self.house.settings = config.overridden(now, self.house.environ)
        return config.config_get(now, None if value is None else name)


def examine(settings: Settings, via: Via, *, repair: bool = False) -> Report:
    """Derive everything in the store anew and say what differs. REPAIR makes indexes anew, and where the file itself is
    broken saves what it still holds into a new one, the old one kept aside.

    Raises StoreUnusable where there is nothing of ours to examine: a newer, foreign or empty file.
    """
    home = Path(settings.home)

    def driven(name: str) -> bool:
        from forkwood.engine import driver

        return driver.lives((home / STORE_NAME).resolve().parent / driver.FOLDER, name)

    if not repair:
        return doctor.examine(home, now_ms=wall_clock(), driven=driven)
    return doctor.repair(home, now_ms=wall_clock(), who=Who(by="user", via=via), driven=driven)
