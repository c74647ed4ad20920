"""What is said: a message is a role and parts. Pure values; identity belongs to the node that holds them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from forkwood.domain.ids import Id

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
By: TypeAlias = Literal["user", "model", "tool", "system"]
Via: TypeAlias = Literal["cli", "tui", "web", "api", "mcp", "gateway", "import"]
Outcome: TypeAlias = Literal["ok", "error", "denied", "cancelled", "interrupted", "unknown"]
PartialReason: TypeAlias = Literal["cut", "error", "length", "refused", "stalled", "cancelled", "interrupted"]
"""Why a reply is not whole: the stream ended early, failed, hit the token limit, was refused, stalled, was cancelled,
or its driver died."""


class Replay(Struct, frozen=True, kw_only=True):
    """What the provider wants back with its thinking, byte for byte: opaque, bounded, for one dialect and family."""

    dialect: str
    family: str
    value: Any


class Text(Struct, frozen=True, kw_only=True, gc=False, tag_field="kind", tag="text"):
    """Words."""

    text: str


class Thinking(Struct, frozen=True, kw_only=True, tag_field="kind", tag="thinking"):
    """What a model thought: for the person; sent back only to the model that made it, and with its replay value."""

    text: str
    replay: Replay | None = None


class ToolCall(Struct, frozen=True, kw_only=True, tag_field="kind", tag="tool_call"):
    """A model's wish to use a tool. `arguments`: the object it sent, or its raw text where that was no JSON object."""

    call: str
    name: str
    arguments: dict[str, Any] | str


class Attachment(Struct, frozen=True, kw_only=True, tag_field="kind", tag="attachment"):
    """A file or picture that goes with a message; its bytes are the blob of that SHA-256."""

    blob: str
    media: Literal["file", "image", "screenshot", "page"]
    name: str
    mime: str
    size: int
    trust: Literal["trusted", "untrusted"] = "trusted"
    source: str = "user"
    state: Literal["present", "marked", "removed"] = "present"
    meta: dict[str, Any] = {}


class ToolResult(Struct, frozen=True, kw_only=True, tag_field="kind", tag="tool_result"):
    """How one call ended, and what the model reads of it."""

    call: str
    name: str
    outcome: Outcome
    parts: tuple[Text | Attachment, ...]


Part: TypeAlias = Text | Thinking | ToolCall | ToolResult | Attachment


class Origin(Struct, frozen=True, gc=False):
    """Who made a node, through which door; for a reply also its run and model. Made once per entry of a path."""

    by: By
    via: Via
    run: Id | None = None
    model: str | None = None


def text_of(parts: tuple[Part, ...]) -> str:
    """The words of PARTS that were said aloud, one part a paragraph: no thinking, no calls."""
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return "\n\n".join(part.text for part in parts if isinstance(part, Text) and part.text)


def is_whole(part: Part) -> bool:
    """Whether PART keeps the whole of a result whose text was cut: it is there for people, and no prompt holds it."""
    return isinstance(part, Attachment) and part.meta.get("whole") is True


def calls_of(parts: tuple[Part, ...]) -> tuple[ToolCall, ...]:
    """The tool calls of a reply, in the order given."""
    return tuple(part for part in parts if isinstance(part, ToolCall))


def results_of(parts: tuple[Part, ...]) -> tuple[ToolResult, ...]:
    """The results of a tool message, in its order."""
    return tuple(part for part in parts if isinstance(part, ToolResult))


def family_of(model: str) -> str:
    """The family a model's thinking can be given back to: the first word of its bare name (`claude`, `gpt`)."""
    bare = model.rsplit("/", 1)[-1].lower()
    letters = len(bare) - len(bare.lstrip("abcdefghijklmnopqrstuvwxyz"))
    return bare[:letters] or bare
