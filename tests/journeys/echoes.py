"""A model server on loopback that says the key it is sent back to its client, in every dialect and in odd ways."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from typing import Any

from msgspec import Struct

Said = tuple[str, str]
"""What kind of words: `text` or `thinking`, and the words."""


class Answer(Struct, frozen=True, kw_only=True):
    """A whole response as bytes, from the status line on."""

    status: str = "200 OK"
    headers: str = "content-type: text/event-stream"
    body: bytes = b""


class Called(Struct, frozen=True, kw_only=True):
    """A tool call, its arguments as the text that spells them."""

    id: str
    name: str
    arguments: str


Way = Callable[[str], Answer]
"""The answer to a request that came with this key."""


@contextmanager
def echoing() -> Iterator[Echo]:
    """A server that answers every question in the way that is set; its list of models holds the key too."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        echo = Echo(f"http://127.0.0.1:{server.server_port}")
        server.echo = echo  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield echo
        server.shutdown()
        thread.join()


class Echo:
    """Where the server is, and how it answers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.way: Way = lambda _: Answer()
        self.asked: list[str] = []
        """The keys that came with a prompt."""


class Answering(BaseHTTPRequestHandler):
    """One connection. The key is where one of the dialects puts it."""

    def do_GET(self) -> None:
        self._list(self._key())

    def _list(self, key: str) -> None:
        """Its models; on the routes of Ollama too, so that it is spoken to as one."""
        named = ["m", f"m-{key}", f"n-{key.upper()}", f"o-{key[:-1]}", f"p-{key[len(key) // 2 :]}"]
        listed = {"data": [{"id": name} for name in named], "models": [{"name": name} for name in named]}
        known = self.path.partition("?")[0].endswith(("/models", "/api/tags"))
        body = json.dumps(listed if known else {}).encode()
        self._send(Answer(headers="content-type: application/json", body=body))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", "0")))
        key = self._key()
        if self.path == "/api/show":
            self._list(key)
            return
        self.server.echo.asked.append(key)  # type: ignore[attr-defined]
        self._send(self.server.echo.way(key))  # type: ignore[attr-defined]

    def log_message(self, *_: Any) -> None:
        """Nothing is said on stderr, which is searched for the key."""

    def _key(self) -> str:
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return bearer or self.headers.get("x-api-key") or self.headers.get("x-goog-api-key") or ""

    def _send(self, answer: Answer) -> None:
        head = f"HTTP/1.1 {answer.status}\r\nconnection: close\r\n{answer.headers}\r\n\r\n"
        self.wfile.write(head.encode() + answer.body)
        self.close_connection = True


def told(dialect: str, *said: Said, call: Called | None = None, finish: str = "", error: str = "") -> bytes:
    """A stream of DIALECT that says this, each of SAID in its own part where the kind changes."""
    frames = {
        "chat": _chat,
        "responses": _responses,
        "anthropic": _anthropic,
        "google": _google,
        "ollama": _ollama,
    }[dialect](said, call, finish)
    if error:
        frames = [*frames[:-1], {"type": "error", "error": {"message": error, "code": error}}]
    if dialect == "ollama":
        return b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    return b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames)


def pieces(kind: str, words: str, length: int = 3) -> list[Said]:
    """WORDS as they are streamed: a few characters at a time."""
    return [(kind, words[at : at + length]) for at in range(0, len(words), length)]


def _chat(said: tuple[Said, ...], call: Called | None, finish: str) -> list[Any]:
    names = {"text": "content", "thinking": "reasoning_content"}
    frames = [{"choices": [{"index": 0, "delta": {names[kind]: words}}]} for kind, words in said]
    if call:
        function = {"name": call.name, "arguments": call.arguments}
        delta = {"tool_calls": [{"index": 0, "id": call.id, "type": "function", "function": function}]}
        frames.append({"choices": [{"index": 0, "delta": delta}]})
    return [*frames, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish or "stop"}]}]


def _responses(said: tuple[Said, ...], call: Called | None, finish: str) -> list[Any]:
    frames: list[Any] = []
    at = -1
    for at, (kind, some) in enumerate(groupby(said, key=lambda one: one[0])):
        item = {"type": "message" if kind == "text" else "reasoning", "id": f"i{at}"}
        frames.append({"type": "response.output_item.added", "output_index": at, "item": item})
        name = "response.output_text.delta" if kind == "text" else "response.reasoning_summary_text.delta"
        frames += [{"type": name, "output_index": at, "item_id": f"i{at}", "delta": words} for _, words in some]
    if call:
        item = {"type": "function_call", "id": "fc", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        frames += [
            {"type": f"response.output_item.{step}", "output_index": at + 1, "item": item} for step in ("added", "done")
        ]
    how = "incomplete" if finish else "completed"
    ended: dict[str, Any] = {"status": how, "incomplete_details": {"reason": finish} if finish else None}
    return [*frames, {"type": f"response.{how}", "response": ended}]


def _anthropic(said: tuple[Said, ...], call: Called | None, finish: str) -> list[Any]:
    frames: list[Any] = [{"type": "message_start", "message": {"id": "m"}}]
    at = -1
    for at, (kind, some) in enumerate(groupby(said, key=lambda one: one[0])):
        frames.append({"type": "content_block_start", "index": at, "content_block": {"type": kind, kind: ""}})
        frames += [
            {"type": "content_block_delta", "index": at, "delta": {"type": f"{kind}_delta", kind: words}}
            for _, words in some
        ]
        frames.append({"type": "content_block_stop", "index": at})
    if call:
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": call.arguments}
        frames += [
            {"type": "content_block_start", "index": at + 1, "content_block": block},
            {"type": "content_block_delta", "index": at + 1, "delta": delta},
            {"type": "content_block_stop", "index": at + 1},
        ]
    return [
        *frames,
        {"type": "message_delta", "delta": {"stop_reason": finish or "end_turn"}},
        {"type": "message_stop"},
    ]


def _google(said: tuple[Said, ...], call: Called | None, finish: str) -> list[Any]:
    parts: list[Any] = [{"text": words, **({"thought": True} if kind == "thinking" else {})} for kind, words in said]
    if call:
        parts.append({"functionCall": {"id": call.id, "name": call.name, "args": json.loads(call.arguments)}})
    frames: list[Any] = [{"candidates": [{"content": {"parts": [part], "role": "model"}}]} for part in parts]
    return [*frames, {"candidates": [{"finishReason": finish or "STOP"}]}]


def _ollama(said: tuple[Said, ...], call: Called | None, finish: str) -> list[Any]:
    names = {"text": "content", "thinking": "thinking"}
    frames: list[Any] = [{"message": {"role": "assistant", names[kind]: words}, "done": False} for kind, words in said]
    if call:
        function = {"name": call.name, "arguments": json.loads(call.arguments)}
        frames.append({"message": {"role": "assistant", "tool_calls": [{"id": call.id, "function": function}]}})
    return [*frames, {"message": {"content": ""}, "done": True, "done_reason": finish or "stop"}]
