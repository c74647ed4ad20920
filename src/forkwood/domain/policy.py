"""What a tool call needs before it runs: nothing, a yes, or it never runs. Pure: deny beats allow beats ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from forkwood.domain import arguments, limits
from forkwood.domain.cutting import shortened
from forkwood.domain.ids import Id
from forkwood.domain.message import ToolCall
from forkwood.domain.run_event import CallAsked, Verdict
from forkwood.domain.settings import Approvals
from forkwood.domain.tool import ToolSealed

Scope: TypeAlias = Literal["run", "conversation", "project"]


class Grant(Struct, frozen=True, kw_only=True):
    """A yes given beforehand, for one tool; of a slot also for exactly what stood in it (HASH). It holds for the run,
    conversation or project that OF names."""

    id: Id
    tool: str
    scope: Scope
    of: str
    hash: str | None = None


class Policy(Struct, frozen=True, kw_only=True):
    """The conversation's mode, the tools that never run, the grants that hold, oldest first; REVISION is the log number
    of the last change of those that can hold here."""

    mode: Approvals = "ask"
    denied: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    revision: int = 0


def judge(policy: Policy, tool: ToolSealed, content: str | None = None) -> Verdict:
    """The verdict on a call of TOOL; CONTENT is the hash of what stands in it where it is a slot.

    A question is an interaction itself: nobody is asked whether it may be asked.
    """
    if tool.spec.name in policy.denied:
        return "deny"
    if tool.question or granted(policy, tool, content) is not None:
        return "allow"
    match policy.mode, tool.effect:
        case "allow-all", _:
            return "allow"
        case _, "read":
            return "ask" if tool.asks_first else "allow"
        case "allow-edits", "write":
            return "allow"
        case _:
            return "ask"


def granted(policy: Policy, tool: ToolSealed, content: str | None = None) -> Grant | None:
    """The grant that lets a call of TOOL run, the oldest of several; None where none does."""
    name = tool.spec.name
    fits = (one for one in policy.grants if one.tool == name and one.hash in (None, content))
    return next(fits, None)


def judged(policy: Policy, tool: ToolSealed) -> tuple[Verdict, Id | None]:
    """The verdict on a call of TOOL, and the grant that lets it run; None where none does, or a rule denies it."""
    verdict, grant = judge(policy, tool), granted(policy, tool)
    return verdict, grant.id if grant is not None and verdict == "allow" else None


def asked(calls: Sequence[ToolCall], tools: Mapping[str, ToolSealed], policy: Policy) -> tuple[CallAsked, ...]:
    """The calls of a reply as the run machine sees them: judged now, by the sealed tools and policy."""
    return tuple(_asked(call, tools.get(call.name), policy) for call in calls)


def _asked(call: ToolCall, tool: ToolSealed | None, policy: Policy) -> CallAsked:
    if tool is None:
        return CallAsked(
            call=call.call,
            name=call.name,
            effect="read",
            verdict="allow",
            after_crash="again",
            fault=f"there is no tool '{shortened(call.name, limits.quoted_characters_max)}'",
        )
    verdict, grant = judged(policy, tool)
    fault = arguments.fault(call.arguments, tool.spec.schema)
    return CallAsked(
        call=call.call,
        name=call.name,
        effect=tool.effect,
        verdict=verdict,
        after_crash=tool.after_crash,
        question=tool.question,
        spends_round=tool.spends_round,
        fault=fault,
        granted=None if fault else grant,
    )
