"""The Responses dialect of OpenAI: nothing is stored there, so reasoning travels encrypted and goes back in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from forkwood import wire
from forkwood.domain.message import (
    Attachment,
    Part,
    PartialReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    results_of,
)
from forkwood.domain.model import Dialect, Usage
from forkwood.domain.prompt import Prompt, PromptMessage, ToolSpec
from forkwood.models import sending
from forkwood.models.failures import Peer
from forkwood.models.frames import Decoder, FrameReader
from forkwood.models.quirks import Quirks
from forkwood.models.reply import Slot, spelled, whole

ENCRYPTED = "reasoning.encrypted_content"
_INCOMPLETE: dict[str, tuple[PartialReason, str]] = {
    "max_output_tokens": ("length", "the limit of output tokens was reached"),
    "content_filter": ("refused", "the provider's content filter ended the reply"),
}
_NOT_WHOLE = {"incomplete", "failed", "cancelled"}
"""What the status of a response may say against the name of its last event."""


def path(_model: str) -> str:
    """The request's path below the server's address."""
    return "/responses"


def headers(key: str | None) -> dict[str, str]:
    """The headers that carry KEY."""
    return {"authorization": f"Bearer {key}"} if key else {}


def lacks(_quirks: Quirks) -> frozenset[str]:
    """The parameters that cannot be sent."""
    return frozenset({"seed", "context"})


def encode(prompt: Prompt, images: Mapping[str, bytes], model: str, quirks: Quirks) -> bytes:
    """The request body for PROMPT, a pure function of its arguments. Raises ProviderFailed("capability")."""
    body: dict[str, Any] = {"model": model}
    if prompt.system:
        body["instructions"] = prompt.system
    body["input"] = [item for message in prompt.messages for item in _items(message, images)]
    if prompt.tools:
        body["tools"] = [_tool(tool) for tool in prompt.tools]
    body |= {"store": False, "stream": True}
    if quirks.encrypted_reasoning:
        body["include"] = [ENCRYPTED]
    body |= _parameters(prompt, quirks)
    sending.merge(body, quirks.extra_body)
    return wire.encode(body)


def _parameters(prompt: Prompt, quirks: Quirks) -> dict[str, Any]:
    parameters = prompt.parameters
    chosen: dict[str, Any] = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "max_output_tokens": parameters.max_output,
    }
    sent = {field: value for field, value in chosen.items() if value is not None}
    if parameters.effort is not None:
        summary = {"summary": "auto"} if quirks.thoughts else {}
        sent["reasoning"] = {"effort": parameters.effort, **summary}
    return sent


def _tool(tool: ToolSpec) -> dict[str, Any]:
    """TOOL with its schema as it is: where `strict` is left out, this API rewrites schemas."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": False,
    }


def _items(message: PromptMessage, images: Mapping[str, bytes]) -> Iterable[dict[str, Any]]:
    if message.role == "assistant":
        for part in sending.answered(message.parts):
            yield from _said(part)
        return
    for result in results_of(message.parts):
        yield _result(result, images)
    said = _content(tuple(part for part in message.parts if not isinstance(part, ToolResult)), images)
    if said:
        yield {"type": "message", "role": "user", "content": said}


def _said(part: Part) -> Iterable[dict[str, Any]]:
    match part:
        case Text() if part.text.strip():
            content = {"type": "output_text", "text": part.text, "annotations": []}
            yield {"type": "message", "role": "assistant", "content": [content]}
        case Thinking(replay=replay) if replay is not None:
            yield replay.value
        case ToolCall():
            yield {
                "type": "function_call",
                "call_id": sending.call_id(part.call),
                "name": sending.name(part.name),
                "arguments": wire.text(sending.arguments(part)),
            }
        case _:
            pass


def _result(result: ToolResult, images: Mapping[str, bytes]) -> dict[str, Any]:
    pictures = any(isinstance(part, Attachment) for part in result.parts)
    output: Any = _content(result.parts, images) if pictures else sending.result_text(result)
    return {"type": "function_call_output", "call_id": sending.call_id(result.call), "output": output}


def _content(parts: tuple[Part, ...], images: Mapping[str, bytes]) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Text) and part.text.strip():
            content.append({"type": "input_text", "text": part.text})
        elif isinstance(part, Attachment):
            url = f"data:{part.mime};base64,{sending.image(part, images)}"
            content.append({"type": "input_image", "image_url": url, "detail": "auto"})
    return content


class _Frame(Struct, frozen=True, gc=False):
    type: Any = None
    output_index: int | str | None = None
    item_id: str | None = None
    summary_index: Any = None
    content_index: Any = None
    delta: Any = None
    arguments: Any = None
    item: Any = None
    response: Any = None
    error: Any = None
    code: Any = None
    message: Any = None


