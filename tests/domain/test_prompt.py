"""The prompt as a value: light to make, one canonical spelling."""

from __future__ import annotations

import gc

from forkwood import wire
from forkwood.domain.message import Text
from forkwood.domain.prompt import Prompt, PromptMessage, Said
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


def test_messages_cost_the_collector_nothing() -> None:
    """Ten thousand are made for one long path: they cannot be part of a cycle, so nobody looks."""
    said = Said("1" * 32, "user", (Text(text="Hi"),))
    assert not gc.is_tracked(said) and not gc.is_tracked(PROMPT.messages[0])
