"""The mask before one model: what comes from it in words reaches events, drafts and nodes without any secret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from forkwood.domain.masking import MASK, SECRET_CHARACTERS_MIN, echoable, masked_text, masked_value, settled
from forkwood.domain.message import Attachment, Part, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.model import Delta, Reply


class Mask:
    """SECRETS gives the values to keep out, those that hold when a reply begins (`begin`)."""

    def __init__(self, secrets: Callable[[], Sequence[str]]) -> None:
        self._give = secrets
        self._secrets: tuple[str, ...] = ()
        self._held: dict[int, Delta] = {}
        self._newest = -1

    def begin(self) -> None:
        """A reply is about to come in."""
        self._secrets = echoable(self._give())
        self._held, self._newest = {}, -1

    def heard(self, delta: Delta) -> Sequence[Delta]:
        """What can be told now that DELTA has come: an end that may still become a secret is held back."""
        if not self._secrets:
            return (delta,)
        ready = self.rest() if delta.index > self._newest else []
        self._newest = max(self._newest, delta.index)
        before = self._held.pop(delta.index, None)
        text, held = settled(delta.text if before is None else before.text + delta.text, self._secrets)
        if held:
            self._held[delta.index] = replace(delta, text=held)
        if text:
            ready.append(replace(delta, text=text))
        return ready

    def rest(self) -> list[Delta]:
        """What was held back: nothing follows that would make a secret of it. The better part of one is one."""
        held = [self._held[index] for index in sorted(self._held)]
        self._held = {}
        return [replace(one, text=MASK) if len(one.text) >= SECRET_CHARACTERS_MIN else one for one in held]

    def reply(self, reply: Reply) -> Reply:
        """REPLY without secrets."""
        if not self._secrets:
            return reply
        return replace(
            reply,
            parts=tuple(self._part(part) for part in reply.parts),
            finish=masked_value(reply.finish, self._secrets),
            error=masked_value(reply.error, self._secrets),
            notices=masked_value(reply.notices, self._secrets),
        )

    def parts(self, parts: tuple[Text | Attachment, ...]) -> tuple[Text | Attachment, ...]:
        """What a tool gave, without secrets in its words."""
        secrets = echoable(self._give())
        return tuple(
            replace(part, text=masked_text(part.text, secrets)) if isinstance(part, Text) else part for part in parts
        )

    def facts(self, error: dict[str, Any]) -> dict[str, Any]:
        """An error as it is kept, without secrets."""
        masked: dict[str, Any] = masked_value(error, echoable(self._give()))
        return masked

    def _part(self, part: Part) -> Part:
        secrets = self._secrets
        match part:
            case Text():
                return replace(part, text=masked_text(part.text, secrets))
            case Thinking():
                signed = None if part.replay is None else part.replay.value
                altered = masked_value(signed, secrets) != signed  # a signature does not hold for other words
                return replace(part, text=masked_text(part.text, secrets), replay=None if altered else part.replay)
            case ToolCall():
                return replace(
                    part,
                    call=masked_text(part.call, secrets),
                    name=masked_text(part.name, secrets),
                    arguments=masked_value(part.arguments, secrets),
                )
            case ToolResult() | Attachment():
                return part
