"""One response on its way to being a reply: what each chunk brings, and what it means when no more comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from forkwood.domain import limits
from forkwood.domain.errors import FailureKind, LimitExceeded, ProviderFailed
from forkwood.domain.message import PartialReason
from forkwood.domain.model import Delta, Reply
from forkwood.models import failures
from forkwood.models.failures import Peer
from forkwood.models.frames import Decoder
from forkwood.models.sse import SseEvent

_CUTS: dict[FailureKind, PartialReason] = {"timeout": "stalled", "transport": "cut"}
_UNSAID: dict[PartialReason, FailureKind] = {"refused": "refused", "error": "unavailable"}


class Source(Protocol):
    """Where the bytes come from: `http.Incoming`."""

    status: int
    content_type: str

    async def read(self, within: float | None = None) -> bytes:
        """The next bytes, none at the end. Raises ProviderFailed."""
        ...


class Reading:
    """Reads SOURCE with DECODER. Until the first delta every failure is raised; from then on it ends the reply.

    CLOCK counts seconds: what sends and says nothing for too long has stopped, however alive it seems.
    """

    def __init__(
        self, source: Source, decoder: Decoder[Any], peer: Peer, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._source = source
        self._decoder = decoder
        self._said = decoder.said
        self._peer = peer
        self._events = decoder.framing()
        self._head: bytearray | None = bytearray()
        """What came before the first event: shown where no event ever comes."""
        self._clock = clock
        self._spoke = clock()
        self._begun = self._done = False
        self._cut: PartialReason = "cut"
        self._error: str | None = None

    async def more(self) -> list[Delta] | None:
        """The deltas of the next chunk, None after the last. Raises ProviderFailed where no delta came before."""
        if self._done:
            return None
        deltas: list[Delta] = []
        try:
            await self._hear(deltas)
        except LimitExceeded as over:
            self._overflow(over, deltas)
        if self._done and not self._said.full:
            try:
                deltas += self._decoder.rest()
            except LimitExceeded as over:
                self._overflow(over, deltas)
        self._begun = self._begun or bool(deltas)
        if self._done and not self._begun:
            self._must_have_begun()
        return deltas

    def reply(self) -> Reply:
        """What the model gave back."""
        if not self._said.full:
            try:
                return self._decoder.finish(self._cut, self._error)
            except LimitExceeded as over:
                self._stop("length", over.message)
        return self._said.finish(self._cut, self._error)

    async def _hear(self, deltas: list[Delta]) -> None:
        """Put what the next chunk says at the end of DELTAS. Raises LimitExceeded, and ProviderFailed as `more`."""
        try:
            chunk = await self._source.read(limits.after_end_seconds if self._said.ended else None)
            self._take(chunk, deltas)
            self._must_speak(deltas)
        except ProviderFailed as failed:
            deltas += self._tail()
            self._break_off(failed, begun=self._begun or bool(deltas))

    def _must_speak(self, deltas: list[Delta]) -> None:
        """Raise ProviderFailed("timeout") where bytes came for long enough that said nothing."""
        now = self._clock()
        if deltas:
            self._spoke = now
        elif not self._done and now - self._spoke > limits.unsaid_seconds_max:
            words = f"{self._peer.provider} sent bytes for {limits.unsaid_seconds_max:,.0f} s and said nothing"
            raise failures.failure(self._peer, "timeout", words)

    def _overflow(self, over: LimitExceeded, deltas: list[Delta]) -> None:
        """A bound was reached: what came up to it is kept."""
        deltas += self._said.take()
        self._stop("length", over.message)

    def _take(self, chunk: bytes, deltas: list[Delta]) -> None:
        """Put what CHUNK says at the end of DELTAS; an empty one is the end of the stream."""
        if not chunk:
            self._done = True
            deltas += self._last()
            return
        if self._head is not None and len(self._head) < limits.reply_bytes_max:
            self._head += chunk
        for event in self._events.feed(chunk):
            self._head = None
            deltas += self._decoder.feed(event)
            if self._said.closed:
                self._done = True
                return

    def _last(self) -> list[Delta]:
        """What the end of the stream still says: its tail, or where no event came, the body as the only one."""
        deltas = self._tail()
        body = bytes(self._head or b"")
        return self._decoder.feed(SseEvent(data=body)) if isinstance(failures.parsed(body), dict) else deltas

    def _tail(self) -> list[Delta]:
        """What stands unfinished, where it proves whole."""
        tail = self._events.finish()
        if tail is None or (tail.data != b"[DONE]" and failures.parsed(tail.data) is None):
            return []
        self._head = None
        return self._decoder.feed(tail)

    def _break_off(self, failed: ProviderFailed, *, begun: bool) -> None:
        if self._said.ended:
            self._done = True
        elif begun:
            self._stop(_CUTS.get(failed.reason, "error"), failed.message)
        else:
            raise failed

    def _stop(self, cut: PartialReason, error: str) -> None:
        self._done = True
        self._cut, self._error = cut, error

    def _must_have_begun(self) -> None:
        """Raise unless the dialect's own end was seen: a reply may be empty, but a stream may not."""
        if self._said.failure is not None:
            raise self._said.failure
        partial = self._said.partial
        if not self._said.ended:
            self._nothing_came()
        if partial in _UNSAID and not self._said.begun:
            reason = failures.clean(self._said.finish_reason or "", self._peer)
            words = failures.clean(f"{self._peer.provider} gave no reply: {self._said.error}", self._peer)
            raise failures.failure(self._peer, _UNSAID[partial], words, code=reason)

    def _nothing_came(self) -> NoReturn:
        if self._error is not None:
            raise failures.failure(self._peer, "protocol", self._error)
        if self._head is not None:
            raise failures.unexpected(self._peer, self._source.status, self._source.content_type, bytes(self._head))
        said = "; ".join((f"{self._peer.provider} ended the stream before the reply began", *self._said.notices))
        kind: FailureKind = "protocol" if self._said.unread else "transport"
        raise failures.failure(self._peer, kind, failures.clean(said, self._peer))
