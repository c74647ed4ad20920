"""The Google dialect: `streamGenerateContent`, with thought signatures given back on the parts they came with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from forkwood import wire
from forkwood.domain.message import (
    Attachment,
    PartialReason,
    Replay,
    Text,
    Thinking,
    ToolCall,
    results_of,
)
from forkwood.domain.model import Dialect, Reply, Usage
from forkwood.domain.prompt import Prompt, PromptMessage
from forkwood.domain.settings import Effort
from forkwood.models import failures, sending
from forkwood.models.failures import Peer
from forkwood.models.frames import Decoder, FrameReader, flat_error
from forkwood.models.quirks import Quirks
from forkwood.models.reply import counted, spelled, whole

BUDGETS: dict[Effort, int] = {"minimal": 512, "low": 2_048, "medium": 8_192, "high": 24_576}
SIGNATURE = "thoughtSignature"
UNSIGNED = "skip_thought_signature_validator"
"""What the API takes in place of a signature for a call that another model made."""

_REFUSED = "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT"
_ENDS: dict[str, tuple[PartialReason | None, str | None]] = {
    "STOP": (None, None),
    "MAX_TOKENS": ("length", "the limit of output tokens was reached"),
    **{reason: ("refused", f"the provider refused the reply: {reason}") for reason in _REFUSED.split()},
}


def path(model: str) -> str:
    """The request's path below the server's address."""
    return f"/models/{quote(model.removeprefix('models/'), safe='')}:streamGenerateContent?alt=sse"


def headers(key: str | None) -> dict[str, str]:
    """The headers that carry KEY."""
    return {"x-goog-api-key": key} if key else {}


def lacks(_quirks: Quirks) -> frozenset[str]:
    """The parameters that cannot be sent."""
    return frozenset({"context"})


def encode(prompt: Prompt, images: Mapping[str, bytes], _model: str, quirks: Quirks) -> bytes:
    """The request body for PROMPT, a pure function of its arguments. Raises ProviderFailed("capability")."""
    body: dict[str, Any] = {}
    if prompt.system:
        body["systemInstruction"] = {"parts": [{"text": prompt.system}]}
    body["contents"] = list(_contents(prompt, images, quirks))
    if prompt.tools:
        body["tools"] = [
            {
                "functionDeclarations": [
                    {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema}
                    for tool in prompt.tools
                ]
            }
        ]
    generation = _generation(prompt, quirks)
    if generation:
        body["generationConfig"] = generation
    sending.merge(body, quirks.extra_body)
    return wire.encode(body)


def _generation(prompt: Prompt, quirks: Quirks) -> dict[str, Any]:
    parameters = prompt.parameters
    chosen: dict[str, Any] = {
        "temperature": parameters.temperature,
        "topP": parameters.top_p,
        "maxOutputTokens": parameters.max_output,
        "seed": parameters.seed,
    }
    sent = {field: value for field, value in chosen.items() if value is not None}
    effort = parameters.effort
    if effort is not None:
        level = quirks.effort_style == "level"
        thinking: dict[str, Any] = {"thinkingLevel": effort} if level else {"thinkingBudget": BUDGETS[effort]}
        sent["thinkingConfig"] = thinking | ({"includeThoughts": True} if quirks.thoughts else {})
    return sent


def _contents(prompt: Prompt, images: Mapping[str, bytes], quirks: Quirks) -> Iterable[dict[str, Any]]:
    for message in prompt.messages:
        if message.role == "assistant":
            role, parts = "model", _said(message, quirks)
        else:
            role, parts = "user", list(_asked(message, images))
        if parts:
            yield {"role": role, "parts": parts}


def _said(message: PromptMessage, quirks: Quirks) -> list[dict[str, Any]]:
    """The parts of a reply in their order, each signature on the part it came with."""
    parts: list[dict[str, Any]] = []
    waiting: dict[str, Any] = {}
    signed = not quirks.signed_calls
    for part in message.parts:
        match part:
            case Text() if part.text.strip():
                parts.append({"text": part.text})
            case Thinking(replay=Replay(value={"at": "call", "thoughtSignature": str(signature)})):
                waiting = {SIGNATURE: signature}
            case Thinking(replay=Replay(value={"at": "thought", "thoughtSignature": str(signature)})):
                parts.append({"text": part.text, "thought": True, SIGNATURE: signature})
            case Thinking(replay=Replay(value={"at": "text", "thoughtSignature": str(signature)})):
                parts.append({"text": "", SIGNATURE: signature})
            case ToolCall():
                if not waiting and not signed:
                    waiting = {SIGNATURE: UNSIGNED}
                call = {"id": sending.call_id(part.call), "name": sending.name(part.name)}
                parts.append({"functionCall": {**call, "args": sending.arguments(part)}, **waiting})
                waiting, signed = {}, True
            case _:
                pass
    return parts


def _asked(message: PromptMessage, images: Mapping[str, bytes]) -> Iterable[dict[str, Any]]:
    for result in results_of(message.parts):
        words = {"output" if result.outcome == "ok" else "error": sending.result_text(result)}
        answered = {"id": sending.call_id(result.call), "name": sending.name(result.name)}
        yield {"functionResponse": {**answered, "response": words}}
    for result in results_of(message.parts):
        for picture in sending.images_of(result.parts):
            yield _picture(picture, images)
    for part in message.parts:
        if isinstance(part, Text) and part.text.strip():
            yield {"text": part.text}
        elif isinstance(part, Attachment):
            yield _picture(part, images)


def _picture(attachment: Attachment, images: Mapping[str, bytes]) -> dict[str, Any]:
    return {"inlineData": {"mimeType": attachment.mime, "data": sending.image(attachment, images)}}


class _Content(Struct, frozen=True, gc=False):
    parts: list[dict[str, Any]] | None = None


class _Candidate(Struct, frozen=True, gc=False):
    index: Any = 0
    content: _Content | None = None
    finishReason: Any = None  # noqa: N815 (the wire's name)
    finishMessage: Any = None  # noqa: N815


class _Chunk(Struct, frozen=True, gc=False):
    candidates: list[_Candidate] | None = None
    promptFeedback: Any = None  # noqa: N815
    usageMetadata: Any = None  # noqa: N815
    error: Any = None
    message: Any = None
    code: Any = None


class GoogleDecoder(Decoder[_Chunk]):
    """Reads one stream of the Google dialect. The reply has ended when a finish reason was seen."""

    dialect: Dialect = "google"
    frames = FrameReader(_Chunk)

    def __init__(self, *, model: str, peer: Peer, quirks: Quirks) -> None:  # noqa: ARG002 (one signature for all)
        super().__init__(model=model, peer=peer)
        self._signatures: list[str] = []

    def finish(self, cut: PartialReason = "cut", error: str | None = None) -> Reply:
        """The reply; see Decoder."""
        self._sign_text()
        return super().finish(cut, error)

    def _take(self, frame: _Chunk, event: str) -> None:
        if frame.error or event == "error":
            self.said.fail({"error": frame.error or "no words given"})
            return
        if frame.message and frame.code and not frame.candidates:
            self.said.fail({"error": flat_error(frame.message, frame.code)})
            return
        if isinstance(frame.usageMetadata, dict):
            self.said.usage = counted(self.said.usage, usage_of(frame.usageMetadata))
        for candidate in frame.candidates or ():
            if not candidate.index:
                for part in (candidate.content.parts if candidate.content else None) or ():
                    self._part(part)
                self._end(candidate)
        if isinstance(frame.promptFeedback, dict) and frame.promptFeedback.get("blockReason"):
            self._blocked(frame.promptFeedback)

    def _part(self, part: dict[str, Any]) -> None:
        signature = part.get(SIGNATURE)
        signature = signature if isinstance(signature, str) else ""
        match part:
            case {"functionCall": dict(call)}:
                self._call(call, signature)
            case {"text": str(text), "thought": True}:
                self._think(text, signature)
            case {"text": str(text)}:
                self.said.add("text", text)
                self._signatures += [signature] if signature else []
            case _ if signature:
                self._signatures.append(signature)
            case _:
                kind = next(iter(part), "")
                self.said.notice(f"A part of the reply of a kind that is not known was left out: {kind[:60]}")

    def _think(self, text: str, signature: str) -> None:
        self._sign_text()
        last = self.said.current("thinking")
        if last.replay is not None:
            last = self.said.open("thinking")
        self.said.say(last, text)
        if signature:
            last.replay = {"at": "thought", SIGNATURE: signature}

    def _call(self, call: dict[str, Any], signature: str) -> None:
        self._sign_text()
        if signature:
            self._sign("call", signature)
        slot = self.said.open("tool_call")
        identity, name, arguments = call.get("id"), call.get("name"), call.get("args")
        slot.call = identity if isinstance(identity, str) else ""
        slot.name = name if isinstance(name, str) else ""
        if arguments is not None:
            self.said.say(slot, spelled(arguments))

    def _sign(self, at: str, signature: str) -> None:
        """Keep SIGNATURE with the thinking just before, where that has none of its own yet."""
        last = self.said.current("thinking")
        if last.replay is not None:
            last = self.said.open("thinking")
        last.replay = {"at": at, SIGNATURE: signature}

    def _sign_text(self) -> None:
        """Keep the signatures of text behind it, where they can come no more: text goes on as one part."""
        signatures, self._signatures = self._signatures, []
        for signature in signatures:
            self._sign("text", signature)

    def _end(self, candidate: _Candidate) -> None:
        reason = candidate.finishReason
        if not isinstance(reason, str) or not reason:
            return
        self.said.flush()
        self.said.ended = True
        self.said.finish_reason = reason
        partial, error = _ENDS.get(reason, ("error", f"the provider ended the reply: {reason}"))
        words = candidate.finishMessage
        said = f"{error} ({failures.clean(words, self.said.peer)})" if error and isinstance(words, str) else error
        self.said.partial, self.said.error = partial, said

    def _blocked(self, feedback: dict[str, Any]) -> None:
        words = (feedback.get("blockReason"), feedback.get("blockReasonMessage"))
        why = failures.clean(": ".join(word for word in words if isinstance(word, str)), self.said.peer)
        peer = self.said.peer
        self.said.failure = failures.failure(peer, "refused", f"{peer.provider} refused the prompt: {why}", code=why)
        self.said.closed = True


def usage_of(usage: dict[str, Any]) -> Usage:
    """Tokens as every dialect counts them: this one counts thoughts beside the output."""
    thoughts = whole(usage.get("thoughtsTokenCount"))
    return Usage(
        input=whole(usage.get("promptTokenCount")) + whole(usage.get("toolUsePromptTokenCount")),
        output=whole(usage.get("candidatesTokenCount")) + thoughts,
        cache_read=whole(usage.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )
