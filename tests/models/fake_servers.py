"""Model servers on loopback for tests: real sockets, scripted answers by route, and what was asked of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

NDJSON = "application/x-ndjson"


class Answer(Struct, frozen=True, kw_only=True):
    """What one route answers. NEVER keeps the connection open and says nothing."""

    body: bytes = b"{}"
    status: int = 200
    content_type: str = "application/json"
    never: bool = False


def of(value: Any, status: int = 200) -> Answer:
    return Answer(body=json.dumps(value).encode(), status=status)


def lines(*values: Any) -> Answer:
    """VALUES as a stream of JSON, one on each line."""
    return Answer(body=b"".join(json.dumps(value).encode() + b"\n" for value in values), content_type=NDJSON)


NEVER = Answer(never=True)
PAGE = Answer(body=b"<html>Hello</html>", content_type="text/html")
ABSENT = of({"error": "not found"}, 404)


class Request(Struct, frozen=True, kw_only=True):
    """One request as it came: `route` is its path without the query; names of headers are in lower case."""

    method: str
    route: str
    headers: dict[str, str]
    body: bytes


class FakeServer:
    """A server that answers each route from its table, `/api/show` by the model asked for, others with 404."""

    def __init__(self, routes: Mapping[str, Answer]) -> None:
        self.routes = dict(routes)
        self.requests: list[Request] = []
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            self.requests.append(request)
            answer = self._answer_to(request)
            if answer.never:
                await reader.read()
            else:
                head = f"HTTP/1.1 {answer.status} X\r\ncontent-type: {answer.content_type}\r\nconnection: close\r\n"
                writer.write(f"{head}content-length: {len(answer.body)}\r\n\r\n".encode() + answer.body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def requests_to(self, route: str) -> list[Request]:
        """The requests ROUTE was asked with."""
        return [request for request in self.requests if request.route == route]

    def _answer_to(self, request: Request) -> Answer:
        route = request.route
        if request.method == "POST" and route == "/api/show":
            route = f"{route} {json.loads(request.body)['model']}"
        return self.routes.get(route, ABSENT)


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, target, _ = head[0].split()
    pairs = (line.split(": ", 1) for line in head[1:] if line)
    headers = {name.lower(): value for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method=method, route=target.partition("?")[0], headers=headers, body=body)


@asynccontextmanager
async def serving(routes: Mapping[str, Answer]) -> AsyncIterator[FakeServer]:
    """A FakeServer that listens on a port of its own; `url` has no trailing slash."""
    fake = FakeServer(routes)
    server = await asyncio.start_server(fake.answer, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()


OLLAMA = {
    "/v1/models": of({"object": "list", "data": [{"id": "qwen3:8b", "owned_by": "library"}]}),
    "/api/tags": of({"models": [{"model": "qwen3:8b"}, {"model": "llava:7b"}, {"model": "embed:latest"}]}),
    "/api/ps": of({"models": [{"model": "llava:7b", "context_length": 4096}]}),
    "/api/show qwen3:8b": of({"capabilities": ["completion", "tools"], "model_info": {"qwen3.context_length": 40960}}),
    "/api/show llava:7b": of({"capabilities": ["completion", "vision"]}),
    "/api/show embed:latest": of({"capabilities": ["embedding"]}),
}
LLAMACPP = {
    "/v1/models": of({"data": [{"id": "local.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 1}}]}),
    "/props": of({"default_generation_settings": {"n_ctx": 16384}, "chat_template_caps": {"supports_tools": True}}),
    "/api/tags": of({"models": [{"model": "local.gguf"}]}),
}
LMSTUDIO = {
    "/v1/models": of({"data": [{"id": "gemma"}, {"id": "nomic"}]}),
    "/api/v0/models": of(
        {
            "data": [
                {"id": "gemma", "type": "vlm", "state": "loaded", "max_context_length": 8192, "capabilities": []},
                {"id": "nomic", "type": "embeddings", "state": "not-loaded"},
            ]
        }
    ),
}
VLLM = {"/v1/models": of({"data": [{"id": "Qwen/Q", "owned_by": "vllm", "max_model_len": 32768}]})}
PLAIN = {"/v1/models": of({"data": [{"id": "m"}]})}
