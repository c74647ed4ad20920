"""Server-sent events out of bytes, by the standard: any chunking, CR, LF and CRLF, a byte order mark, comments."""

from __future__ import annotations

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded

BOM = b"\xef\xbb\xbf"


class SseEvent(Struct, frozen=True, kw_only=True):
    """One event that carried data: its name (empty where no line named it) and its data lines joined by LF."""

    event: str = ""
    data: bytes


class SseReader:
    """Takes the bytes of one stream in any pieces and gives its events as soon as they are whole."""

    __slots__ = ("_after_cr", "_data", "_event", "_head", "_rest", "_size")

    def __init__(self) -> None:
        self._head: bytes | None = b""
        self._after_cr = False
        self._rest = bytearray()
        self._event = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that CHUNK completes. Raises LimitExceeded for a line or an event that outgrows its bound."""
        if self._head is not None:
            chunk = self._without_bom(self._head + chunk)
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_lf(chunk)
        ended = chunk.rfind(b"\n")
        if ended < 0:
            self._rest += chunk
            self._check(len(self._rest))
            return []
        self._rest += chunk[:ended]
        lines = bytes(self._rest).split(b"\n")
        self._rest = bytearray(chunk[ended + 1 :])
        return [event for line in lines if (event := self._take(line)) is not None]

    def finish(self) -> SseEvent | None:
        """What stands unfinished at the end of the stream, as the event it would have become; None for nothing.

        The standard throws it away. A frame that proves whole by itself (its JSON is) need not be lost with it.
        """
        line, self._rest = bytes(self._rest), bytearray()
        whole = self._take(line) if line else None
        return whole or self._take(b"")

    def _without_bom(self, start: bytes) -> bytes:
        """START without a byte order mark; nothing while it could still become one."""
        if len(start) < len(BOM) and BOM.startswith(start):
            self._head = start
            return b""
        self._head = None
        return start.removeprefix(BOM)

    def _with_lf(self, chunk: bytes) -> bytes:
        """CHUNK with every line ending as LF; a CR at its end counts at once, and its LF in the next chunk no more."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" not in chunk:
            return chunk
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _take(self, line: bytes) -> SseEvent | None:
        if line.startswith(b"data:"):
            self._add(line[6:] if line[5:6] == b" " else line[5:])
        elif not line:
            return self._dispatch()
        elif line.startswith(b"event:"):
            self._event = line[6:].removeprefix(b" ").decode("utf-8", "replace")
        elif line == b"data":
            self._add(b"")
        elif line == b"event":
            self._event = ""
        return None

    def _add(self, value: bytes) -> None:
        self._size += len(value) + 1
        self._check(self._size)
        self._data.append(value)

    def _dispatch(self) -> SseEvent | None:
        event, data = self._event, self._data
        self._event, self._data, self._size = "", [], 0
        joined = data[0] if len(data) == 1 else b"\n".join(data)
        return SseEvent(event=event, data=joined) if joined else None

    @staticmethod
    def _check(size: int) -> None:
        if size > limits.sse_line_bytes_max:
            raise LimitExceeded(
                "One event of the model's stream, in bytes",
                limit="sse_line_bytes_max",
                bound=limits.sse_line_bytes_max,
                got=size,
            )
