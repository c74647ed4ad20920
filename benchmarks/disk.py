"""The size of a store: what one message of 400 characters comes to, with its event, its indexes and the search."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from benchmarks.floors import TEXT_CHARACTERS, sentences
from benchmarks.table import Line
from benchmarks.world import world

MESSAGES = 10_000


def measure(*, quick: bool) -> Iterator[Line]:
    """Bytes of the file for each byte of text, every message sent through the one door, one by one."""
    messages = MESSAGES // 10 if quick else MESSAGES
    with world() as (runtime, home):
        runtime.new(model="scripted:none.json")
        for text in islice(sentences(5), messages):
            runtime.send(text, run=False)
        assert runtime.house.store.checkpoint()
        size = (home / "forkwood.db").stat().st_size
    against = f"{size / messages:,.0f} bytes a message"
    yield Line(
        name=f"size of {messages:,} messages to their text",
        value=size / messages / TEXT_CHARACTERS,
        most=3.0,
        against=against,
    )
