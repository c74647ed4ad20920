"""What is particular about one server or model, as data: the dialects read it, the catalog fills it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Quirks(Struct, frozen=True, kw_only=True):
    """How a server differs from its dialect's plain form. The defaults are that plain form."""

    output_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """chat: the field that carries the limit of output tokens."""
    system_role: Literal["system", "developer", "user"] = "system"
    """chat: who speaks the system prompt; `user` puts it in front of the first message."""
    parallel_calls: bool | None = None
    """chat, responses: sent as `parallel_tool_calls` where tools are offered; None leaves it to the server."""
    stream_usage: bool = True
    """chat: whether usage must be asked for with `stream_options`."""
    think_tags: Literal["leading", "opened", "none"] = "leading"
    """chat, ollama: `<think>` at the start of a reply is thinking; `opened`: the template has opened it already."""
    call_ids: Literal["free", "nine"] = "free"
    """chat: `nine` for servers that accept only nine letters or digits as the id of a call."""
    effort_field: str | None = "reasoning_effort"
    """chat: where the effort goes, with dots for nesting; None where the server knows none."""
    effort_style: Literal["budget", "level"] = "budget"
    """anthropic, google: effort as a number of thinking tokens, or by its name."""
    thoughts: bool = True
    """responses, google: whether summaries of the model's thinking are asked for (where an effort is set)."""
    encrypted_reasoning: bool = True
    """responses: whether reasoning is asked for in the form that can be sent back."""
    cache_marks: bool = True
    """anthropic: whether the system prompt and the last message are marked for the provider's cache."""
    max_output: int | None = None
    """anthropic: tokens of output asked for where the person set none."""
    extra_body: dict[str, Any] = {}
    """Further fields of the body, sent as they stand; they win over what the dialect would send."""
    extra_headers: dict[str, str] = {}
    """Further headers without secrets."""
