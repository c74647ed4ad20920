"""The chat dialect: OpenAI Chat Completions, and every server that speaks like it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from forkwood import wire
from forkwood.domain.message import Attachment, PartialReason, Text, Thinking, ToolResult, calls_of, results_of
from forkwood.domain.model import Dialect, Usage
from forkwood.domain.prompt import Prompt, PromptMessage
from forkwood.models import sending
from forkwood.models.calls import CallsApart, Fragment
from forkwood.models.failures import Peer
from forkwood.models.frames import FrameReader, flat_error
from forkwood.models.quirks import Quirks
from forkwood.models.reply import counted, spelled, whole
from forkwood.models.tagged import TaggedDecoder

DETAILS = "reasoning_details"
_MERGED = ("text", "summary", "data")
_SIGNED = ("signature", "data")
_ENDS: dict[str, tuple[PartialReason, str]] = {
    "length": ("length", "the limit of output tokens was reached"),
    "max_tokens": ("length", "the limit of output tokens was reached"),
    "model_length": ("length", "the model's context is full"),
    "model_context_window_exceeded": ("length", "the model's context is full"),
    "content_filter": ("refused", "the provider's content filter ended the reply"),
    "safety": ("refused", "the provider's content filter ended the reply"),
    "sensitive": ("refused", "the provider's content filter ended the reply"),
    "refusal": ("refused", "the model refused"),
    "error": ("error", "the provider ended the reply with an error"),
    "insufficient_system_resource": ("error", "the provider ran out of capacity"),
    "network_error": ("error", "the provider lost its connection to the model"),
    "timeout": ("error", "the provider's time for the reply ran out"),
    "repetition_truncation": ("cut", "the server cut a reply that repeated itself"),
    "abort": ("cut", "the server gave up the reply"),
    "cancelled": ("cut", "the server gave up the reply"),
}
_WHOLE = {
    "stop",
    "stop_sequence",
    "end_turn",
    "eos",
    "eos_token",
    "tool_call",
    "tool_calls",
    "tool_use",
    "function_call",
}


def path(_model: str) -> str:
    """The request's path below the server's address."""
    return "/chat/completions"


def headers(key: str | None) -> dict[str, str]:
    """The headers that carry KEY."""
    return {"authorization": f"Bearer {key}"} if key else {}


def lacks(quirks: Quirks) -> frozenset[str]:
    """The parameters that cannot be sent."""
    fields = {"seed": quirks.seed_field, "effort": quirks.effort_field, "context": None}
    return frozenset(name for name, field in fields.items() if field is None)


def encode(prompt: Prompt, images: Mapping[str, bytes], model: str, quirks: Quirks) -> bytes:
    """The request body for PROMPT, a pure function of its arguments. Raises ProviderFailed("capability")."""
    body: dict[str, Any] = {"model": model, "messages": list(_messages(prompt, images, quirks))}
    if prompt.tools:
        body["tools"] = [sending.function(tool) for tool in prompt.tools]
    body["stream"] = True
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    _put_parameters(body, prompt, quirks)
    sending.merge(body, quirks.extra_body)
    return wire.encode(body)


def _put_parameters(body: dict[str, Any], prompt: Prompt, quirks: Quirks) -> None:
    parameters = prompt.parameters
    fields = (
        ("temperature", parameters.temperature),
        ("top_p", parameters.top_p),
        (quirks.output_limit_field, parameters.max_output),
        (quirks.seed_field, parameters.seed),
        (quirks.effort_field, parameters.effort),
    )
    for field, value in fields:
        if field is not None and value is not None:
            sending.put(body, field, value)


def _messages(prompt: Prompt, images: Mapping[str, bytes], quirks: Quirks) -> Iterable[dict[str, Any]]:
    if prompt.system:
        yield {"role": quirks.system_role, "content": prompt.system}
    for message in prompt.messages:
        if message.role == "assistant":
            yield _assistant(message, quirks)
        else:
            yield from _asked(message, images, quirks)


def _assistant(message: PromptMessage, quirks: Quirks) -> dict[str, Any]:
    calls = calls_of(message.parts)
    sent: dict[str, Any] = {"role": "assistant", "content": sending.joined(message.parts) or (None if calls else "")}
    details = [
        detail
        for part in message.parts
        if isinstance(part, Thinking) and part.replay is not None and isinstance(part.replay.value, dict)
        for detail in part.replay.value.get(DETAILS, ())
    ]
    if details:
        sent[DETAILS] = details
    sent |= _thought(message, quirks.thinking_field)
    if calls:
        sent["tool_calls"] = [
            {
                "id": _call_id(call.call, quirks),
                "type": "function",
                "function": {"name": sending.name(call.name), "arguments": wire.text(sending.arguments(call))},
            }
            for call in calls
        ]
    return sent


def _thought(message: PromptMessage, field: str | None) -> dict[str, str]:
    """The thinking that goes back in FIELD; there must be some, if empty, where the reply calls tools."""
    if field is None:
        return {}
    marked = {"field": field}
    words = "".join(
        part.text
        for part in message.parts
        if isinstance(part, Thinking) and part.replay is not None and part.replay.value == marked
    )
    return {field: words} if words or calls_of(message.parts) else {}


def _asked(message: PromptMessage, images: Mapping[str, bytes], quirks: Quirks) -> Iterable[dict[str, Any]]:
    """The results of MESSAGE, each its own message, then what the user says; results cannot carry images here."""
    results = results_of(message.parts)
    for result in results:
        yield {"role": "tool", "tool_call_id": _call_id(result.call, quirks), "content": sending.result_text(result)}
    said = tuple(part for part in message.parts if not isinstance(part, ToolResult))
    seen = tuple(picture for result in results for picture in sending.images_of(result.parts))
    if said or seen or not results:
        yield {"role": "user", "content": _content((*seen, *said), images)}


def _content(parts: tuple[Any, ...], images: Mapping[str, bytes]) -> str | list[dict[str, Any]]:
    if not any(isinstance(part, Attachment) for part in parts):
        return sending.joined(parts)
    return [_piece(part, images) for part in parts if isinstance(part, Attachment) or part.text.strip()]


def _piece(part: Text | Attachment, images: Mapping[str, bytes]) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    url = f"data:{part.mime};base64,{sending.image(part, images)}"
    return {"type": "image_url", "image_url": {"url": url}}


def _call_id(call: str, quirks: Quirks) -> str:
    return wire.digest(call)[:9] if quirks.call_ids == "nine" else sending.call_id(call)


class _Said(Struct, frozen=True, gc=False):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    refusal: Any = None
    tool_calls: Any = None
    function_call: Any = None


class _Choice(Struct, frozen=True, gc=False):
    index: Any = 0
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: Any = None
    usage: Any = None
    error: Any = None


class _Chunk(Struct, frozen=True, gc=False):
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None
    message: Any = None
    detail: Any = None
    code: Any = None
    object: Any = None


class ChatDecoder(TaggedDecoder[_Chunk]):
    """Reads one stream of the chat dialect; also a whole completion sent as one frame."""

    dialect: Dialect = "chat"
    frames = FrameReader(_Chunk)

    def __init__(self, *, model: str, peer: Peer, quirks: Quirks) -> None:
        super().__init__(model=model, peer=peer, quirks=quirks)
        self._calls = CallsApart(self.said)
        self._field = quirks.thinking_field
        self._details: list[dict[str, Any]] = []

    def _take(self, frame: _Chunk, event: str) -> None:
        failure = frame.error or _flat_error(frame, event)
        if failure:
            self.said.fail({"error": failure})
            return
        if frame.usage:
            self._count(frame.usage)
        for choice in frame.choices or ():
            if not _place(choice.index):
                self._choose(choice)

    def _choose(self, choice: _Choice) -> None:
        if choice.error:
            self.said.fail({"error": choice.error})
        said = choice.delta or choice.message
        if said is not None:
            self._say(said)
        if choice.usage:
            self._count(choice.usage)
        reason = choice.finish_reason
        if isinstance(reason, str) and reason.lower() not in {"", "null"}:
            self._end(reason)

    def _say(self, said: _Said) -> None:
        thought = said.reasoning_content or said.reasoning
        if thought or said.reasoning_details:
            self._think(thought, said.reasoning_details)
        if said.content:
            self._answer(said.content)
        if said.refusal and isinstance(said.refusal, str):
            self.said.add("text", said.refusal)
            self.said.partial, self.said.error = _ENDS["refusal"]
        if said.tool_calls:
            calls = said.tool_calls if isinstance(said.tool_calls, list) else [said.tool_calls]
            for position, call in enumerate(calls):
                self._call(call, position)
        if said.function_call:
            self._call({"index": 0, "function": said.function_call}, 0)

    def _answer(self, content: Any) -> None:
        if isinstance(content, str):
            self._text(content)
        elif isinstance(content, list):
            for part in content:
                self._part(part)

    def _part(self, part: Any) -> None:
        """One piece of content that came as a list, as some servers send it."""
        match part:
            case str() | {"text": str()}:
                self._text(part if isinstance(part, str) else part["text"])
            case {"thinking": str(text)}:
                self._think(text, None)
            case {"thinking": list(pieces)}:
                texts = [one.get("text") for one in pieces if isinstance(one, dict)]
                self._think("".join(text for text in texts if isinstance(text, str)), None)

    def _think(self, thought: Any, details: Any) -> None:
        """Thinking in fields of its own; from then on a tag in the text is a word like any other."""
        self._settle_tags()
        listed = [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []
        if not isinstance(thought, str) or not thought:
            thought = "".join(text for one in listed if isinstance(text := one.get("text", one.get("summary")), str))
        self.said.add("thinking", thought)
        if self._field and thought:
            self.said.current("thinking").replay = {"field": self._field}
        if listed:
            self._keep_details(listed)

    def _keep_details(self, listed: list[dict[str, Any]]) -> None:
        first = not self._details
        for detail in listed:
            _merge_detail(self._details, detail)
        if first:
            self._detailed = self.said.current("thinking")
        if any(detail.get(field) for detail in self._details for field in _SIGNED):
            self._detailed.replay = {DETAILS: self._details}

    def _call(self, call: Any, position: int) -> None:
        function = (call.get("function") or {}) if isinstance(call, dict) else None
        if not isinstance(function, dict):
            if call:
                self.said.unreadable(str(call).encode("utf-8", "replace"))
            return
        identity, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
        fragment = Fragment(
            id=identity if isinstance(identity, str) else "",
            index=_place(call.get("index")),
            name=name if isinstance(name, str) else "",
            arguments=_raw(arguments),
            presumed=arguments == {},
            position=position,
        )
        self._calls.add(fragment)

    def _end(self, reason: str) -> None:
        self._settle_tags()
        self.said.flush()
        self.said.ended = True
        self.said.finish_reason = reason
        known = reason.lower()
        if known in _ENDS:
            self.said.partial, self.said.error = _ENDS[known]
        elif known not in _WHOLE and self.said.partial is None:
            self.said.partial, self.said.error = "error", f"the provider ended the reply: {reason}"

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self.said.usage = counted(self.said.usage, usage_of(usage))


def _flat_error(frame: _Chunk, event: str) -> Any:
    marked = event == "error" or frame.object == "error"
    told = frame.detail or (frame.message and frame.code)
    if marked or (told and not frame.choices and not frame.usage):
        return flat_error(frame.message or frame.detail, frame.code)
    return None


def usage_of(usage: dict[str, Any]) -> Usage:
    """Tokens as this dialect counts them: the input includes what a cache gave."""
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    prompt = prompt if isinstance(prompt, dict) else {}
    completion = completion if isinstance(completion, dict) else {}
    return Usage(
        input=whole(usage.get("prompt_tokens")),
        output=whole(usage.get("completion_tokens")),
        cache_read=whole(prompt.get("cached_tokens") or usage.get("prompt_cache_hit_tokens")),
        cache_write=whole(prompt.get("cache_write_tokens")),
        reasoning=whole(completion.get("reasoning_tokens")),
    )


def _place(index: Any) -> int | None:
    """INDEX as a number, however a server spells it."""
    try:
        return int(index)
    except (TypeError, ValueError, OverflowError):
        return None


def _raw(arguments: Any) -> str:
    """ARGUMENTS as text: an object where text was due is taken as it is."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else spelled(arguments)


def _merge_detail(details: list[dict[str, Any]], detail: dict[str, Any]) -> None:
    """DETAIL at the end of DETAILS; a piece of the one before goes on with it."""
    last = details[-1] if details else None
    if last is None or _are_apart(last, detail):
        details.append(dict(detail))
        return
    for key, value in detail.items():
        before = last.get(key)
        if key in _MERGED and isinstance(before, str) and isinstance(value, str):
            last[key] = before + value
        elif value is not None:
            last[key] = value


def _are_apart(last: dict[str, Any], detail: dict[str, Any]) -> bool:
    if any(last.get(key) != detail.get(key) for key in ("type", "index")):
        return True
    named, before = detail.get("id"), last.get("id")
    return bool(named) and before is not None and before != named
