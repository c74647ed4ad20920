"""Messages: parts are told apart by their kind, and what they say aloud is their text."""

from __future__ import annotations

import msgspec
import pytest

from forkwood import wire
from forkwood.domain.message import (
    Attachment,
    Part,
    Replay,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    calls_of,
    family_of,
    results_of,
    text_of,
)

CALL = ToolCall(call="c1", name="current_time", arguments={})
RESULT = ToolResult(call="c1", name="current_time", outcome="ok", parts=(Text(text="noon"),))
PARTS: tuple[Part, ...] = (
    Thinking(text="hm", replay=Replay(dialect="anthropic", family="claude", value={"signature": "x"})),
    Text(text="one"),
    CALL,
    ToolCall(call="c2", name="raw", arguments="{broken"),
    RESULT,
    Attachment(blob="0" * 64, media="image", name="a.png", mime="image/png", size=3),
    Text(text=""),
    Text(text="two"),
)


def test_parts_survive_their_json() -> None:
    assert wire.decode(wire.encode(PARTS), tuple[Part, ...]) == PARTS


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (PARTS[0], "thinking"),
        (PARTS[1], "text"),
        (CALL, "tool_call"),
        (RESULT, "tool_result"),
        (PARTS[5], "attachment"),
    ],
)
def test_a_part_says_its_kind(part: Part, kind: str) -> None:
    assert wire.decode(wire.encode(part), dict)["kind"] == kind


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        wire.decode('[{"kind":"song","text":"la"}]', tuple[Part, ...])


def test_text_is_what_was_said_aloud() -> None:
    assert text_of(PARTS) == "one\n\ntwo"
    assert calls_of(PARTS) == (CALL, PARTS[3])
    assert results_of(PARTS) == (RESULT,)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-sonnet-4-5", "claude"),
        ("anthropic/claude-opus-4", "claude"),
        ("gpt-5-mini", "gpt"),
        ("Gemini-2.5-pro", "gemini"),
        ("o3", "o"),
        ("7b", "7b"),
    ],
)
def test_thinking_belongs_to_a_family(model: str, family: str) -> None:
    assert family_of(model) == family
