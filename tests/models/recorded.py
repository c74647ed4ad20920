"""Streams as the five kinds of servers send them, each with the reply it means: what tests cut at every byte."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from forkwood.domain.message import Part, PartialReason, Replay, Text, Thinking, ToolCall
from forkwood.domain.model import Delta, Reply, Usage
from forkwood.models.failures import Peer
from forkwood.models.frames import Decoder
from forkwood.models.quirks import Quirks
from forkwood.models.remote import DIALECTS

PLAIN = Quirks()


class Recorded(Struct, frozen=True, kw_only=True):
    """A whole stream of DIALECT and what it says."""

    name: str
    dialect: str
    body: bytes
    parts: tuple[Part, ...]
    usage: Usage | None = None
    finish: str | None = None
    partial: PartialReason | None = None
    model: str = "gpt-5"


def events(*frames: Any, named: bool = False, newline: str = "\n") -> bytes:
    """FRAMES as events: values as JSON, text as it stands, bytes without any framing."""
    return b"".join(_event(frame, newline, named=named) for frame in frames)


def _event(frame: Any, newline: str, *, named: bool) -> bytes:
    if isinstance(frame, bytes):
        return frame
    text = frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
    name = f"event: {frame['type']}{newline}" if named else ""
    return f"{name}data: {text}{newline}{newline}".encode()


def lines(*frames: Any) -> bytes:
    """FRAMES as lines of JSON: values as JSON, text as it stands."""
    texts = (frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=False) for frame in frames)
    return "".join(f"{text}\n" for text in texts).encode()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """A chunk of the chat dialect."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def call(index: int | None = None, identity: str | None = None, name: str | None = None, arguments: Any = ...) -> Any:
    """A chunk of the chat dialect with one fragment of a call; what is left out is not in it."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value not in (None, ...)}
    fragment: dict[str, Any] = {"index": index, "id": identity, "type": "function", "function": function}
    return chunk(tool_calls=[{key: value for key, value in fragment.items() if value is not None}])


def decoder(dialect: str, *, model: str = "gpt-5", quirks: Quirks = PLAIN, peer: Peer | None = None) -> Decoder[Any]:
    """A fresh decoder of DIALECT."""
    return DIALECTS[dialect].decoder(model=model, peer=peer or Peer(provider=dialect), quirks=quirks)


def decoded(reading: Decoder[Any], *chunks: bytes) -> tuple[list[Delta], Reply]:
    """What READING makes of CHUNKS: all deltas, and the reply."""
    reader = reading.framing()
    deltas = [delta for piece in chunks for event in reader.feed(piece) for delta in reading.feed(event)]
    return deltas + reading.rest(), reading.finish()


def said(deltas: list[Delta]) -> list[tuple[str, str]]:
    """The parts that DELTAS add up to."""
    parts: dict[int, tuple[str, str]] = {}
    for delta in deltas:
        parts[delta.index] = (delta.kind, parts.get(delta.index, ("", ""))[1] + delta.text)
    return [parts[index] for index in sorted(parts)]


CHAT_TEXT = Recorded(
    name="chat text",
    dialect="chat",
    body=events(
        chunk(role="assistant", content=""),
        chunk(content="Grüße "),
        b": keep-alive\n\n",
        chunk(content="aus 東京 🌍"),
        chunk(content="\r\n"),
        chunk("stop"),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}},
        "[DONE]",
    ),
    parts=(Text(text="Grüße aus 東京 🌍\r\n"),),
    usage=Usage(input=9, output=4),
    finish="stop",
)
CHAT_TAGS = Recorded(
    name="chat think tags",
    dialect="chat",
    body=events(
        chunk(content="\n<thi"),
        chunk(content="nk>\nIs `</think>` a tag?"),
        chunk(content=" Yes.</th"),
        chunk(content="ink>\n\nWrite <think> and "),
        chunk(content="</think>."),
        chunk("stop"),
        "[DONE]",
    ),
    parts=(Thinking(text="Is `</think>` a tag? Yes."), Text(text="Write <think> and </think>.")),
    finish="stop",
)
CHAT_CALLS = Recorded(
    name="chat thinking and parallel calls",
    dialect="chat",
    body=events(
        chunk(reasoning_content="Two "),
        chunk(reasoning_content="calls."),
        call(0, "a", "weather", ""),
        call(0, arguments='{"city":'),
        call(1, "b", "time", ""),
        call(0, arguments='"Zürich"}'),
        call(1, arguments="{}"),
        chunk("tool_calls"),
        {
            "choices": [],
            "usage": {
                "prompt_tokens": 50,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 32},
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
        },
        "[DONE]",
    ),
    parts=(
        Thinking(text="Two calls."),
        ToolCall(call="a", name="weather", arguments={"city": "Zürich"}),
        ToolCall(call="b", name="time", arguments={}),
    ),
    usage=Usage(input=50, output=20, cache_read=32, reasoning=7),
    finish="tool_calls",
)
CHAT_ERROR = Recorded(
    name="chat error after text",
    dialect="chat",
    body=events(chunk(content="Half an an"), {"error": {"message": "GPU fell off", "type": "server_error"}}),
    parts=(Text(text="Half an an"),),
    partial="error",
)
REASONING_ITEM = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Look it up."}],
    "encrypted_content": "gAAAA+/=ü",
}
RESPONSES = Recorded(
    name="responses reasoning, text and calls",
    dialect="responses",
    body=events(
        {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"id": "rs_1", "type": "reasoning"}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "Look it"},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": " up."},
        {"type": "response.output_item.done", "output_index": 0, "item": REASONING_ITEM},
        {"type": "response.output_item.added", "output_index": 1, "item": {"id": "m", "type": "message"}},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "One mo"},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "ment 🌍"},
        {
            "type": "response.output_item.added",
            "output_index": 2,
            "item": {"id": "f1", "type": "function_call", "call_id": "c1", "name": "weather", "arguments": ""},
        },
        {
            "type": "response.output_item.added",
            "output_index": 3,
            "item": {"id": "f2", "type": "function_call", "call_id": "c2", "name": "time", "arguments": ""},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"city":'},
        {"type": "response.function_call_arguments.delta", "output_index": 3, "delta": "{}"},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '"Bern"}'},
        {
            "type": "response.completed",
            "response": {
                "status": "completed",
                "usage": {
                    "input_tokens": 30,
                    "input_tokens_details": {"cached_tokens": 10},
                    "output_tokens": 12,
                    "output_tokens_details": {"reasoning_tokens": 5},
                },
            },
        },
        named=True,
    ),
    parts=(
        Thinking(text="Look it up.", replay=Replay(dialect="responses", family="gpt", value=REASONING_ITEM)),
        Text(text="One moment 🌍"),
        ToolCall(call="c1", name="weather", arguments={"city": "Bern"}),
        ToolCall(call="c2", name="time", arguments={}),
    ),
    usage=Usage(input=30, output=12, cache_read=10, reasoning=5),
    finish="completed",
)


def block(index: int, **fields: Any) -> dict[str, Any]:
    """A block of the Anthropic dialect begins."""
    return {"type": "content_block_start", "index": index, "content_block": fields}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    """A block of the Anthropic dialect goes on."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a"}
