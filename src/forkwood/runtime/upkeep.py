"""Verbs of upkeep: stats, and doctor, who needs no store that can be opened."""

from __future__ import annotations

from pathlib import Path

from forkwood.runtime.acts import Verbs
from forkwood.store import stats
from forkwood.store.opening import STORE_NAME


class Upkeep(Verbs):
    """stats, and labels as they stand."""

    def stats(self) -> stats.Stats:
        """Sizes and counts of the store."""
        with self.house.store.read() as tx:
            return stats.gather(tx, str(Path(self.house.settings.home) / STORE_NAME))
