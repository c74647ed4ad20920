"""How a reply was made, in lines."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.domain.message import Text, ToolCall, ToolResult
from forkwood.domain.prompt import Prompt, PromptMessage, ToolSpec
from forkwood.domain.response import GrantHeld, LeftOut, SummaryUsed, Why
from forkwood.domain.settings import Parameters
from forkwood.surfaces.cli.glyphs import PLAIN
from forkwood.surfaces.cli.show_why import draw_prompt, draw_why
from tests.surfaces.cli.made import name
from tests.surfaces.cli.test_show_asked import asking


def why(**fields: Any) -> Why:
    usual: dict[str, Any] = {
        "node": name(2),
        "run": name(3),
        "turn": 1,
        "manifest": {"model": "a:b", "system": "Be\nkind", "parameters": {"temperature": 0.0}},
        "recipe": {},
        "entries": (name(1),),
        "left_out": (LeftOut(id=name(9), reason="hidden"),),
        "prompt": None,
        "prompt_digest": "p" * 64,
        "request_digest": "r" * 64,
        "verified": True,
        "reason": None,
        "usage": {"input": 1200, "output": 3},
        "cost": 0.0012,
    }
    return Why(**{**usual, **fields})


SEALED = {
    "model": "a:b",
    "tools": [{"spec": {"name": "look"}}, {"spec": {"name": "edit\u202e"}}],
    "tools_off": ["remember"],
    "policy": {"mode": "allow-edits", "denied": ["drop"]},
}


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({"door": "cli", "client": "cli"}, ["asked by cli"]),
        ({"door": "cli", "client": "nightly", "key": "k 1"}, ["asked by cli, client nightly, key k 1"]),
        (
            {"manifest": SEALED},
            ["tools    look, edit\\u202e", "off      remember", "policy   allow-edits, never drop"],
        ),
        ({"manifest": {**SEALED, "tools": [], "tools_off": []}}, []),
    ],
)
def test_who_asked_and_what_was_allowed(fields: dict[str, Any], lines: list[str]) -> None:
    drawn = draw_why(why(**fields), PLAIN).split("\n")
    assert [line for line in drawn if line.split()[0] in {"asked", "tools", "off", "policy"}] == lines


def test_everything_that_went_in_is_named() -> None:
    assert draw_why(why(), PLAIN).split("\n")[1:] == [
        "run      00000003, turn 1",
        "model    a:b",
        "system   Be kind",
        "params   temperature 0.0",
        "entries  1 message: 00000001",
        "left out 00000009: hidden",
        f"prompt   {'p' * 64}",
        f"request  {'r' * 64}",
        "used     1,200 tokens in, 3 out, $0.0012",
    ]


@pytest.mark.parametrize(
    ("verified", "reason", "said"),
    (
        (True, None, "verified  built again"),
        (False, "differs first at 00000001", "differs: differs first at 00000001"),
        (None, "purged", "not verifiable: purged"),
    ),
)
def test_the_verdict_comes_first(verified: bool | None, reason: str | None, said: str) -> None:
    assert draw_why(why(verified=verified, reason=reason), PLAIN).startswith(said)


def test_a_message_of_a_person_has_no_run_to_tell_of() -> None:
    plain = why(run=None, turn=None, manifest=None, recipe=None, entries=(), prompt_digest=None, request_digest=None)
    assert "run " not in draw_why(plain, PLAIN)


def test_what_was_asked_and_granted_is_named() -> None:
    grant = GrantHeld(
        id=name(7),
        tool="edit",
        scope="run",
        of=name(3),
        hash=None,
        conversation=name(8),
        since=1,
        until=None,
        created_ms=0,
    )
    asked = (asking(answer="allow", status="answered", by="user", via="web"), asking("doubt", None, call=None))
    drawn = draw_why(why(interactions=asked, grants=(grant,)), PLAIN).split("\n")
    assert "asked    approval 00000001 of edit: allow, by user via web" in drawn
    assert "asked    doubt 00000001 of the prompt: open" in drawn
    assert "granted  edit by 00000007, in this run" in drawn


def test_a_summary_is_named_with_what_it_covers() -> None:
    used = SummaryUsed(id=name(7), covers=(name(1), name(2)), text="They\nmet.", tokens_without=3_200, tokens_with=900)
    lines = draw_why(why(summary=used), PLAIN).split("\n")
    at = lines.index("summary  00000007 stands for the first 2 messages, 00000001 to 00000002: They met.")
    assert lines[at + 1] == "         about 900 tokens in place of 3,200"


def test_the_prompt_is_shown_with_calls_results_and_the_tools_that_were_offered() -> None:
    result = ToolResult(call="c", name="look", outcome="error", parts=(Text(text="<<<fenced\nno such\x07>>>"),))
    sent = Prompt(
        form=2,
        model="a:b",
        system="Be\nkind",
        messages=(
            PromptMessage("user", (Text(text="Look."),), ()),
            PromptMessage(
                "assistant", (Text(text="I do."), ToolCall(call="c", name="look", arguments={"at": "é"})), ()
            ),
            PromptMessage("tool", (result,), ()),
        ),
        tools=(ToolSpec(name="look", description="Looks.", schema={"type": "object"}),),
        parameters=Parameters(),
    )
    assert draw_prompt(why(prompt=sent), PLAIN).split("\n\n") == [
        "system\n  Be\n  kind",
        "user\n  Look.",
        'assistant\n  I do.\n  [calls look] {"at": "é"}',
        "tool\n  [result of look: error] <<<fenced\n  no such\\x07>>>",
        'tools offered\n  look: Looks.\n    {"type": "object"}',
    ]
