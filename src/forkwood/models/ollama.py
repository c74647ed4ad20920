"""The Ollama dialect: its own `/api/chat`, where a request names the context it needs and is refused, not cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from forkwood import wire
from forkwood.domain.message import Attachment, PartialReason, ToolCall, ToolResult, calls_of, results_of
from forkwood.domain.model import Dialect, Usage
from forkwood.domain.prompt import Prompt, PromptMessage
from forkwood.domain.settings import Effort
from forkwood.models import sending
from forkwood.models.frames import FrameReader
from forkwood.models.ndjson import NdjsonReader
from forkwood.models.quirks import Quirks
from forkwood.models.reply import spelled, whole
from forkwood.models.tagged import TaggedDecoder

LEVELLED = "gpt-oss"
"""The models that think by levels and cannot leave it; all others take yes or no, and older servers refuse a level."""

_ENDS: dict[str, tuple[PartialReason, str]] = {
    "length": ("length", "the limit of output tokens or of the context was reached"),
    "load": ("error", "the server loaded the model and did not let it speak"),
    "unload": ("error", "the server put the model out of memory"),
}


def path(_model: str) -> str:
    """The request's path below the server's address."""
    return "/api/chat"


def headers(key: str | None) -> dict[str, str]:
    """The headers that carry KEY, for a server behind a gate; one of this machine wants none."""
    return {"authorization": f"Bearer {key}"} if key else {}


def lacks(_quirks: Quirks) -> frozenset[str]:
    """The parameters that cannot be sent: none."""
    return frozenset()


def encode(prompt: Prompt, images: Mapping[str, bytes], model: str, quirks: Quirks) -> bytes:
    """The request body for PROMPT, a pure function of its arguments. Raises ProviderFailed("capability").

    A prompt that is longer than the context is to be refused, and a reply that fills it to be ended: unasked, the
    server would drop what came first and answer as if nothing were missing.
    """
    body: dict[str, Any] = {"model": model, "messages": list(_messages(prompt, images))}
    if prompt.tools:
        body["tools"] = [sending.function(tool) for tool in prompt.tools]
    if prompt.parameters.effort is not None:
        body["think"] = _think(model, prompt.parameters.effort)
    options = _options(prompt)
    if options:
        body["options"] = options
    body |= {"stream": True, "truncate": False, "shift": False}
    sending.merge(body, quirks.extra_body)
    return wire.encode(body)


def _options(prompt: Prompt) -> dict[str, Any]:
    parameters = prompt.parameters
    chosen = {
        "num_ctx": parameters.context,
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "seed": parameters.seed,
        "num_predict": parameters.max_output,
    }
    return {field: value for field, value in chosen.items() if value is not None}


def _think(model: str, effort: Effort) -> bool | str:
    if model.rpartition("/")[2].lower().startswith(LEVELLED):
        return "low" if effort == "minimal" else effort
    return effort != "minimal"


def _messages(prompt: Prompt, images: Mapping[str, bytes]) -> Iterable[dict[str, Any]]:
    if prompt.system:
        yield {"role": "system", "content": prompt.system}
    for message in prompt.messages:
        if message.role == "assistant":
            yield _assistant(message)
        else:
            yield from _asked(message, images)


def _assistant(message: PromptMessage) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": "assistant", "content": sending.joined(message.parts)}
    calls = calls_of(message.parts)
    if calls:
        sent["tool_calls"] = [_called(call) for call in calls]
    return sent


def _called(call: ToolCall) -> dict[str, Any]:
    function = {"name": sending.name(call.name), "arguments": sending.arguments(call)}
    return {"id": sending.call_id(call.call), "function": function}


def _asked(message: PromptMessage, images: Mapping[str, bytes]) -> Iterable[dict[str, Any]]:
    """The results of MESSAGE in the order of their calls, then what the user says, with the images of both."""
    results = results_of(message.parts)
    for result in results:
        whose = {"tool_name": sending.name(result.name), "tool_call_id": sending.call_id(result.call)}
        yield {"role": "tool", "content": sending.result_text(result), **whose}
    said = tuple(part for part in message.parts if not isinstance(part, ToolResult))
    seen = [picture for result in results for picture in sending.images_of(result.parts)]
    shown = [*seen, *(part for part in said if isinstance(part, Attachment))]
    if said or shown or not results:
        sent: dict[str, Any] = {"role": "user", "content": sending.joined(said)}
        yield sent | ({"images": [sending.image(picture, images) for picture in shown]} if shown else {})


class _Function(Struct, frozen=True, gc=False):
    name: Any = None
    arguments: Any = None


class _Call(Struct, frozen=True, gc=False):
    id: Any = None
    function: _Function | None = None


class _Said(Struct, frozen=True, gc=False):
    content: Any = None
    thinking: Any = None
    tool_calls: list[_Call] | None = None


class _Chunk(Struct, frozen=True, gc=False):
    message: _Said | None = None
    done: Any = None
    done_reason: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    error: Any = None


class OllamaDecoder(TaggedDecoder[_Chunk]):
    """Reads one stream of the Ollama dialect; also a whole reply sent as one value."""

    dialect: Dialect = "ollama"
    framing = NdjsonReader
    frames = FrameReader(_Chunk)

    def _take(self, frame: _Chunk, event: str) -> None:  # noqa: ARG002 (lines have no names)
        if frame.error:
            self.said.fail({"error": frame.error})
            return
        if frame.message is not None:
            self._say(frame.message)
        if frame.prompt_eval_count is not None or frame.eval_count is not None:
            self.said.usage = Usage(input=whole(frame.prompt_eval_count), output=whole(frame.eval_count))
        if frame.done is True:
            self._end(frame.done_reason)

    def _say(self, said: _Said) -> None:
        if said.thinking and isinstance(said.thinking, str):
            self._settle_tags()
            self.said.add("thinking", said.thinking)
        if said.content and isinstance(said.content, str):
            self._text(said.content)
        for call in said.tool_calls or ():
            self._call(call)

    def _call(self, call: _Call) -> None:
        """A call comes whole, and mostly without an id: it is then called by its place in the reply."""
        function = call.function or _Function()
        slot = self.said.open("tool_call")
        slot.call = call.id if isinstance(call.id, str) else ""
        slot.name = function.name if isinstance(function.name, str) else ""
        arguments = function.arguments
        if isinstance(arguments, str):
            self.said.say(slot, arguments)
        elif arguments is not None:
            self.said.say(slot, spelled(arguments))

    def _end(self, reason: Any) -> None:
        self._settle_tags()
        self.said.flush()
        self.said.ended = self.said.closed = True
        if isinstance(reason, str) and reason:
            self.said.finish_reason = reason
            self.said.partial, self.said.error = _ENDS.get(reason, (None, None))
