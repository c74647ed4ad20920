"""recall: what the person has agreed to have remembered, one fact or all of them."""

from __future__ import annotations

from forkwood.domain import limits
from forkwood.domain.memory import fact_name
from forkwood.domain.message import ToolCall
from forkwood.domain.tool import Occasion, ToolOutcome, ToolSealed
from forkwood.store import memories
from forkwood.store.db import Store, Tx
from forkwood.tools.shapes import spec, text, told

_NAME = text(
    "The name of one fact, as it was remembered; leave it out for all facts.", limits.memory_name_characters_max
)
_DESCRIPTION = (
    "What is remembered about the person and their work from earlier conversations. With a name: that fact. Without: "
    "every fact by its name. Only what the person has accepted is there."
)


class Recall:
    """Reads accepted facts; what was only proposed is nobody's knowledge yet."""

    sealed = ToolSealed(spec=spec("recall", _DESCRIPTION, {"name": _NAME}), effect="read", after_crash="again")

    def __init__(self, store: Store) -> None:
        self._store = store

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:  # noqa: ARG002 - the protocol's
        """The fact of that name, or every fact; that there is none is an answer too."""
        assert isinstance(call.arguments, dict), "arguments are checked before a tool is used"
        name = call.arguments.get("name")
        with self._store.read() as tx:
            return told(_all(tx) if name is None else _one(tx, fact_name(name)))

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:  # noqa: ARG002 - the protocol's
        """Reading leaves nothing."""
        return None


def _one(tx: Tx, name: str) -> str:
    found = memories.accepted_by_name(tx, name)
    if found is not None:
        return f"{found.name}: {found.value}"
    names = [one.name for one in memories.accepted(tx, limit=limits.memories_recalled_max)]
    there = f"Remembered are: {', '.join(names)}." if names else "Nothing is remembered yet."
    return f"Nothing is remembered under the name '{name}'. {there}"


def _all(tx: Tx) -> str:
    found = memories.accepted(tx, limit=limits.memories_recalled_max)
    left = memories.count_accepted(tx) - len(found)
    lines = [f"{one.name}: {one.value}" for one in found]
    more = [f"(and {left} more: recall them by name)"] if left else []
    return "\n".join([*lines, *more]) or "Nothing is remembered yet."
