"""What a tool call needs before it runs: nothing, a yes, or it never runs. Pure: deny beats allow beats ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.message import ToolCall
from forkwood.domain.run_event import CallAsked, Verdict
from forkwood.domain.settings import Approvals
from forkwood.domain.tool import ToolSealed


class Grant(Struct, frozen=True, kw_only=True):
    """A yes given beforehand, for one tool; of a slot also for exactly what stood in it (HASH)."""

    id: Id
    tool: str
    scope: Literal["run", "conversation", "project"]
    hash: str | None = None


class Policy(Struct, frozen=True, kw_only=True):
    """The conversation's mode, the tools that never run, the grants that hold; REVISION rises as they change."""

    mode: Approvals = "ask"
    denied: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    revision: int = 0


def judge(policy: Policy, tool: ToolSealed, content: str | None = None) -> Verdict:
    """The verdict on a call of TOOL; CONTENT is the hash of what stands in it where it is a slot."""
    name = tool.spec.name
    if name in policy.denied:
        return "deny"
    if any(grant.tool == name and grant.hash in (None, content) for grant in policy.grants):
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
            fault=f"there is no tool '{call.name}'",
        )
    return CallAsked(
        call=call.call,
        name=call.name,
        effect=tool.effect,
        verdict="allow" if tool.question else judge(policy, tool),
        after_crash=tool.after_crash,
        question=tool.question,
        spends_round=tool.spends_round,
        fault="the arguments are not one JSON object" if isinstance(call.arguments, str) else None,
    )
