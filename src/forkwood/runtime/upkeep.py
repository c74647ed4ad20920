"""Verbs of upkeep: stats, and doctor, who comes also where the store cannot be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from forkwood import config
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.settings import Settings
from forkwood.runtime.house import wall_clock
from forkwood.runtime.verbs import Verbs
from forkwood.store import stats, verify
from forkwood.store.db import Store
from forkwood.store.opening import STORE_NAME, open_store
from forkwood.store.verify import Report


class Upkeep(Verbs):
    """stats, config_get, config_set."""

    def stats(self) -> stats.Stats:
        """Sizes and counts of the store."""
        with self.house.store.read() as tx:
            return stats.gather(tx, str(Path(self.house.settings.home) / STORE_NAME))

    def config_get(self, key: str | None = None) -> Any:
        """What holds for a dotted key of the configuration; without a key, everything. Raises NotFound."""
        return config.config_get(self.house.settings, key)

    def config_set(self, key: str, value: str | None) -> Any:
        """Write a value (None: take the line out) into config.toml; what holds then. Raises Misused."""
        now = config.config_set(Path(self.house.settings.home), key, value)
        self.house.settings = now
        return config.config_get(now, None) if value is None else config.config_get(now, key)


def examine(settings: Settings, *, repair: bool = False) -> Report:
    """Derive everything in the store anew and say what differs. REPAIR makes indexes anew, and where the file itself is
    broken saves what it still holds into a new one, the old one kept aside.

    Raises StoreUnusable where there is nothing of ours to examine: a newer, foreign or empty file.
    """
    try:
        store = open_store(settings.home, now_ms=wall_clock())
    except StoreUnusable as broken:
        if not verify.can_be_salvaged(broken):
            raise
        return _salvaged(settings) if repair else verify.broken_report(broken)
    try:
        report = _examined(store, settings)
        if not repair or report.ok:
            return report
        if not verify.is_damaged(report):
            mended = verify.mend(store)
            return replace(_examined(store, settings), mended=mended)
    finally:
        store.close()
    return _salvaged(settings)


def _examined(store: Store, settings: Settings) -> Report:
    from forkwood.engine import driver

    drivers = Path(settings.home) / "drivers"
    return verify.examine(store, lambda name: driver.lives(drivers, name))
