"""Decoders whose models write thinking between tags: told apart by the quirk, held back no longer than needed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forkwood.domain.message import Part, Text, Thinking
from forkwood.models.quirks import Quirks
from forkwood.models.sse import SseEvent
from tests.models.recorded import chunk, decoder

FRAMES: dict[str, Any] = {
    "chat": lambda words: chunk(content=words),
    "ollama": lambda words: {"message": {"content": words}},
}


def spoken(dialect: str, think_tags: Any, *words: str) -> tuple[Part, ...]:
    reading = decoder(dialect, quirks=Quirks(think_tags=think_tags))
    said = []
    for word in words:
        said += reading.feed(SseEvent(data=json.dumps(FRAMES[dialect](word)).encode()))
    said += reading.rest()
    parts = reading.finish().parts
    told = "".join(delta.text for delta in said)
    assert told == "".join(part.text for part in parts if isinstance(part, Text | Thinking))
    return parts


@pytest.mark.parametrize("dialect", FRAMES)
@pytest.mark.parametrize(
    ("think_tags", "words", "parts"),
    [
        ("leading", ("<th", "ink>a</think>", "b"), (Thinking(text="a"), Text(text="b"))),
        ("leading", ("a<think>", "b"), (Text(text="a<think>b"),)),
        ("leading", ("<thi",), (Text(text="<thi"),)),
        ("opened", ("a</th", "ink>b"), (Thinking(text="a"), Text(text="b"))),
        ("opened", ("a</th",), (Thinking(text="a</th"),)),
        ("none", ("<think>a</think>",), (Text(text="<think>a</think>"),)),
    ],
)
def test_tags_are_as_the_quirk_says_in_any_cut(
    dialect: str, think_tags: str, words: tuple[str, ...], parts: tuple[Part, ...]
) -> None:
    assert spoken(dialect, think_tags, *words) == parts
