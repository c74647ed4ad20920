"""A door for tests: the real Runtime over a store in memory, with a clock and chance that repeat."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import WeakKeyDictionary

from forkwood.domain.message import Origin, Role, Text, ToolCall, ToolResult
from forkwood.domain.response import Started
from forkwood.domain.settings import Settings
from forkwood.domain.tool import Tool
from forkwood.domain.tree import Spot
from forkwood.domain.watch import Result, Seen
from forkwood.runtime import Runtime
from forkwood.runtime.house import House
from forkwood.store import append, conversations
from forkwood.store.db import Store

HOMES_MADE = count()
NOON = 1_800_000_000_000
HOME, HOMES = TemporaryDirectory(prefix="forkwood-"), WeakKeyDictionary[Store, str]()
"""Where the drivers of each store in memory keep their locks: doors repeat the ids of other stores' doors."""


def door(
    store: Store | None = None, settings: Settings | None = None, tools: Mapping[str, Tool] | None = None
) -> Runtime:
    """A Runtime at the command line's door; each look at its clock is a millisecond later."""
    ticks, draws = count(NOON), count(1)
    store = store or Store.in_memory()
    if settings is None:
        home = HOMES.setdefault(store, f"{HOME.name}/{next(HOMES_MADE)}")
        settings = Settings(home=home, model="scripted:/nowhere.json")
    house = House(
        store,
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


def with_tools(runtime: Runtime) -> list[str]:
    """q1, a reply with a call, its results, a2: as a run would append them."""
    [question] = said(runtime, "q1")
    with runtime.house.store.write() as tx:
        here = conversations.current(tx)
        assert here is not None
        head = conversations.head(tx, here)
        made = Origin(by="model", via="cli")
        call = ToolCall(call="c1", name="current_time", arguments={})
        reply = append.add_message(
            tx, id="a" * 32, conversation=here, at=head, role="assistant", parts=(Text(text="let me see"), call),
            origin=made, now_ms=1,
        )  # fmt: skip
        result = ToolResult(call="c1", name="current_time", outcome="ok", parts=(Text(text="noon"),))
        results = append.add_results(
            tx, id="b" * 32, at=Spot(reply), parts=(result,), origin=Origin(by="tool", via="cli"), now_ms=1
        )
        conversations.move_head(tx, here, Spot(results), 1)
    last = runtime.send("noon it is", role="assistant").node.id
    return [question, "a" * 32, "b" * 32, last]
