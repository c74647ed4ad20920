"""JSON values out of bytes, one on each line: any chunking, LF, CR and CRLF, blank lines, a byte order mark."""

from __future__ import annotations

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded
from forkwood.models.sse import BOM, SseEvent


class NdjsonReader:
    """Takes the bytes of one stream in any pieces and gives each line, as an event without a name, once it is whole.

    The stream begins with the first line that is an object from end to end. What stands before it is no stream but a
    page, or a report spread over lines, which is shown whole where nothing else comes.
    """

    __slots__ = ("_begun", "_rest")

    def __init__(self) -> None:
        self._begun = False
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The lines that CHUNK completes. Raises LimitExceeded for a line that outgrows its bound."""
        ended = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        if ended < 0:
            self._rest += chunk
            _check(len(self._rest))
            return []
        self._rest += chunk[:ended]
        lines = bytes(self._rest).splitlines()
        self._rest = bytearray(chunk[ended + 1 :])
        _check(max(map(len, (*lines, self._rest))))
        return [event for line in lines if (event := self._take(line)) is not None]

    def finish(self) -> SseEvent | None:
        """The line that stands without its end when the stream is over, or None."""
        line, self._rest = bytes(self._rest), bytearray()
        return self._take(line)

    def _take(self, line: bytes) -> SseEvent | None:
        line = line.strip()
        if not self._begun:
            line = line.removeprefix(BOM)
            self._begun = line.startswith(b"{") and line.endswith(b"}")
        return SseEvent(data=line) if line and self._begun else None


def _check(size: int) -> None:
    if size > limits.ndjson_line_bytes_max:
        raise LimitExceeded(
            "One line of the model's stream, in bytes",
            limit="ndjson_line_bytes_max",
            bound=limits.ndjson_line_bytes_max,
            got=size,
        )
