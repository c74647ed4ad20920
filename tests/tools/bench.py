"""Tools on a bench: used by hand, over a store in memory, as the engine would use them."""

from __future__ import annotations

from typing import Any

from forkwood.domain.memory import Proposal
from forkwood.domain.message import Text, ToolCall
from forkwood.domain.tool import Occasion, Tool
from forkwood.store import memories
from forkwood.store.db import Store
from tests.store.said import NOW, new_id, say, talk

RUN = "a" * 32


def call(tool: Tool, name: str = "c", /, **arguments: Any) -> ToolCall:
    """A call of TOOL."""
    return ToolCall(call=name, name=tool.sealed.spec.name, arguments=arguments)


def occasion(store: Store) -> Occasion:
    """A call in a reply that stands in a conversation of its own."""
    with store.write() as tx:
        conversation = talk(tx)
        node = say(tx, conversation, "Hm.", role="assistant")
        found: bytes = tx.value("SELECT id FROM node WHERE seq = ?", (node,))
    return Occasion(run=RUN, conversation=conversation, node=found.hex(), door="cli")


async def used(tool: Tool, at: Occasion, name: str = "c", /, **arguments: Any) -> tuple[str, str]:
    """How a call of TOOL ends: the outcome, and what the model reads."""
    ended = await tool.use(call(tool, name, **arguments), at)
    return ended.outcome, "".join(part.text for part in ended.parts if isinstance(part, Text))


def remembered(store: Store, name: str, value: str, state: str = "accepted") -> None:
    """A fact a person has decided about."""
    at = occasion(store)
    with store.write() as tx:
        proposal = Proposal(
            name=name,
            value=value,
            conversation=at.conversation,
            run=at.run,
            node=at.node,
            call=f"{name} {value}",
            via="cli",
        )
        made = memories.propose(tx, new_id(tx), proposal, now_ms=NOW)
        tx.run("UPDATE memory SET state = ?, decided_ms = 1 WHERE id = ?", (state, bytes.fromhex(made.id)))
