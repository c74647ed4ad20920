"""A house to try promises in: the real Runtime over a store in a file, which can be left and entered again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from forkwood.domain.message import Text
from forkwood.domain.response import Started
from forkwood.domain.settings import Settings
from forkwood.domain.watch import Result
from forkwood.runtime import Runtime
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, script


def entered(home: Path, *, later_ms: int = 0) -> Runtime:
    """A Runtime over the store of HOME, as a new process would have; its clock begins LATER_MS after noon."""
    settings = Settings(home=str(home), model="scripted:/nowhere.json")
    runtime = door(open_store(home, now_ms=NOON + later_ms), settings)
    runtime.house.chance = os.urandom  # a house that is entered twice must not give its first names again
    if later_ms:
        ticks = iter(range(NOON + later_ms, NOON + later_ms + 1_000_000))
        runtime.house.clock = lambda: next(ticks)
    return runtime


def again(runtime: Runtime) -> Runtime:
    """The same house after everybody has left it."""
    runtime.close()
    return entered(Path(runtime.house.settings.home))


def heard_of(runtime: Runtime, started: Started) -> Result:
    """The result of a verb's first run, which must be a whole reply."""
    result = answered(runtime, started)
    assert (result.status, result.error) == ("done", None)
    return result


def asked(runtime: Runtime, folder: Path, words: str, *, at: str | None = None, **reply: Any) -> str:
    """Say WORDS and hear the model say `re: WORDS`; the id of its reply."""
    name = f"script-{len(list(folder.glob('script-*')))}.json"  # a house opens each model once
    model = script(folder, {"text": f"re: {words}", **reply}, name=name)
    node = heard_of(runtime, runtime.send(words, at=at, models=[model])).node
    assert node is not None
    return node


def prompted(runtime: Runtime, node: str) -> list[tuple[str, str]]:
    """The prompt a reply was made from, out of the books and proved: role and words of each message."""
    why = runtime.why(node)
    assert (why.verified, why.reason) == (True, None)
    assert why.prompt is not None
    return [
        (message.role, "\n".join(getattr(part, "text", f"<{part.__struct_config__.tag}>") for part in message.parts))
        for message in why.prompt.messages
    ]


def words_of(parts: tuple[Any, ...]) -> list[str]:
    """The words of each part; of others, their kind."""
    return [part.text if isinstance(part, Text) else type(part).__name__ for part in parts]
