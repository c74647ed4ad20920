"""The prompt as a value: light to make, one canonical spelling."""

from __future__ import annotations

import gc

import pytest
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.message import Text
from forkwood.domain.prompt import Prompt, PromptMessage, Said, looks_cut, words_bytes
from forkwood.domain.settings import Parameters

PROMPT = Prompt(
    form=1,
    model="m",
    system=None,
    messages=(PromptMessage("user", (Text(text="Hi"),), ("1" * 32,)),),
    tools=(),
    parameters=Parameters(),
)


def test_the_canonical_spelling_is_fixed() -> None:
    assert wire.canonical(PROMPT).decode() == (
        '{"form":1,"messages":[{"nodes":["11111111111111111111111111111111"],"parts":[{"kind":"text","text":"Hi"}],'
        '"role":"user"}],"model":"m","parameters":{},"system":null,"tools":[]}'
    )
    assert wire.decode(wire.canonical(PROMPT), Prompt) == PROMPT


def test_the_words_of_a_prompt_are_counted_in_bytes() -> None:
    assert words_bytes(PROMPT) == 2
    assert words_bytes(replace(PROMPT, system="é", messages=PROMPT.messages * 2)) == 6


@pytest.mark.parametrize(
    ("sent", "counted", "cut"),
    [
        (limits.prompt_cut_bytes_min, limits.prompt_cut_bytes_min // limits.prompt_bytes_per_token_max, False),
        (limits.prompt_cut_bytes_min, limits.prompt_cut_bytes_min // limits.prompt_bytes_per_token_max - 1, True),
        (limits.prompt_cut_bytes_min - 1, 1, False),
        (1_000_000, 0, False),
    ],
)
def test_far_fewer_tokens_than_were_sent_look_like_a_cut(sent: int, counted: int, cut: bool) -> None:
    assert looks_cut(sent, counted) is cut


def test_messages_cost_the_collector_nothing() -> None:
    """Ten thousand are made for one long path: they cannot be part of a cycle, so nobody looks."""
    said = Said("1" * 32, "user", (Text(text="Hi"),))
    assert not gc.is_tracked(said) and not gc.is_tracked(PROMPT.messages[0])
