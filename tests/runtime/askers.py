"""A house whose models ask: tools that write, a store in a file, and doors of any kind into it, as processes have."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from forkwood.domain.message import Text, ToolCall, Via
from forkwood.domain.prompt import ToolSpec
from forkwood.domain.settings import Settings
from forkwood.domain.tool import Occasion, ToolOutcome, ToolSealed
from forkwood.domain.watch import Result
from forkwood.runtime import Runtime
from forkwood.runtime.house import House
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, heard


class Writer:
    """A tool that writes: what it was used for stands in `used`, in this process."""

    def __init__(self, name: str, **sealed: Any) -> None:
        spec = ToolSpec(name=name, description=f"{name}s things", schema={"type": "object"})
        made: dict[str, Any] = {"spec": spec, "effect": "write", "after_crash": "journal"}
        self.sealed = ToolSealed(**(made | sealed))
        self.used: list[Any] = []

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:
        self.used.append(call.arguments)
        return ToolOutcome(outcome="ok", parts=(Text(text=f"{call.name}: done"),))

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:
        return None


class Asking:
    """One home; `door` opens another process into it, with the same tools."""

    def __init__(self, home: Path, *tools: Writer, **settings: Any) -> None:
        self.settings = Settings(home=str(home), model="scripted:/nowhere.json", **settings)
        self.tools = {tool.sealed.spec.name: tool for tool in tools}
        self.now = count(NOON)
        self.doors: list[Runtime] = []

    def door(self, via: Via = "cli") -> Runtime:
        store = open_store(self.settings.home, now_ms=NOON)
        house = House(
            store, self.settings, {"FORKWOOD_LOCAL_SERVERS": ""}, via, clock=self.clock(), chance=os.urandom,
            tools=self.tools,
        )  # fmt: skip
        self.doors.append(Runtime(house))
        return self.doors[-1]

    def clock(self) -> Callable[[], int]:
        return lambda: next(self.now)

    def later(self, span_ms: int) -> None:
        """Let SPAN_MS pass for everybody."""
        self.now = count(next(self.now) + span_ms)

    def close(self) -> None:
        for one in self.doors:
            one.close()


def calls(*names: str, **arguments: Any) -> dict[str, Any]:
    """A reply that calls these tools."""
    return {"tool_calls": [{"name": name, "arguments": arguments, "call": f"c{at}"} for at, name in enumerate(names)]}


def driven(runtime: Runtime, run: str) -> Result:
    """The result of a run that is driven on."""
    last = heard(runtime, runtime.resume(run))[-1]
    assert isinstance(last, Result)
    return last
