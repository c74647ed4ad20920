"""A door for tests: the real Runtime over a store in memory, with a clock and chance that repeat."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from forkwood.domain.message import Role
from forkwood.domain.response import Started
from forkwood.domain.settings import Settings
from forkwood.domain.tool import Tool
from forkwood.domain.watch import Result, Seen
from forkwood.runtime import Runtime
from forkwood.runtime.house import House
from forkwood.store.db import Store

NOON = 1_800_000_000_000


def door(
    store: Store | None = None, settings: Settings | None = None, tools: Mapping[str, Tool] | None = None
) -> Runtime:
    """A Runtime at the command line's door; each look at its clock is a millisecond later."""
    ticks, draws = count(NOON), count(1)
    settings = settings or Settings(home="/nowhere", model="scripted:/nowhere.json")
    house = House(
        store or Store.in_memory(),
        settings,
        {"FORKWOOD_LOCAL_SERVERS": ""},
        "cli",
        clock=lambda: next(ticks),
        chance=lambda size: next(draws).to_bytes(size, "big"),
        tools=tools,
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


def script(folder: Path, *replies: dict[str, Any], name: str = "script.json") -> str:
    """The name of a scripted model that plays REPLIES."""
    path = folder / name
    path.write_text(json.dumps({"replies": list(replies)}))
    return f"scripted:{path}"


def heard(runtime: Runtime, started: Started) -> list[Seen]:
    """Drive the runs of a verb until they stop; all that came."""

    async def all_of_it() -> list[Seen]:
        return [seen async for seen in runtime.drive(started.runs)]

    return asyncio.run(all_of_it())


def answered(runtime: Runtime, started: Started) -> Result:
    """Drive the runs of a verb until they stop; the first run's result."""
    last = heard(runtime, started)[-1]
    assert isinstance(last, Result)
    return last
