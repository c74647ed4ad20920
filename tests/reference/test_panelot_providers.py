"""Promise 80 of an earlier program: signed and redacted thinking goes back as it came, and first."""

from __future__ import annotations

from typing import Any

from forkwood.domain.message import Part, Text, Thinking, ToolCall
from tests.corpus.test_streams import STOP, read, sent
from tests.models.recorded import REDACTED, SIGNED, block, delta, events


def thought() -> tuple[Part, ...]:
    """The parts of a reply that thinks twice, speaks and calls a tool."""
    frames = [
        block(0, type="thinking", thinking=SIGNED["thinking"], signature=SIGNED["signature"]),
        block(1, **REDACTED),
        block(2, type="text", text="Let me see."),
        block(3, type="tool_use", id="t1", name="f", input={}),
        delta(3, "input_json_delta", partial_json="{}"),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        STOP,
    ]
    return read("anthropic", events(*frames), model="claude-x").parts


def test_panelot_80_signed_and_redacted_thinking_goes_back_unchanged_and_first() -> None:
    parts = thought()
    assert [type(part) for part in parts] == [Thinking, Thinking, Text, ToolCall]
    content: list[Any] = sent("anthropic", *parts)["messages"][1]["content"]
    assert content[:2] == [SIGNED, REDACTED]
    assert [piece["type"] for piece in content[2:]] == ["text", "tool_use"]