SIGNED = {"type": "thinking", "thinking": "Two cities → two calls.", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3h=="}
ANTHROPIC = Recorded(
    name="anthropic thinking, text and calls",
    dialect="anthropic",
    model="claude-sonnet-4-5",
    body=events(
        {
            "type": "message_start",
            "message": {
                "usage": {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}
            },
        },
        block(0, type="thinking", thinking="", signature=""),
        {"type": "ping"},
        delta(0, "thinking_delta", thinking="Two cities → "),
        delta(0, "thinking_delta", thinking="two calls."),
        delta(0, "signature_delta", signature=SIGNED["signature"]),
        {"type": "content_block_stop", "index": 0},
        block(1, **REDACTED),
        {"type": "content_block_stop", "index": 1},
        block(2, type="text", text=""),
        delta(2, "text_delta", text="Grüß"),
        delta(2, "text_delta", text="e 🌍"),
        {"type": "content_block_stop", "index": 2},
        block(3, type="tool_use", id="toolu_1", name="weather", input={}),
        delta(3, "input_json_delta", partial_json=""),
        delta(3, "input_json_delta", partial_json='{"city": "Gen'),
        delta(3, "input_json_delta", partial_json='ève"}'),
        {"type": "content_block_stop", "index": 3},
        block(4, type="tool_use", id="toolu_2", name="time", input={}),
        {"type": "content_block_stop", "index": 4},
        {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {"output_tokens": 4}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 44}},
        {"type": "message_stop"},
        named=True,
    ),
    parts=(
        Thinking(text="Two cities → two calls.", replay=Replay(dialect="anthropic", family="claude", value=SIGNED)),
        Thinking(text="", replay=Replay(dialect="anthropic", family="claude", value=REDACTED)),
        Text(text="Grüße 🌍"),
        ToolCall(call="toolu_1", name="weather", arguments={"city": "Genève"}),
        ToolCall(call="toolu_2", name="time", arguments=""),
    ),
    usage=Usage(input=130, output=44, cache_read=100, cache_write=20),
    finish="tool_use",
)


