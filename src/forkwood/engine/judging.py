"""Judging calls by what holds now: the policy of this moment, and whether a call still is what a person said yes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forkwood import wire
from forkwood.domain import policy
from forkwood.domain.policy import Policy
from forkwood.domain.run import RunState
from forkwood.domain.run_event import CallAsked, CallJudged
from forkwood.domain.tool import ToolSealed
from forkwood.engine.supplies import Supplies
from forkwood.store import conversations, grants
from forkwood.store.db import Tx
from forkwood.store.holding import Held


def policy_now(tx: Tx, supplies: Supplies, held: Held) -> Policy:
    """The conversation's mode as it is now, the tools that the settings deny, the grants that hold for the run."""
    held_now, revision = grants.holding(tx, run=held.run, conversation=held.conversation)
    return Policy(
        mode=conversations.row(tx, held.conversation).approvals,
        denied=supplies.settings().deny,
        grants=held_now,
        revision=revision,
    )


def binding(tool: ToolSealed, arguments: Mapping[str, Any] | str) -> str:
    """What an approval is bound to: a digest of the tool as it is sealed, with its schema, and of the arguments."""
    return wire.digest([tool, arguments])


def is_bound(state: RunState, call: str, tool: ToolSealed, arguments: Mapping[str, Any] | str) -> bool:
    """Whether a call still is what a person was asked about; one that nobody was asked about is bound by nothing."""
    asked = state.interaction("approval", call)
    return asked is None or asked.hash is None or asked.hash == binding(tool, arguments)


def judged_anew(call: CallAsked, tool: ToolSealed, now: Policy) -> CallJudged | None:
    """The verdict on a CALL that may run, by the policy of this moment; None where it stands.

    A person's yes to this very call stands where it would be asked again, and falls before a rule that denies.
    """
    verdict, granted = policy.judged(now, tool)
    if call.verdict == "ask":
        return CallJudged(call=call.call, verdict="deny") if verdict == "deny" else None
    if (verdict, granted) == (call.verdict, call.granted):
        return None
    return CallJudged(call=call.call, verdict=verdict, granted=granted)
