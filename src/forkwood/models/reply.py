"""Assembles a Reply from what a dialect reads in its stream: parts in order, deltas as they come, how it ended."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from typing import Any, NoReturn

import msgspec

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, ProviderFailed
from forkwood.domain.message import Part, PartialReason, Replay, Text, Thinking, ToolCall
from forkwood.domain.model import Delta, DeltaKind, Dialect, Reply, Usage
from forkwood.domain.text import is_deeper, storable, storable_value
from forkwood.models import failures
from forkwood.models.failures import Peer

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIGH = re.compile("[\ud800-\udbff]\\Z")


class Slot:
    """A part in the making. HELD is an end that may still become something else: half a character.

    PRESUMED is what it says where no piece ever comes.
    """

    __slots__ = ("announced", "call", "held", "index", "kind", "name", "pieces", "presumed", "replay")

    def __init__(self, index: int, kind: DeltaKind) -> None:
        self.index = index
        self.kind: DeltaKind = kind
        self.pieces: list[str] = []
        self.held = self.presumed = ""
        self.call = ""
        self.name = ""
        self.announced = kind != "tool_call"
        self.replay: Any = None


class Assembly:
    """One reply in the making. A dialect says what came and sets how it ended; `finish` gives the Reply.

    The text of a tool call's deltas is its name, a space, and then its arguments as they come.
    """

    def __init__(self, *, peer: Peer, dialect: Dialect, family: str) -> None:
        self.ended = False
        """The dialect's own end was seen: what came is whole, unless `partial` says otherwise."""
        self.closed = False
        """Nothing that matters can follow."""
        self.full = False
        """A bound was reached: what came up to it is kept."""
        self.finish_reason: str | None = None
        self.partial: PartialReason | None = None
        self.error: str | None = None
        self.failure: ProviderFailed | None = None
        self.usage: Usage | None = None
        self.peer = peer
        self._dialect, self._family = dialect, family
        self._slots: list[Slot] = []
        self._deltas: list[Delta] = []
        self._notices: list[str] = []
        self._size = self._calls = self._halves = self._nuls = self._unread = 0

    @property
    def begun(self) -> bool:
        """Whether anything of the reply has come."""
        return bool(self._slots)

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know so far."""
        return tuple(self._notices)

    def open(self, kind: DeltaKind) -> Slot:
        """A new part of KIND after all others. Raises LimitExceeded for more parts or calls than a reply may hold."""
        if self._slots:
            self._flush(self._slots[-1])
        if kind == "tool_call":
            self._calls += 1
            self._check(self._calls, "tool_calls_max", "The calls of one reply")
        self._check(len(self._slots) + 1, "parts_max", "The parts of one reply")
        slot = Slot(len(self._slots), kind)
        self._slots.append(slot)
        return slot

    def current(self, kind: DeltaKind) -> Slot:
        """The last part where it is of KIND, else a new one."""
        last = self._slots[-1] if self._slots else None
        return last if last is not None and last.kind == kind else self.open(kind)

    def add(self, kind: DeltaKind, piece: str) -> None:
        """PIECE at the end of a part of KIND."""
        if piece:
            self.say(self.current(kind), piece)

    def say(self, slot: Slot, piece: str) -> None:
        """PIECE at the end of SLOT. Raises LimitExceeded where the reply outgrows its bound."""
        if slot.held:
            piece, slot.held = slot.held + piece, ""
        if not piece.isascii() and _SURROGATE.search(piece):
            piece, slot.held = self._mended(piece)
        if piece:
            self._emit(slot, piece)

    def fail(self, value: Any) -> None:
        """The provider reports an error, VALUE, in the stream."""
        self.failure = failures.from_frame(self.peer, value)
        self.closed = True

    def notice(self, text: str) -> None:
        """Something a person should know of this reply, told once."""
        if text not in self._notices:
            self._notices.append(text)

    def unreadable(self, data: bytes) -> None:
        """A frame that no rule of the dialect can read."""
        self._unread += 1
        if self._unread == 1:
            self.notice(f"A frame of the stream could not be read: {failures.shown(data, self.peer)}")

    @property
    def unread(self) -> int:
        """How many frames no rule could read."""
        return self._unread

    def take(self) -> list[Delta]:
        """The deltas since the last time."""
        deltas, self._deltas = self._deltas, []
        return deltas

    def flush(self) -> None:
        """Say what was held back: nothing can follow that would make something else of it."""
        for slot in self._slots:
            self._flush(slot)
            if slot.presumed and not slot.pieces:
                self._emit(slot, slot.presumed)

    def finish(self, cut: PartialReason, error: str | None) -> Reply:
        """The reply. CUT and ERROR say why the stream ended, which counts only where the reply had not."""
        self.flush()
        partial, words = self._verdict(cut, error)
        parts = self._parts()
        notices = (*self._notices, *self._marks(), *_silence(parts))
        return Reply(
            parts=parts,
            usage=self.usage,
            finish=None if self.finish_reason is None else failures.clean(self.finish_reason, self.peer),
            partial=partial,
            error=None if words is None else failures.clean(words, self.peer),
            notices=tuple(failures.clean(notice, self.peer) for notice in notices),
        )

    def _verdict(self, cut: PartialReason, error: str | None) -> tuple[PartialReason | None, str | None]:
        if self.failure is not None:
            return ("refused" if self.failure.reason == "refused" else "error"), self.failure.message
        if self.full or not self.ended:
            return cut, error or f"{self.peer.provider} ended the stream before the reply was whole"
        return self.partial, self.error

    def _parts(self) -> tuple[Part, ...]:
        parts: list[Part] = []
        calls: set[str] = set()
        for slot in self._slots:
            text = "".join(slot.pieces)
            match slot.kind:
                case "text":
                    parts.append(Text(text=text))
                case "thinking":
                    parts.append(Thinking(text=text, replay=self._replay(slot.replay)))
                case "tool_call":
                    parts.append(self._call(slot, text, calls))
        return tuple(parts)

    def _call(self, slot: Slot, text: str, calls: set[str]) -> ToolCall:
        number = slot.index + 1
        call = storable(slot.call) or f"call_{number}"
        while call in calls:
            call, number = f"{call}_{number}", number + 1
        calls.add(call)
        if not slot.name:
            self.notice("A tool call came without the name of its tool")
        return ToolCall(call=call, name=self._name(slot), arguments=self._arguments(text))

    def _arguments(self, text: str) -> dict[str, Any] | str:
        """TEXT as the JSON object it spells, else as it came: it is never repaired. One that gives a name twice is
        none, for nobody knows which value is meant."""
        value = object_of(text)
        if value is None or repeats_a_name(text):
            return text
        plain: dict[str, Any] = storable_value(value)
        if plain != value:
            self._halves += 1
        return plain

    def _replay(self, value: Any) -> Replay | None:
        if value is None:
            return None
        text = spelled(value)
        if len(text.encode()) > limits.replay_bytes_max:
            why = f"more than {limits.replay_bytes_max:,} bytes"
        elif object_of(text) != value:
            why = "what cannot be kept as it came"
        else:
            return Replay(dialect=self._dialect, family=self._family, value=value)
        self.notice(f"The thinking is signed with {why}: it will not be sent back")
        return None

    def _marks(self) -> list[str]:
        marks = []
        if self._halves:
            marks.append("Half a character (a lone surrogate) in the reply is spelled out as \\ud…")
        if self._nuls:
            marks.append(f"The reply holds NUL characters: {self._nuls}")
        if self._unread > 1:
            marks.append(f"Frames of the stream that could not be read: {self._unread}")
        return marks

    def _mended(self, piece: str) -> tuple[str, str]:
        """PIECE with halves of characters joined or spelled out, and the half at its end that may find its other."""
        half = _HIGH.search(piece)
        held = half[0] if half else ""
        whole = piece.removesuffix(held).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        plain = storable(whole)
        self._halves += plain != whole
        return plain, held

    def _flush(self, slot: Slot) -> None:
        if slot.held:
            plain = storable(slot.held)
            self._halves += plain != slot.held
            slot.held = ""
            self._emit(slot, plain)
        self._announce(slot)

    def _emit(self, slot: Slot, piece: str) -> None:
        if self.full:
            return
        self._announce(slot)
        size = len(piece) if piece.isascii() else len(piece.encode())
        room = limits.reply_bytes_max - self._size
        self._size += size
        if "\0" in piece:
            self._nuls += piece.count("\0")
        fitting = piece if size <= room else piece.encode()[:room].decode("utf-8", "ignore")
        slot.pieces.append(fitting)
        self._deltas.append(Delta(index=slot.index, kind=slot.kind, text=fitting))
        self._check(self._size, "reply_bytes_max", "The reply, in bytes")

    def _announce(self, slot: Slot) -> None:
        if not slot.announced and slot.name:
            slot.announced = True
            self._deltas.append(Delta(index=slot.index, kind=slot.kind, text=f"{self._name(slot)} "))

    def _name(self, slot: Slot) -> str:
        return storable(slot.name) or "unnamed"

    def _check(self, got: int, limit: str, what: str) -> None:
        bound = getattr(limits, limit)
        if got > bound:
            self.full = True
            raise LimitExceeded(what, limit=limit, bound=bound, got=got)


def spelled(value: Any) -> str:
    """VALUE, which came as JSON where text was due, as that text. What is no number of JSON's is spelled as it is read,
    `NaN`, `Infinity`: that is no object then, and stays text."""
    return json.dumps(storable_value(value), ensure_ascii=False, separators=(",", ":"))


def object_of(text: str) -> dict[str, Any] | None:
    """The one JSON object TEXT spells, or None; None also for one that cannot be kept as it came: deeper than a bound,
    or with a number beyond all that can be counted. Lone surrogates in its strings are let through."""
    if is_deeper(text, limits.value_depth_max):
        return None
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        value = _lenient(text)
    return value if isinstance(value, dict) else None


def repeats_a_name(text: str) -> bool:
    """Whether an object in the JSON TEXT gives a name twice."""
    repeated = False

    def seen(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        found = dict(pairs)
        repeated |= len(found) < len(pairs)
        return found

    with suppress(ValueError):  # a number of too many digits for Python's own reader, which is read elsewhere
        json.loads(text, object_pairs_hook=seen)
    return repeated


def whole(value: Any) -> int:
    """VALUE as a count, also where its digits came as text; 0 for what is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value) if len(value) <= len(str(limits.usage_tokens_max)) else 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= limits.usage_tokens_max else 0


def counted(before: Usage | None, now: Usage) -> Usage:
    """NOW, whose counts are cumulative: what it leaves at zero stands as it was counted BEFORE."""
    if before is None:
        return now
    return Usage(**{field: getattr(now, field) or getattr(before, field) for field in Usage.__struct_fields__})


def _lenient(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=no_number, parse_float=finite) if "\\u" in text else None
    except (ValueError, RecursionError):
        return None


def finite(digits: str) -> float:
    """The number that DIGITS spell. Raises ValueError for one beyond all that can be counted."""
    value = float(digits)
    return value if math.isfinite(value) else no_number(digits)


def no_number(name: str) -> NoReturn:
    """Raise ValueError for NAME, `NaN` or `Infinity`: JSON has no such numbers."""
    raise ValueError(name)


def _silence(parts: tuple[Part, ...]) -> list[str]:
    if any(isinstance(part, ToolCall) or (isinstance(part, Text) and part.text.strip()) for part in parts):
        return []
    if any(isinstance(part, Thinking) and part.text.strip() for part in parts):
        return ["The model thought and gave no answer"]
    return ["The model gave an empty reply"]