def candidate(*parts: dict[str, Any], finish: str | None = None, usage: Any = None) -> dict[str, Any]:
    """A chunk of the Google dialect."""
    found: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish:
        found["finishReason"] = finish
    return {"candidates": [found], **({"usageMetadata": usage} if usage else {})}


GOOGLE = Recorded(
    name="google thoughts, text and calls",
    dialect="google",
    model="gemini-3-pro",
    body=events(
        candidate({"text": "**Two** calls.", "thought": True}),
        candidate({"text": "Gleich "}),
        candidate({"text": "mehr 🌍"}),
        candidate({"functionCall": {"name": "weather", "args": {"city": "Zürich"}}, "thoughtSignature": "sig/A+=="}),
        candidate({"functionCall": {"name": "time", "args": {}}}),
        candidate(
            finish="STOP",
            usage={
                "promptTokenCount": 20,
                "candidatesTokenCount": 8,
                "thoughtsTokenCount": 30,
                "cachedContentTokenCount": 5,
            },
        ),
        newline="\r\n",
    ),
    parts=(
        Thinking(text="**Two** calls."),
        Text(text="Gleich mehr 🌍"),
        Thinking(
            text="",
            replay=Replay(dialect="google", family="gemini", value={"at": "call", "thoughtSignature": "sig/A+=="}),
        ),
        ToolCall(call="call_4", name="weather", arguments={"city": "Zürich"}),
        ToolCall(call="call_5", name="time", arguments={}),
    ),
    usage=Usage(input=20, output=38, cache_read=5, reasoning=30),
    finish="STOP",
)


def spoken(content: str = "", **message: Any) -> dict[str, Any]:
    """A line of the Ollama dialect while the model speaks."""
    at = "2026-11-30T08:52:19.385406455-07:00"
    said = {"role": "assistant", "content": content, **message}
    return {"model": "qwen3:8b", "created_at": at, "message": said, "done": False}


def done(reason: str | None = "stop", **counts: Any) -> dict[str, Any]:
    """The last line of the Ollama dialect."""
    why = {} if reason is None else {"done_reason": reason}
    return {**spoken(), "done": True, **why, "total_duration": 4883583458, "load_duration": 1334875, **counts}


OLLAMA = Recorded(
    name="ollama thinking, text and calls",
    dialect="ollama",
    model="qwen3:8b",
    body=lines(
        spoken(thinking="Two cities → "),
        spoken(thinking="two calls."),
        spoken("Einen Mo"),
        spoken("ment 🌍\n"),
        spoken(tool_calls=[{"function": {"index": 0, "name": "weather", "arguments": {"city": "Zürich"}}}]),
        spoken(tool_calls=[{"function": {"name": "weather", "arguments": {"city": "Genève"}}}]),
        done(prompt_eval_count=26, eval_count=259),
    ),
    parts=(
        Thinking(text="Two cities → two calls."),
        Text(text="Einen Moment 🌍\n"),
        ToolCall(call="call_3", name="weather", arguments={"city": "Zürich"}),
        ToolCall(call="call_4", name="weather", arguments={"city": "Genève"}),
    ),
    usage=Usage(input=26, output=259),
    finish="stop",
)
OLLAMA_TAGS = Recorded(
    name="ollama think tags",
    dialect="ollama",
    body=lines(spoken("<thi"), spoken("nk>\nHm.</th"), spoken("ink>\n\nWrite <think>."), "", done("length")),
    parts=(Thinking(text="Hm."), Text(text="Write <think>.")),
    finish="length",
    partial="length",
)
OLLAMA_ERROR = Recorded(
    name="ollama error after text",
    dialect="ollama",
    body=lines(spoken("Half an an"), {"error": "an error was encountered while running the model: CUDA error"}),
    parts=(Text(text="Half an an"),),
    partial="error",
)
RECORDED = (
    *(CHAT_TEXT, CHAT_TAGS, CHAT_CALLS, CHAT_ERROR, RESPONSES, ANTHROPIC, GOOGLE),
    *(OLLAMA, OLLAMA_TAGS, OLLAMA_ERROR),
)
