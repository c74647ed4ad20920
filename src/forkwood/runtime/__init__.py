"""Runtime: the one door. Every surface calls it and nothing beneath it; its verbs live in rooms, one subject each."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from forkwood.domain.message import Via
from forkwood.domain.settings import Settings
from forkwood.runtime.accounting import Accounting
from forkwood.runtime.house import House, wall_clock
from forkwood.runtime.keeping import Keeping
from forkwood.runtime.models import Models
from forkwood.runtime.purging import Purging
from forkwood.runtime.reading import Reading
from forkwood.runtime.running import Running
from forkwood.runtime.shaping import Shaping
from forkwood.runtime.talking import Talking
from forkwood.runtime.undoing import Undoing
from forkwood.runtime.upkeep import Upkeep
from forkwood.store.opening import open_store

__all__ = ["Runtime"]


class Runtime(Talking, Shaping, Keeping, Undoing, Reading, Running, Accounting, Purging, Models, Upkeep):
    """All verbs over one store, through one door. Use it in a `with` block: it closes what it opened."""

    @classmethod
    def open(cls, settings: Settings, environ: Mapping[str, str], *, via: Via) -> Runtime:
        """The runtime of the home that SETTINGS name. Raises StoreUnusable where its store cannot be used."""
        store = open_store(settings.home, now_ms=wall_clock())
        return cls(House(store, settings, environ, via))

    def __enter__(self) -> Runtime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store and of every child process."""
        self.house.close()
