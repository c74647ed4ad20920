"""Runtime: the one door. Every surface calls it and nothing beneath it; its verbs live in rooms, one subject each."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any

from forkwood.domain.message import Via
from forkwood.domain.settings import Settings
from forkwood.runtime.house import House, wall_clock
from forkwood.store.opening import open_store

__all__ = ["ROOMS", "Runtime"]

ROOMS: dict[str, tuple[str, ...]] = {
    "Talking": ("send", "edit", "retry"),
    "Shaping": ("drop", "graft", "fork", "switch", "label", "unlabel", "hide", "unhide"),
    "Keeping": ("new", "begin_first", "listed", "conversation", "use", "set", "tools", "trash", "profiles"),
    "Undoing": ("undo", "redo"),
    "Reading": (
        "path",
        "tree",
        "show",
        "branches",
        "history",
        "clients",
        "labels",
        "log",
        "search",
        "runs",
        "left",
        "abandoned",
        "replied_before",
        "notices",
    ),
    "Running": ("drive", "settle", "was_done", "going_on", "partial", "resume", "cancel"),
    "Queueing": ("queue", "queued", "queue_edit", "queue_remove"),
    "Watching": ("watch", "behind_last"),
    "Answering": ("pending", "interaction", "answer", "grants", "revoke"),
    "Remembering": (
        "memory",
        "memory_history",
        "memory_named",
        "memory_why",
        "memory_decide",
        "memory_add",
        "memory_forget",
    ),
    "Accounting": ("why",),
    "Summarizing": ("summarize",),
    "Purging": ("purge", "purge_preview"),
    "Models": ("models", "survey", "answering", "models_use", "check_provider", "models_key", "models_pull"),
    "Upkeep": ("stats", "config_get", "config_set"),
}
"""Each room and its verbs; a room is loaded when one of its verbs is first used, for start-up time is measured."""

if TYPE_CHECKING:
    from forkwood.domain.tool import Tool
    from forkwood.runtime.accounting import Accounting
    from forkwood.runtime.answering import Answering
    from forkwood.runtime.keeping import Keeping
    from forkwood.runtime.models import Models
    from forkwood.runtime.purging import Purging
    from forkwood.runtime.queueing import Queueing
    from forkwood.runtime.reading import Reading
    from forkwood.runtime.remembering import Remembering
    from forkwood.runtime.running import Running
    from forkwood.runtime.shaping import Shaping
    from forkwood.runtime.summarizing import Summarizing
    from forkwood.runtime.talking import Talking
    from forkwood.runtime.undoing import Undoing
    from forkwood.runtime.upkeep import Upkeep
    from forkwood.runtime.watching import Watching
    from forkwood.store.verify import Report

    class AllVerbs(
        Talking,
        Shaping,
        Keeping,
        Undoing,
        Reading,
        Running,
        Queueing,
        Watching,
        Answering,
        Remembering,
        Accounting,
        Summarizing,
        Purging,
        Models,
        Upkeep,
    ):
        """What the type checker sees: every room at once."""

else:

    class AllVerbs:
        """Verbs that are looked up in their rooms when they are first used."""

        def __init__(self, house: House) -> None:
            self.house = house

        def __getattr__(self, verb: str) -> Any:
            room = next((room for room, verbs in ROOMS.items() if verb in verbs), None)
            if room is None:
                raise AttributeError(f"Runtime has no verb '{verb}'", name=verb, obj=self)
            loaded = getattr(import_module(f"forkwood.runtime.{room.lower()}"), room)(self.house)
            for name in ROOMS[room]:
                setattr(self, name, getattr(loaded, name))
            return self.__dict__[verb]


class Runtime(AllVerbs):
    """All verbs over one store, through one door. Use it in a `with` block: it closes what it opened."""

    @classmethod
    def open(
        cls, settings: Settings, environ: Mapping[str, str], *, via: Via, tools: Mapping[str, Tool] | None = None
    ) -> Runtime:
        """The runtime of the home that SETTINGS name, with the program's own tools unless others are handed in.

        Raises StoreUnusable where its store cannot be used.
        """
        store = open_store(settings.home, now_ms=wall_clock())
        return cls(House(store, settings, environ, via, tools=tools))

    @staticmethod
    def doctor(settings: Settings, *, via: Via, repair: bool = False) -> Report:
        """Derive everything in the store of a home anew, and say what differs: see `upkeep.examine`."""
        from forkwood.runtime.upkeep import examine

        return examine(settings, via, repair=repair)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store and of every child process."""
        self.house.close()
