"""A door for tests: the real Runtime over a store in memory, with a clock and chance that repeat."""

from __future__ import annotations

from itertools import count

from forkwood.domain.message import Role
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.runtime.house import House
from forkwood.store.db import Store

NOON = 1_800_000_000_000


def door(store: Store | None = None, settings: Settings | None = None) -> Runtime:
    """A Runtime at the command line's door; each look at its clock is a millisecond later."""
    ticks, draws = count(NOON), count(1)
    house = House(
        store or Store.in_memory(),
        settings or Settings(home="/nowhere", model="scripted:/nowhere.json"),
        {},
        "cli",
        clock=lambda: next(ticks),
        chance=lambda size: next(draws).to_bytes(size, "big"),
    )
    return Runtime(house)


def texts(runtime: Runtime, node: str | None = None) -> list[str]:
    """What the path says, message by message."""
    return [entry.node.text for entry in runtime.path(node)]


def said(runtime: Runtime, *words: str) -> list[str]:
    """Let the user and the assistant say WORDS in turn, by hand; the ids of their nodes."""
    first = len(runtime.path())
    roles: tuple[Role, Role] = ("user", "assistant")
    return [
        runtime.send(word, role=roles[(first + number) % 2], run=False).node.id for number, word in enumerate(words)
    ]
