"""A tool as the floors above see it: what a manifest seals of it, what is asked of it, and what it gives back."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.ids import Id
from forkwood.domain.message import Attachment, Outcome, Text, ToolCall, Via
from forkwood.domain.prompt import ToolSpec
from forkwood.domain.run_event import AfterCrash, EffectOfTool


class ToolSealed(Struct, frozen=True, kw_only=True):
    """A tool as a manifest holds it: the model's view, and what the machine and the policy must know."""

    spec: ToolSpec
    effect: EffectOfTool
    after_crash: AfterCrash
    question: bool = False
    asks_first: bool = False
    """A read that asks all the same, until it is granted."""
    spends_round: bool = True
    seconds_max: float = limits.tool_seconds_max
    """How long one call may take; then it is stopped."""


class ToolOutcome(Struct, frozen=True, kw_only=True):
    """How a call ended, and what the model reads of it."""

    outcome: Outcome
    parts: tuple[Text | Attachment, ...]


class Occasion(Struct, frozen=True, kw_only=True):
    """Where a call stands: whose it is, and the reply that holds it. CONVERSATION is the row's seq."""

    run: Id
    conversation: int
    node: Id
    door: Via


class Tool(Protocol):
    """One tool. Implementations live in `tools/`; the engine is handed them as values."""

    @property
    def sealed(self) -> ToolSealed:
        """What a manifest seals of this tool."""
        ...

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:
        """Carry CALL out: its arguments are what the sealed schema asks for.

        Cancelling the task stops it; what it did by then is in the outcome it may still give.
        """
        ...

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:
        """After a crash: how CALL ended, as the journal and the disk say; None: it never happened."""
        ...