class ResponsesDecoder(Decoder[_Frame]):
    """Reads one stream of the Responses dialect. The reply has ended when `response.completed` was seen."""

    dialect: Dialect = "responses"
    frames = FrameReader(_Frame)

    def __init__(self, *, model: str, peer: Peer, quirks: Quirks) -> None:  # noqa: ARG002 (one signature for all)
        super().__init__(model=model, peer=peer)
        self._slots: dict[Any, Slot] = {}
        self._spoken: set[Any] = set()
        self._summary: dict[Any, Any] = {}

    def _take(self, frame: _Frame, event: str) -> None:
        kind = frame.type or event
        match kind:
            case "response.output_text.delta":
                self._text(frame)
            case "response.function_call_arguments.delta":
                self._arguments(frame, frame.delta)
            case "response.function_call_arguments.done":
                if frame.arguments:
                    self._whole_arguments(self._slot(_key(frame), "tool_call"), frame.arguments)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._think(frame)
            case "response.output_item.added":
                self._begin(frame.output_index, frame.item)
            case "response.output_item.done":
                self._complete(frame.output_index, frame.item)
            case "response.refusal.delta":
                self._text(frame)
                self.said.partial, self.said.error = "refused", "the model refused"
            case "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled":
                self._end(kind, frame.response if isinstance(frame.response, dict) else {})
            case _ if frame.error or kind == "error":
                self.said.fail({"error": frame.error or {"message": frame.message, "code": frame.code}})

    def _text(self, frame: _Frame) -> None:
        if isinstance(frame.delta, str):
            self._spoken.add(_key(frame))
            self.said.add("text", frame.delta)

    def _think(self, frame: _Frame) -> None:
        if not isinstance(frame.delta, str) or not frame.delta:
            return
        key = _key(frame)
        part = (frame.summary_index, frame.content_index)
        slot = self._slot(key, "thinking")
        if self._summary.setdefault(key, part) != part:
            self._summary[key] = part
            self.said.say(slot, "\n\n")
        self.said.say(slot, frame.delta)

    def _arguments(self, frame: _Frame, piece: Any) -> None:
        slot = self._slots.get(_key(frame))
        if slot is None or slot.kind != "tool_call":
            self.said.unreadable(str(piece).encode("utf-8", "replace"))
        elif isinstance(piece, str):
            self.said.say(slot, piece)

    def _whole_arguments(self, slot: Slot, arguments: Any) -> None:
        """ARGUMENTS that came in one piece, for the call in SLOT where no delta said them."""
        if slot.pieces or slot.held:
            return
        if isinstance(arguments, str):
            self.said.say(slot, arguments)
        elif isinstance(arguments, dict):
            self.said.say(slot, spelled(arguments))

    def _begin(self, key: Any, item: Any) -> None:
        if isinstance(item, dict) and item.get("type") == "function_call":
            slot = self._slot(str(item.get("id")) if key is None else key, "tool_call")
            call, name = item.get("call_id") or item.get("id"), item.get("name")
            slot.call = call if isinstance(call, str) else slot.call
            slot.name = name if isinstance(name, str) else slot.name

    def _complete(self, key: Any, item: Any) -> None:
        """ITEM is whole: what its deltas did not say is taken from it, and what signs it is kept."""
        if not isinstance(item, dict):
            return
        key = str(item.get("id")) if key is None else key
        match item.get("type"):
            case "message":
                if key not in self._spoken:
                    self._spoken.add(key)
                    self.said.add("text", _words(item.get("content")))
                if _refuses(item.get("content")):
                    self.said.partial, self.said.error = "refused", "the model refused"
            case "function_call":
                self._begin(key, item)
                self._whole_arguments(self._slots[key], item.get("arguments"))
            case "reasoning":
                self._reasoned(self._slot(key, "thinking"), item)

    def _reasoned(self, slot: Slot, item: dict[str, Any]) -> None:
        if not slot.pieces and not slot.held:
            self.said.say(slot, _words(item.get("summary")) or _words(item.get("content")))
        if isinstance(item.get("encrypted_content"), str) and item["encrypted_content"]:
            slot.replay = item

    def _slot(self, key: Any, kind: Any) -> Slot:
        slot = self._slots.get(key)
        if slot is None or slot.kind != kind:
            self._slots[key] = slot = self.said.open(kind)
        return slot

    def _end(self, kind: str, response: dict[str, Any]) -> None:
        self._count(response.get("usage"))
        status = response.get("status")
        if isinstance(status, str) and status in _NOT_WHOLE:
            kind = f"response.{status}"
        if kind == "response.failed":
            self.said.fail({"error": response.get("error") or "no words given"})
            return
        output = response.get("output")
        if not self.said.begun and isinstance(output, list):
            for key, item in enumerate(output):
                self._complete(key, item)
        self.said.flush()
        self.said.ended = self.said.closed = True
        self.said.finish_reason = kind.removeprefix("response.")
        if kind == "response.incomplete":
            self._incomplete(response.get("incomplete_details"))
        elif kind == "response.cancelled":
            self.said.partial, self.said.error = "cut", "the provider gave up the reply"

    def _incomplete(self, details: Any) -> None:
        reason = details.get("reason") if isinstance(details, dict) else None
        self.said.finish_reason = str(reason or "incomplete")
        self.said.partial, self.said.error = _INCOMPLETE.get(
            self.said.finish_reason, ("error", "the provider says the reply is incomplete")
        )

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self.said.usage = usage_of(usage)


def usage_of(usage: dict[str, Any]) -> Usage:
    """Tokens as this dialect counts them: the input includes what a cache gave."""
    given, made = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    return Usage(
        input=whole(usage.get("input_tokens")),
        output=whole(usage.get("output_tokens")),
        cache_read=whole(given.get("cached_tokens")) if isinstance(given, dict) else 0,
        reasoning=whole(made.get("reasoning_tokens")) if isinstance(made, dict) else 0,
    )


def _key(frame: _Frame) -> Any:
    return frame.item_id if frame.output_index is None else frame.output_index


def _refuses(pieces: Any) -> bool:
    return isinstance(pieces, list) and any(isinstance(one, dict) and one.get("refusal") for one in pieces)


def _words(pieces: Any) -> str:
    """The words of a list of content or summary pieces; a refusal's words are words too."""
    if not isinstance(pieces, list):
        return ""
    words = [one.get("text") or one.get("refusal") for one in pieces if isinstance(one, dict)]
    return "\n\n".join(word for word in words if isinstance(word, str) and word)
