"""Steps: what the run machine wants done next. Three of them reach outside; the others are one transaction each."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.interaction import Sort
from forkwood.domain.message import Outcome, Text
from forkwood.domain.run_event import CallAsked, CallSettled


class CallModel(Struct, frozen=True, kw_only=True):
    """Call the model for turn TURN (from 1). WITHDRAWN: without tools, so that the run ends with words."""

    turn: int
    withdrawn: bool = False


class UseTool(Struct, frozen=True, kw_only=True):
    """Carry a call out. INSPECT: a driver died over it; what the journal says of it counts before it is tried again."""

    call: CallAsked
    inspect: bool = False


class UseReads(Struct, frozen=True, kw_only=True):
    """Carry out reads side by side: what one gives does not hang on another."""

    calls: tuple[CallAsked, ...]


class Asking(Struct, frozen=True, kw_only=True):
    """One interaction that is to be opened; CALL is None for a doubt about the prompt."""

    sort: Sort
    call: str | None


class Ask(Struct, frozen=True, kw_only=True):
    """Ask a person."""

    asks: tuple[Asking, ...]


class Settle(Struct, frozen=True, kw_only=True):
    """Close calls without running them, in one transaction; withdraw the interactions that nobody need answer now."""

    closings: tuple[CallSettled, ...]
    withdraw: tuple[Id, ...] = ()


class KeepResults(Struct, frozen=True, kw_only=True):
    """Append the results of turn TURN to the tree: every call is settled."""

    turn: int


class TakeSteers(Struct, frozen=True, kw_only=True):
    """Append messages that a person sent meanwhile, in the order they were accepted: the next turn answers them."""

    queued: tuple[Id, ...]


class End(Struct, frozen=True, kw_only=True):
    """Nothing is left to do. WITHDRAW as in Settle."""

    status: Literal["done", "failed", "cancelled"]
    error: dict[str, Any] | None = None
    withdraw: tuple[Id, ...] = ()


Step: TypeAlias = CallModel | UseTool | UseReads | Ask | Settle | KeepResults | TakeSteers | End


def closing(call: CallAsked, outcome: Outcome, words: str) -> CallSettled:
    """A call that ends with WORDS for the model instead of a result of its tool."""
    return CallSettled(call=call.call, outcome=outcome, parts=(Text(text=words),))
