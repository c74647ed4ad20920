"""The Anthropic dialect: Messages, with signed thinking kept in place and given back as it came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.message import Attachment, Part, PartialReason, Text, Thinking, ToolCall, ToolResult, results_of
from forkwood.domain.model import Dialect, Usage
from forkwood.domain.prompt import Prompt, PromptMessage
from forkwood.domain.settings import Effort, Parameters
from forkwood.models import sending
from forkwood.models.failures import Peer
from forkwood.models.frames import Decoder, FrameReader
from forkwood.models.quirks import Quirks
from forkwood.models.reply import Slot, spelled, whole

VERSION = "2023-06-01"
BUDGETS: dict[Effort, int] = {"minimal": 1_024, "low": 4_096, "medium": 12_288, "high": 23_552}
"""Tokens of thinking. With the default for the answer the most is within the 32,000 that Claude Opus 4 can put out."""

_MARK = {"type": "ephemeral"}
_ENDS: dict[str, tuple[PartialReason, str]] = {
    "max_tokens": ("length", "the limit of output tokens was reached"),
    "model_context_window_exceeded": ("length", "the model's context is full"),
    "refusal": ("refused", "the model refused"),
    "pause_turn": ("cut", "the provider paused this turn: resume goes on with it"),
}


def path(_model: str) -> str:
    """The request's path below the server's address."""
    return "/messages"


def headers(key: str | None) -> dict[str, str]:
    """The headers that carry KEY, and the version of the dialect."""
    version = {"anthropic-version": VERSION}
    return {"x-api-key": key, **version} if key else version


def lacks(_quirks: Quirks) -> frozenset[str]:
    """The parameters that cannot be sent."""
    return frozenset({"seed", "context"})


def encode(prompt: Prompt, images: Mapping[str, bytes], model: str, quirks: Quirks) -> bytes:
    """The request body for PROMPT, a pure function of its arguments. Raises ProviderFailed("capability")."""
    parameters = prompt.parameters
    thinking = _thinking(prompt, quirks)
    body: dict[str, Any] = {"model": model, "max_tokens": _output_limit(parameters, thinking)}
    if prompt.system:
        body["system"] = _marked([{"type": "text", "text": prompt.system}])
    body["messages"] = list(_messages(prompt, images))
    if prompt.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in prompt.tools
        ]
    body["stream"] = True
    chosen = {"temperature": parameters.temperature, "top_p": parameters.top_p}
    body |= {field: value for field, value in chosen.items() if value is not None} | thinking
    sending.merge(body, quirks.extra_body)
    return wire.encode(body)


def _output_limit(parameters: Parameters, thinking: dict[str, Any]) -> int:
    """Tokens of thinking and answer together, which must be said: as set, else with room for the thinking wished for.

    A budget must be smaller, and is the model's own bound on its thinking: it comes on top of what was set, too.
    """
    answer = parameters.max_output or limits.output_tokens_default
    room = BUDGETS[parameters.effort] if thinking and parameters.effort else 0
    return answer if parameters.max_output and "output_config" in thinking else answer + room


def _thinking(prompt: Prompt, quirks: Quirks) -> dict[str, Any]:
    """How the model is asked to think; not at all where it goes on from a turn that holds no thinking of its own."""
    effort = prompt.parameters.effort
    if effort is None:
        return {}
    if quirks.effort_style == "level":
        shown = {"display": "summarized"} if quirks.thoughts else {}
        level = "low" if effort == "minimal" else effort
        return {"thinking": {"type": "adaptive", **shown}, "output_config": {"effort": level}}
    if _goes_on_without_thinking(prompt):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": BUDGETS[effort]}}


def _goes_on_without_thinking(prompt: Prompt) -> bool:
    """Whether the last turn is a reply that is not done (it awaits results, or its end) and shows no thinking."""
    last = prompt.messages[-1:]
    if last and last[0].role != "assistant" and results_of(last[0].parts):
        last = prompt.messages[-2:-1]
    return any(
        message.role == "assistant" and not any(isinstance(part, Thinking) for part in message.parts)
        for message in last
    )


def _messages(prompt: Prompt, images: Mapping[str, bytes]) -> Iterable[dict[str, Any]]:
    for message in prompt.messages:
        last = message is prompt.messages[-1]
        if message.role == "assistant":
            blocks = _said(message, last=last)
        else:
            blocks = _asked(message, images)
            blocks = _marked(blocks) if last else blocks
        if blocks:
            yield {"role": "assistant" if message.role == "assistant" else "user", "content": blocks}


def _said(message: PromptMessage, *, last: bool) -> list[dict[str, Any]]:
    """The blocks of a reply in their order; the API refuses blank ones, and white space at the very end."""
    blocks: list[dict[str, Any]] = []
    for part in _kept(message.parts):
        match part:
            case Text() if part.text.strip():
                blocks.append({"type": "text", "text": part.text})
            case Thinking(replay=replay) if replay is not None:
                blocks.append(replay.value)
            case ToolCall():
                tool = {"id": sending.call_id(part.call), "name": sending.name(part.name)}
                blocks.append({"type": "tool_use", **tool, "input": sending.arguments(part)})
            case _:
                pass
    if last and blocks and blocks[-1]["type"] == "text":
        blocks[-1] = {"type": "text", "text": blocks[-1]["text"].rstrip()}
    return blocks


def _kept(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """PARTS without thinking that nothing follows, unless a call came before it: that turn goes back as it came."""
    answered = sending.answered(parts)
    return parts if answered and isinstance(answered[-1], ToolCall) else answered


def _asked(message: PromptMessage, images: Mapping[str, bytes]) -> list[dict[str, Any]]:
    results = [_result(result, images) for result in results_of(message.parts)]
    return results + _blocks(tuple(part for part in message.parts if not isinstance(part, ToolResult)), images)


def _result(result: ToolResult, images: Mapping[str, bytes]) -> dict[str, Any]:
    pictures = any(isinstance(part, Attachment) for part in result.parts)
    content: Any = _blocks(result.parts, images) if pictures else sending.result_text(result)
    block = {"type": "tool_result", "tool_use_id": sending.call_id(result.call), "content": content}
    return block if result.outcome == "ok" else {**block, "is_error": True}


def _blocks(parts: tuple[Part, ...], images: Mapping[str, bytes]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Text) and part.text.strip():
            blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, Attachment):
            source = {"type": "base64", "media_type": part.mime, "data": sending.image(part, images)}
            blocks.append({"type": "image", "source": source})
    return blocks


def _marked(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """BLOCKS with a mark on the last: up to there the provider may keep what it has read."""
    return blocks and [*blocks[:-1], {**blocks[-1], "cache_control": _MARK}]


class _Delta(Struct, frozen=True, gc=False):
    type: Any = None
    text: Any = None
    thinking: Any = None
    signature: Any = None
    partial_json: Any = None
    stop_reason: Any = None


class _Frame(Struct, frozen=True, gc=False):
    type: Any = None
    index: int | str | None = None
    delta: _Delta | None = None
    content_block: Any = None
    message: Any = None
    usage: Any = None
    error: Any = None


class _Block:
    """A content block that has begun; its part may not have."""

    __slots__ = ("signature", "slot", "whole_input")

    def __init__(self) -> None:
        self.slot: Slot | None = None
        self.signature = ""
        self.whole_input = False


class AnthropicDecoder(Decoder[_Frame]):
    """Reads one stream of the Anthropic dialect. The reply has ended when `message_stop` was seen."""

    dialect: Dialect = "anthropic"
    frames = FrameReader(_Frame)

    def __init__(self, *, model: str, peer: Peer, quirks: Quirks) -> None:  # noqa: ARG002 (one signature for all)
        super().__init__(model=model, peer=peer)
        self._blocks: dict[Any, _Block] = {}
        self._counts: dict[str, int] = {}

    def _take(self, frame: _Frame, event: str) -> None:
        kind = frame.type or event
        if frame.error or kind == "error":
            self.said.fail({"error": frame.error or frame.message or "no words given"})
        elif kind == "content_block_delta":
            if frame.delta is not None:
                self._go_on(frame.index, frame.delta)
        elif kind == "content_block_start":
            self._begin(frame.index, frame.content_block)
        elif kind == "message_start":
            self._count(frame.message.get("usage") if isinstance(frame.message, dict) else None)
        elif kind == "message_delta":
            self._count(frame.usage)
            self._stop(frame.delta.stop_reason if frame.delta else None)
        elif kind == "message_stop":
            self.said.flush()
            self.said.ended = self.said.closed = True

    def _begin(self, index: Any, block: Any) -> None:
        self._blocks[index] = began = _Block()
        if not isinstance(block, dict):
            return
        match block.get("type"):
            case "text" | "thinking":
                self._go_on(index, _first(block))
            case "redacted_thinking":
                began.slot = self.said.open("thinking")
                began.slot.replay = block
            case "tool_use":
                began.slot = self._call(block)
                began.whole_input = bool(block.get("input"))
                if began.whole_input:
                    self.said.say(began.slot, spelled(block["input"]))
            case kind:
                self.said.notice(f"A part of the reply of a kind that is not known was left out: {str(kind)[:60]}")

    def _call(self, block: dict[str, Any]) -> Slot:
        slot = self.said.open("tool_call")
        call, name = block.get("id"), block.get("name")
        slot.call = call if isinstance(call, str) else ""
        slot.name = name if isinstance(name, str) else ""
        return slot

    def _go_on(self, index: Any, delta: _Delta) -> None:
        block = self._blocks.get(index) or self._blocks.setdefault(index, _Block())
        if delta.text and isinstance(delta.text, str):
            self.said.add("text", delta.text)
        if delta.thinking and isinstance(delta.thinking, str):
            self.said.say(self._thought(block), delta.thinking)
            self._sign(block)
        if delta.signature and isinstance(delta.signature, str):
            self._thought(block)
            block.signature = delta.signature
            self._sign(block)
        if delta.partial_json and isinstance(delta.partial_json, str):
            self._fill(block, delta.partial_json)

    def _thought(self, block: _Block) -> Slot:
        if block.slot is None:
            block.slot = self.said.open("thinking")
        return block.slot

    def _sign(self, block: _Block) -> None:
        if block.slot is not None and block.signature:
            thought = "".join(block.slot.pieces) + block.slot.held
            block.slot.replay = {"type": "thinking", "thinking": thought, "signature": block.signature}

    def _fill(self, block: _Block, piece: str) -> None:
        if block.slot is None or block.slot.kind != "tool_call":
            self.said.unreadable(piece.encode("utf-8", "replace"))
        elif not block.whole_input:
            self.said.say(block.slot, piece)

    def _stop(self, reason: Any) -> None:
        if isinstance(reason, str) and reason:
            self.said.finish_reason = reason
            self.said.partial, self.said.error = _ENDS.get(reason, (None, None))

    def _count(self, usage: Any) -> None:
        """Counts are cumulative: of each field, the last that came is right; zeros at the end take none back."""
        if isinstance(usage, dict):
            self._counts.update({key: count for key, value in usage.items() if (count := whole(value))})
            self.said.usage = usage_of(self._counts)


def _first(block: dict[str, Any]) -> _Delta:
    return _Delta(text=block.get("text"), thinking=block.get("thinking"), signature=block.get("signature"))


def usage_of(counts: dict[str, int]) -> Usage:
    """Tokens as every dialect counts them: this one leaves out of its input what went through the cache."""
    read, written = counts.get("cache_read_input_tokens", 0), counts.get("cache_creation_input_tokens", 0)
    return Usage(
        input=counts.get("input_tokens", 0) + read + written,
        output=counts.get("output_tokens", 0),
        cache_read=read,
        cache_write=written,
    )
