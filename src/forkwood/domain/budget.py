"""What a prompt may take, and what it takes: tokens, estimated from its bytes and corrected by what was counted before.

No tokenizer is asked: every model has its own, and a server's count of an earlier prompt says more than any of them.
"""

from __future__ import annotations

from math import ceil
from typing import assert_never

import msgspec
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.manifest import Manifest
from forkwood.domain.message import Attachment, Part, Text, Thinking, ToolCall, ToolResult
from forkwood.domain.prompt import Prompt

ASCII_BYTES_PER_TOKEN = 4
"""Prose has four and a bit, code three and a half."""
OTHER_BYTES_PER_TOKEN = 3
"""Letters of other scripts take two or three bytes each, and words of them more tokens."""
TOKENS_PER_MESSAGE = 4
"""What stands around a message: its role, where it begins and ends."""
TOKENS_PER_PICTURE = 1_000
"""Providers count from 85 to 1,600, by size and by rules of their own."""


class Budget(Struct, frozen=True, kw_only=True):
    """The tokens that a prompt may take: those of the model's CONTEXT without the room that its reply needs."""

    context: int
    tokens: int


class Counted(Struct, frozen=True, kw_only=True):
    """An earlier prompt: the tokens it was ESTIMATED at, and those that the provider reported."""

    estimated: int
    reported: int


def budget_of(manifest: Manifest) -> Budget | None:
    """The budget of prompts under MANIFEST; None where nobody knows the context. What a person set counts first.

    The reply's room is the limit that was set for it, else a quarter of the context, `limits.output_tokens_default` at
    most; however large that limit, a quarter of the context stays for the prompt.
    """
    context = manifest.parameters.context or manifest.traits.context
    if not context:
        return None
    room = manifest.parameters.max_output or min(limits.output_tokens_default, context // 4)
    return Budget(context=context, tokens=max(context - room, context // 4))


def estimate(prompt: Prompt) -> int:
    """The tokens that PROMPT takes, before any correction."""
    around = TOKENS_PER_MESSAGE * (len(prompt.messages) + 1)
    said = sum(_of_part(part) for message in prompt.messages for part in message.parts)
    tools = sum(_of_json(tool) for tool in prompt.tools)
    return ceil(around + tokens_of(prompt.system or "") + said + tools)


def tokens_of(text: str) -> float:
    """The tokens of a text by itself, before any correction."""
    if text.isascii():
        return len(text) / ASCII_BYTES_PER_TOKEN
    plain = len(text.encode("ascii", "ignore"))
    return plain / ASCII_BYTES_PER_TOKEN + (len(text.encode()) - plain) / OTHER_BYTES_PER_TOKEN


def correction(counted: Counted | None) -> float:
    """What estimates are multiplied by, after the newest report of the same model; 1 where there is none that tells.

    A short prompt tells little, for a part of every count is the same whatever is said. Neither does a count that is
    far off: so few tokens are those of a prompt that the server cut, and text that takes so many is rare.
    """
    if counted is None or counted.estimated < limits.counted_tokens_min or counted.reported <= 0:
        return 1.0
    least = ASCII_BYTES_PER_TOKEN / limits.prompt_bytes_per_token_max
    return min(limits.estimate_ratio_max, max(least, counted.reported / counted.estimated))


def _of_part(part: Part) -> float:
    match part:
        case Text(text=text) | Thinking(text=text):
            return tokens_of(text)
        case ToolCall(name=name, arguments=arguments):
            return tokens_of(name) + _of_json(arguments)
        case ToolResult(parts=parts):
            return TOKENS_PER_MESSAGE + sum(_of_part(inner) for inner in parts)
        case Attachment():
            return TOKENS_PER_PICTURE
        case _:
            assert_never(part)


def _of_json(value: object) -> float:
    return tokens_of(msgspec.json.encode(value).decode())
