"""The mask before one model: what comes from it in words reaches events, drafts and nodes without any secret."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from forkwood.domain.forms import Forms, betrays, forms_of, looked, recent, spans
from forkwood.domain.masking import echoable, masked_pieces, masked_value, shares, with_words, words_of
from forkwood.domain.message import Attachment, Part, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.model import Delta, Reply
from forkwood.domain.readings import Span

Change: TypeAlias = Callable[[str, str], str]
"""Gives what is to stand in place of a text, from the lane it is in and the text."""


class Mask:
    """SECRETS gives the values to keep out, those that hold when a reply begins (`begin`)."""

    def __init__(self, secrets: Callable[[], Sequence[str]]) -> None:
        self._give = secrets
        self._secrets: tuple[str, ...] = ()
        self._lanes: list[_Lanes] = []
        self._index = -1

    def begin(self) -> None:
        """A reply is about to come in."""
        self._secrets = echoable(self._give())
        self._lanes, self._index = [], -1

    def heard(self, delta: Delta) -> Sequence[Delta]:
        """What can be told now that DELTA has come: an end that may still become a secret is held back."""
        if not self._secrets:
            return (delta,)
        if delta.index != self._index:
            self._widen(delta.index)
        ready = self._lanes[0].hear(delta)
        for lanes in self._lanes[1:]:
            ready = [told for one in ready for told in lanes.hear(one)]
        return ready

    def rest(self) -> list[Delta]:
        """What was held back: nothing follows that would make a secret of it. The better part of one is one."""
        ready: list[Delta] = []
        for lanes in self._lanes:
            ready = [told for one in ready for told in lanes.hear(one)] + lanes.rest()
        return ready

    def reply(self, reply: Reply) -> Reply:
        """REPLY without secrets, also those whose pieces stand in several of its parts."""
        if not self._secrets:
            return reply
        lanes: list[str] = []
        texts: list[str] = []

        def collected(lane: str, text: str) -> str:
            lanes.append(lane)
            texts.append(text)
            return text

        _over(reply, collected)
        masked = self._masked(lanes, texts)
        if masked != texts:
            left = iter(masked)
            reply = _over(reply, lambda _lane, _text: next(left))
        return replace(reply, parts=tuple(self._signed(part) for part in reply.parts))

    def parts(self, parts: tuple[Text | Attachment, ...]) -> tuple[Text | Attachment, ...]:
        """What a tool gave, without secrets in its words."""
        texts = [part.text if isinstance(part, Text) else "" for part in parts]
        masked = masked_pieces(texts, echoable(self._give()))
        return tuple(
            replace(part, text=text) if isinstance(part, Text) else part
            for part, text in zip(parts, masked, strict=True)
        )

    def facts(self, error: dict[str, Any]) -> dict[str, Any]:
        """An error as it is kept, without secrets."""
        masked: dict[str, Any] = masked_value(error, echoable(self._give()))
        return masked

    def _widen(self, index: int) -> None:
        """A part begins, or goes on among others. While there is one part, whatever it is read along with is itself."""
        if not self._lanes:
            forms = forms_of(self._secrets)
            self._lanes = [_Lanes(forms, lambda delta: delta.index)]
        elif len(self._lanes) == 1:
            forms = forms_of(self._secrets)
            self._lanes += [_Lanes(forms, lambda delta: delta.kind), _Lanes(forms, lambda _delta: None)]
        self._index = index

    def _masked(self, lanes: list[str], texts: list[str]) -> list[str]:
        """TEXTS without secrets: in the order of the reply, then those of each lane by themselves."""
        texts = masked_pieces(texts, self._secrets)
        kinds = set(lanes)
        for kind in kinds if len(kinds) > 1 else ():
            places = [n for n, lane in enumerate(lanes) if lane == kind]
            masked = masked_pieces([texts[n] for n in places], self._secrets)
            for n, text in zip(places, masked, strict=True):
                texts[n] = text
        return texts

    def _signed(self, part: Part) -> Part:
        """PART, masked already: a signature that holds a secret, in whatever pieces, does not go with it."""
        if not isinstance(part, Thinking) or part.replay is None:
            return part
        words = words_of(part.replay.value)
        return part if masked_pieces(words, self._secrets) == words else replace(part, replay=None)


class _Lanes:
    """Reads deltas that belong together as one text, lane by lane. LANE_OF tells which lane a delta is in."""

    def __init__(self, forms: Forms, lane_of: Callable[[Delta], Hashable]) -> None:
        self._forms = forms
        self._lane_of = lane_of
        self._lanes: dict[Hashable, _Lane] = {}
        self._lane: Hashable = None

    def hear(self, delta: Delta) -> list[Delta]:
        """What can be told of it and of what was held back: of another lane too, before its turn is over."""
        key = self._lane_of(delta)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane(self._forms)
        ready = []
        if key != self._lane and (before := self._lanes.get(self._lane)) is not None:
            ready = before.interrupted()
        self._lane = key
        return [*ready, *lane.hear(delta)] if ready else lane.hear(delta)

    def rest(self) -> list[Delta]:
        """What is held back in all lanes."""
        return [one for lane in self._lanes.values() for one in lane.rest()]


class _Lane:
    """One text as it comes. Its end that may become a secret is kept: `_told` characters of that were told already.

    While nothing is held back, what was told last is kept as text (`_recent`).
    """

    __slots__ = ("_forms", "_pieces", "_recent", "_told")

    def __init__(self, forms: Forms) -> None:
        self._forms = forms
        self._pieces: list[Delta] = []
        self._told = 0
        self._recent = ""

    def hear(self, delta: Delta) -> list[Delta]:
        text = (self._text() if self._pieces else self._recent) + delta.text
        sure, hold = looked(text, self._forms)
        if hold == len(text) and not sure and not self._pieces:
            self._recent = recent(text)
            return [delta]
        if not self._pieces:
            self._pieces, self._told = [replace(delta, text=self._recent)], len(self._recent)
        pieces = [*self._pieces, delta]
        shown = shares([piece.text for piece in pieces], sure, told=self._told, until=hold)
        self._keep(pieces, hold, recent(text[sure[-1][1] if sure else 0 : hold]))
        return _with(pieces, shown)

    def interrupted(self) -> list[Delta]:
        """Another lane speaks: what is held is told as at the end, and remembered: this one may go on."""
        text = self._text()
        shown = shares([piece.text for piece in self._pieces], self._ended(text), told=self._told)
        self._told = len(text)
        return _with(self._pieces, shown)

    def rest(self) -> list[Delta]:
        """Nothing follows: what is held is told. Half of a secret, and more, is masked as a whole one."""
        ready = self.interrupted()
        self._pieces, self._told, self._recent = [], 0, ""
        return ready

    def _ended(self, text: str) -> list[Span]:
        masked = spans(text, self._forms)
        end = masked[-1][1] if masked else 0
        return [*masked, (end, len(text))] if betrays(text[end:], self._forms) else masked

    def _text(self) -> str:
        return "".join([piece.text for piece in self._pieces])

    def _keep(self, pieces: list[Delta], hold: int, told: str) -> None:
        """PIECES from HOLD on, and what was TOLD right before."""
        first = hold - len(told)
        kept = []
        start = 0
        for piece in pieces:
            end = start + len(piece.text)
            if end > first:
                kept.append(piece if start >= first else replace(piece, text=piece.text[first - start :]))
            start = end
        self._told = max(self._told, hold) - first
        self._pieces, self._recent = (kept, "") if hold < start else ([], told)


def _with(pieces: Sequence[Delta], shown: Sequence[str]) -> list[Delta]:
    return [replace(piece, text=text) for piece, text in zip(pieces, shown, strict=True) if text]


def _over(reply: Reply, change: Change) -> Reply:
    """REPLY with each of its words as CHANGE gives it, in their order."""
    return replace(
        reply,
        parts=tuple(_over_part(part, change) for part in reply.parts),
        finish=None if reply.finish is None else change("end", reply.finish),
        error=None if reply.error is None else change("end", reply.error),
        notices=tuple(change("end", notice) for notice in reply.notices),
    )


def _over_part(part: Part, change: Change) -> Part:
    match part:
        case Text():
            return replace(part, text=change("text", part.text))
        case Thinking():
            text = change("thinking", part.text)
            # a signature does not hold for other words
            return replace(part, text=text, replay=part.replay if text == part.text else None)
        case ToolCall():
            return replace(
                part,
                call=change("call", part.call),
                name=change("call", part.name),
                arguments=with_words(part.arguments, lambda text: change("call", text)),
            )
        case ToolResult() | Attachment():
            return part
