"""The prompt: all that is sent for one turn. Built from a path by pure rules, the same bytes for the same recipe."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from forkwood.domain.ids import Id
from forkwood.domain.message import Part
from forkwood.domain.settings import Parameters


class PromptMessage(Struct, frozen=True, kw_only=True):
    """One message as the model gets it: neighbours of one role are joined, NODES says which nodes it was made from.

    Parts of a prompt are Text, Thinking that its model gave (with a replay value for this very dialect and family),
    ToolCall, ToolResult, and Attachment for images alone: other files have become text.
    """

    role: Literal["user", "assistant", "tool"]
    parts: tuple[Part, ...]
    nodes: tuple[Id, ...]


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as the model sees it; `schema` is the JSON schema of its arguments, sent verbatim."""

    name: str
    description: str
    schema: dict[str, Any]


class Prompt(Struct, frozen=True, kw_only=True):
    """All that is sent for one turn. Roles alternate between user (or tool) and assistant, and the first is the user's."""

    form: int
    model: str
    system: str | None
    messages: tuple[PromptMessage, ...]
    tools: tuple[ToolSpec, ...]
    parameters: Parameters
