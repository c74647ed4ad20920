"""What all stream decoders share: a frame of JSON out of each event, read fast where it is right, else leniently."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from forkwood.domain import limits
from forkwood.domain.message import PartialReason, family_of
from forkwood.domain.model import Delta, Dialect, Reply
from forkwood.domain.text import is_deeper
from forkwood.models.failures import Peer, parsed
from forkwood.models.reply import Assembly
from forkwood.models.sse import SseEvent, SseReader

T = TypeVar("T")
_CLOSING = frozenset({b"[DONE]", b'"[DONE]"'})
_BARE_BYTES_MAX = 32


class Framing(Protocol):
    """Finds the frames in the bytes of one stream, in whatever pieces they come."""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The frames that CHUNK completes. Raises LimitExceeded for one that outgrows its bound."""
        ...

    def finish(self) -> SseEvent | None:
        """What stands unfinished at the end of the stream, as the frame it may prove to be."""
        ...


class FrameReader(Generic[T]):
    """Reads frames of one shape."""

    def __init__(self, shape: type[T]) -> None:
        self._shape = shape
        self._decoder = msgspec.json.Decoder(shape)

    def read(self, frame: bytes) -> T | None:
        """FRAME as its shape, or None. Bytes that are no UTF-8 become U+FFFD; lone surrogates are let through."""
        try:
            return self._decoder.decode(frame)
        except (msgspec.DecodeError, RecursionError):
            return self._lenient(frame)

    def _lenient(self, frame: bytes) -> T | None:
        try:
            return msgspec.convert(json.loads(frame.decode("utf-8", "replace"), strict=False), self._shape)
        except (ValueError, RecursionError):
            return None


def _is_too_deep(frame: bytes) -> bool:
    most = limits.frame_depth_max
    return frame.count(b"[") + frame.count(b"{") > most and is_deeper(frame.decode("latin-1"), most)


def _listed_error(frame: bytes) -> Any:
    """The error in a FRAME that is a list, as some servers wrap what they report."""
    value = parsed(frame)
    errors = [one.get("error") for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return next(filter(None, errors), None)


def flat_error(words: Any, code: Any) -> Any:
    """What a frame reports that is itself the error, as some servers send it once a stream has begun."""
    words = words if isinstance(words, str | dict) else str(words or "no words given")
    return {"message": words, "code": code} if code and isinstance(words, str) else words


class Decoder(ABC, Generic[T]):
    """Reads the events of one stream. No IO, no clock: the same events give the same deltas and the same Reply."""

    dialect: Dialect
    framing: type[Framing] = SseReader
    frames: FrameReader[T]

    def __init__(self, *, model: str, peer: Peer) -> None:
        self.said = Assembly(peer=peer, dialect=self.dialect, family=family_of(model))

    def feed(self, event: SseEvent) -> list[Delta]:
        """What EVENT adds to the reply. Raises LimitExceeded where the reply outgrows its bounds."""
        bare = event.data.strip() if len(event.data) <= _BARE_BYTES_MAX else b""
        if bare in _CLOSING:
            self.said.closed = True
        if bare in _CLOSING or bare == b"null":
            return []
        if _is_too_deep(event.data):
            self.said.unreadable(event.data)
            return self.said.take()
        frame = self.frames.read(event.data)
        if frame is not None:
            self._take(frame, event.event)
        elif event.event == "error":
            self.said.fail(event.data.decode("utf-8", "replace"))
        elif error := _listed_error(event.data):
            self.said.fail({"error": error})
        else:
            self.said.unreadable(event.data)
        return self.said.take()

    def rest(self) -> list[Delta]:
        """What was held back until the stream ended."""
        self.said.flush()
        return self.said.take()

    def finish(self, cut: PartialReason = "cut", error: str | None = None) -> Reply:
        """The reply. CUT and ERROR say why the stream ended, which counts only where the reply had not ended."""
        return self.said.finish(cut, error)

    @abstractmethod
    def _take(self, frame: T, event: str) -> None:
        """Say what FRAME says. EVENT is the name the stream gave it, often empty."""
