"""Tools of the crash tests: whatever they do is one line, synced, in a file outside the store."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from forkwood.domain.message import Text, ToolCall
from forkwood.domain.prompt import ToolSpec
from forkwood.domain.run_event import AfterCrash, EffectOfTool
from forkwood.domain.tool import Occasion, Tool, ToolOutcome, ToolSealed
from forkwood.tools.ask_user import AskUser

AFTER_CRASH: dict[EffectOfTool, AfterCrash] = {"read": "again", "write": "journal", "execute": "doubt"}
PARTS: dict[str, EffectOfTool] = {"look": "read", "peek": "read", "jot": "write", "fire": "execute"}
QUESTION = {"questions": [{"text": "Which colour?", "options": ["blue", "red"]}]}


class Acting:
    """A tool that leaves its line in TRACE. TICK is told just before and just after."""

    def __init__(self, name: str, trace: Path, tick: Callable[[], None], *, words: str = "") -> None:
        spec = ToolSpec(name=name, description=words or f"It can {name}.", schema={"type": "object"})
        effect = PARTS[name]
        self.sealed = ToolSealed(spec=spec, effect=effect, after_crash=AFTER_CRASH[effect])
        self._trace = trace
        self._tick = tick

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:
        self._tick()
        leave(self._trace, _line(call, at))
        self._tick()
        return ToolOutcome(outcome="ok", parts=(Text(text=f"{call.name}: done"),))

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:
        """What the disk says."""
        if _line(call, at) not in left(self._trace):
            return None
        return ToolOutcome(outcome="ok", parts=(Text(text=f"{call.name}: done"),))


def cast(trace: Path, tick: Callable[[], None], reworded: str = "") -> dict[str, Tool]:
    """Every tool by its name. REWORDED names one whose text another version of the program has."""
    told = {name: "Another version says it so." if name == reworded else "" for name in PARTS}
    acting: dict[str, Tool] = {name: Acting(name, trace, tick, words=words) for name, words in told.items()}
    return {"ask_user": AskUser(), **acting}


def leave(trace: Path, line: str) -> None:
    """Add LINE to TRACE: when this returns, it is on the disk."""
    handle = os.open(trace, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{line}\n".encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def left(trace: Path) -> list[str]:
    """What was done, in its order: the names of runs and calls."""
    return trace.read_text("utf-8").splitlines() if trace.exists() else []


def _line(call: ToolCall, at: Occasion) -> str:
    return f"{at.run} {call.call}"


def called(*calls: str, text: str = "Let me see.") -> dict[str, object]:
    """A reply that calls tools of the cast: a call has the name of its tool, perhaps with a number behind it."""
    asked = [{"name": tool_of(call), "arguments": QUESTION if call == "ask" else {}, "call": call} for call in calls]
    return {"text": text, "tool_calls": asked}


def tool_of(call: str) -> str:
    """The tool that a call of that name is of."""
    return "ask_user" if call == "ask" else call.rstrip("0123456789")


PLAY = (called("look", "peek"), called("ask"), called("jot", "fire"), {"text": "Done.", "chunk": 2})
"""Reads, a question, a write and an execute that ask together, and last words."""
