"""Verdicts: deny beats allow beats ask."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.policy import Grant, Policy, asked, judge
from forkwood.domain.run_event import EffectOfTool
from forkwood.domain.settings import Approvals
from forkwood.domain.tool import ToolSealed
from tests.domain.paths import LOOK, call

GRANT = Grant(id="1" * 32, tool="look", scope="conversation", of="c")


def tool(**fields: Any) -> ToolSealed:
    return ToolSealed(**{"spec": LOOK.spec, "effect": "read", "after_crash": "again", **fields})


@pytest.mark.parametrize(
    ("mode", "effect", "verdict"),
    [
        ("ask", "read", "allow"),
        ("ask", "write", "ask"),
        ("ask", "execute", "ask"),
        ("allow-edits", "read", "allow"),
        ("allow-edits", "write", "allow"),
        ("allow-edits", "execute", "ask"),
        ("allow-all", "read", "allow"),
        ("allow-all", "write", "allow"),
        ("allow-all", "execute", "allow"),
    ],
)
def test_modes(mode: Approvals, effect: EffectOfTool, verdict: str) -> None:
    assert judge(Policy(mode=mode), tool(effect=effect)) == verdict


@pytest.mark.parametrize(("mode", "effect"), list(product(get_args(Approvals), get_args(EffectOfTool))))
def test_deny_beats_every_mode_and_grant(mode: Approvals, effect: EffectOfTool) -> None:
    assert judge(Policy(mode=mode, denied=("look",), grants=(GRANT,)), tool(effect=effect)) == "deny"
    assert judge(Policy(mode=mode, grants=(GRANT,)), tool(effect=effect)) == "allow"


def test_a_read_may_ask_until_it_is_granted() -> None:
    assert judge(Policy(), tool(asks_first=True)) == "ask"
    assert judge(Policy(grants=(GRANT,)), tool(asks_first=True)) == "allow"


def test_a_grant_of_a_slot_holds_for_what_stood_in_it() -> None:
    granted = Policy(grants=(Grant(id="1" * 32, tool="look", scope="run", of="r", hash="h"),))
    assert judge(granted, tool(effect="execute"), "h") == "allow"
    assert judge(granted, tool(effect="execute"), "other") == judge(granted, tool(effect="execute")) == "ask"


@pytest.mark.parametrize(
    ("policy", "arguments", "granted"),
    [
        (Policy(grants=(GRANT,)), {}, GRANT.id),
        (Policy(grants=(GRANT,), denied=("look",)), {}, None),
        (Policy(grants=(GRANT,)), "{", None),
    ],
)
def test_a_grant_is_named_only_where_it_lets_the_call_run(policy: Policy, arguments: Any, granted: str | None) -> None:
    (found,) = asked([replace(call("a"), arguments=arguments)], {"look": tool()}, policy)
    assert found.granted == granted


def test_nobody_is_asked_whether_they_may_be_asked() -> None:
    assert judge(Policy(), tool(question=True, effect="write")) == "allow"
    assert judge(Policy(denied=("look",)), tool(question=True)) == "deny"


def test_calls_are_judged_when_they_are_asked() -> None:
    tools = {"look": tool(effect="write", after_crash="journal"), "ask_user": tool(question=True)}
    found = asked([call("a"), call("b", "ask_user"), call("c", "missing")], tools, Policy())
    assert [(one.call, one.verdict, one.question, one.fault) for one in found] == [
        ("a", "ask", False, None),
        ("b", "allow", True, None),
        ("c", "allow", False, "there is no tool 'missing'"),
    ]
    (long,) = asked([call("d", "a" + "b" * limits.quoted_characters_max + "z")], tools, Policy())
    half = "b" * (limits.quoted_characters_max // 2 - 1)
    assert long.fault == f"there is no tool 'a{half} … {half}z'"
    (raw,) = asked([replace(call("d"), arguments="{")], tools, Policy())
    assert raw.fault == "the arguments are not one JSON object, with each name in it once"
