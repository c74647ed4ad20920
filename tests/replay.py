"""A model server that replays byte streams with exact chunk boundaries and keeps every request byte for byte."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

LINGER_NOT = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Hold:
    """Send nothing more until EVENT is set."""

    event: asyncio.Event


Step: TypeAlias = bytes | Hold | Literal["reset", "eof"]
"""Bytes go out as one chunk; `reset` aborts the connection; `eof` closes it without the end the framing promises."""


@dataclass(frozen=True)
class Played:
    """One response. With `framing` close there is no length: the body ends with the connection."""

    body: tuple[Step, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/event-stream"),)
    framing: Literal["chunked", "close", "length"] = "chunked"
    before: Hold | None = None


@dataclass
class Request:
    """What a client sent: HEAD as it came, to the blank line, and BODY. GONE is set when the client closes."""

    head: bytes
    body: bytes
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def target(self) -> str:
        return self.head.split(b" ", 2)[1].decode()

    def header(self, name: str) -> str | None:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        pairs = (line.split(":", 1) for line in lines if ":" in line)
        return next((value.strip() for key, value in pairs if key.lower() == name.lower()), None)


class Replay:
    """Answers each request with the next response it was given, and the last one again when there is no other."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.origin = ""
        self._played: list[Played] = [Played(status=404)]
        self._serving: set[asyncio.Task[None]] = set()

    def play(self, *responses: Played) -> None:
        self._played = list(responses)
        self.requests.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request: the client asks for no second."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                request = await self._read(reader)
                watch = asyncio.create_task(_watch(reader, request))
                try:
                    await self._answer(writer)
                finally:
                    watch.cancel()
        finally:
            self._serving.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def stop(self) -> None:
        """Break off whatever is still being answered."""
        serving = list(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _read(self, reader: asyncio.StreamReader) -> Request:
        head = await reader.readuntil(b"\r\n\r\n")
        request = Request(head=head, body=b"")
        length = request.header("content-length")
        request.body = await reader.readexactly(int(length)) if length else b""
        self.requests.append(request)
        return request

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        played = self._played.pop(0) if len(self._played) > 1 else self._played[0]
        if played.before is not None:
            await played.before.event.wait()
        writer.write(_head(played))
        await writer.drain()
        for step in played.body:
            if not await _take(step, played, writer):
                return
        if played.framing == "chunked":
            writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _take(step: Step, played: Played, writer: asyncio.StreamWriter) -> bool:
    """Whether the response goes on after STEP."""
    match step:
        case Hold(event=event):
            await event.wait()
        case "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
            writer.transport.abort()
            return False
        case "eof":
            return False
        case bytes():
            writer.write(b"%x\r\n%s\r\n" % (len(step), step) if played.framing == "chunked" else step)
            await writer.drain()
    return True


async def _watch(reader: asyncio.StreamReader, request: Request) -> None:
    with suppress(ConnectionError):
        await reader.read(1)
    request.gone.set()


def _head(played: Played) -> bytes:
    headers = [*played.headers]
    if played.framing == "chunked":
        headers.append(("Transfer-Encoding", "chunked"))
    elif played.framing == "length":
        headers.append(("Content-Length", str(sum(len(step) for step in played.body if isinstance(step, bytes)))))
    lines = "".join(f"{key}: {value}\r\n" for key, value in headers)
    return f"HTTP/1.1 {played.status} X\r\n{lines}\r\n".encode()


@asynccontextmanager
async def replaying() -> AsyncIterator[Replay]:
    """A server on a free port of this machine; `origin` is its address."""
    replay = Replay()
    server = await asyncio.start_server(replay.serve, "127.0.0.1", 0, limit=1 << 20)
    replay.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield replay
    finally:
        server.close()
        await replay.stop()


def stream(*frames: bytes | str, newline: str = "\n") -> bytes:
    """FRAMES of JSON text as server-sent events; bytes stand as they are."""
    end = newline * 2
    return b"".join(frame if isinstance(frame, bytes) else f"data: {frame}{end}".encode() for frame in frames)


def pieces(body: bytes, cuts: Iterable[int]) -> tuple[bytes, ...]:
    """BODY cut at the positions CUTS, without empty pieces."""
    at = sorted({0, len(body), *(cut for cut in cuts if 0 < cut < len(body))})
    return tuple(body[one:two] for one, two in pairwise(at))
