"""What is particular about one server or model, as data: the dialects read it, the catalog and settings fill it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Quirks(Struct, frozen=True, kw_only=True):
    """How a server or model differs from its dialect's plain form. The defaults are that plain form."""

    output_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """chat: the field that carries the limit of output tokens."""
    system_role: Literal["system", "developer"] = "system"
    """chat: who speaks the system prompt."""
    stream_usage: bool = True
    """chat: whether usage must be asked for with `stream_options`."""
    call_ids: Literal["free", "nine"] = "free"
    """chat: `nine` for servers that accept only nine letters or digits as the id of a call."""
    seed_field: str | None = "seed"
    """chat: where the seed goes; None where the server knows none."""
    effort_field: str | None = "reasoning_effort"
    """chat: where the effort goes, with dots for nesting; None where the server knows none."""
    thinking_field: str | None = None
    """chat: where thinking without a signature goes back, for servers that demand it; None: it is left out."""
    think_tags: Literal["leading", "opened", "none"] = "leading"
    """chat, ollama: `<think>` at the start of a reply is thinking; `opened`: the template has opened it already."""
    effort_style: Literal["budget", "level"] = "budget"
    """anthropic, google: effort as a number of thinking tokens, or by its name."""
    signed_calls: bool = False
    """google: whether a call that another model made must carry what stands for a signature."""
    encrypted_reasoning: bool = True
    """responses: whether reasoning is asked for in the form that can be sent back."""
    thoughts: bool = True
    """responses, anthropic, google: whether summaries of the thinking are asked for (where an effort is set)."""
    extra_body: dict[str, Any] = {}
    """Further fields of the body, sent as they stand; they win over what the dialect would send."""
    extra_headers: dict[str, str] = {}
    """Further headers without secrets, their names in lower case."""
