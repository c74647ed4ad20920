"""The prompt: all that is sent for one turn, and what it is made from. The rules that make it are in `joins`."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.ids import Id
from forkwood.domain.message import Part, Role, text_of
from forkwood.domain.settings import Parameters

PromptRole: TypeAlias = Literal["user", "assistant", "tool"]


class Said(Struct, frozen=True, gc=False):
    """A visible message of a path, decoded: what a prompt is made from. One is made per message of every path read."""

    node: Id
    role: Role
    parts: tuple[Part, ...]


class PromptMessage(Struct, frozen=True, gc=False):
    """One message as the model gets it: neighbours of one role are joined, NODES says which nodes it was made from.

    No nodes: nobody said it, a rule made it (the line that opens a prompt, a result that never came).
    Parts of a prompt are Text, Thinking that its model gave (with a replay value for this very dialect and family),
    ToolCall, ToolResult, and Attachment for images alone: other files have become text.
    """

    role: PromptRole
    parts: tuple[Part, ...]
    nodes: tuple[Id, ...]


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as the model sees it; `schema` is the JSON schema of its arguments, sent verbatim."""

    name: str
    description: str
    schema: dict[str, Any]


class Prompt(Struct, frozen=True, kw_only=True):
    """All that is sent for one turn. User (or tool) and assistant take turns; neither end is the assistant's."""

    form: int
    model: str
    system: str | None
    messages: tuple[PromptMessage, ...]
    tools: tuple[ToolSpec, ...]
    parameters: Parameters


def words_bytes(prompt: Prompt) -> int:
    """The bytes of what is said in PROMPT, in UTF-8: its least size, for dialects, tools and pictures add to it."""
    said = (text_of(message.parts) for message in prompt.messages)
    return len((prompt.system or "").encode()) + sum(len(text.encode()) for text in said)


def looks_cut(sent_bytes: int, counted_tokens: int) -> bool:
    """Whether a server that counted so few tokens for so many bytes has left out a part of them; 0: it did not count.

    A guess to be told and asked about, not to be acted upon: long repetitions take few tokens too.
    """
    few = 0 < counted_tokens * limits.prompt_bytes_per_token_max < sent_bytes
    return few and sent_bytes >= limits.prompt_cut_bytes_min
