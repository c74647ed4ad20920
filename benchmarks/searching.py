"""Searching: a rare word, a common one, and a term of two Chinese characters, among many messages."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.floors import interleaved
from benchmarks.table import Line, ratio
from benchmarks.world import straight, world
from forkwood.runtime import Runtime

MESSAGES = 100_000
_HAN = "我们讨论数据库设计的一是不了人在有这中大来上国个到说时要就出会可也你对生能而子那得于着下自之年"


def measure(*, quick: bool) -> Iterator[Line]:
    """The three searches through the one door, each to FTS5's bare answer: twenty row numbers of the same index."""
    messages = MESSAGES // 10 if quick else MESSAGES
    draw = random.Random(3)
    tails = {number: _tail(draw, number) for number in range(messages)}
    with world() as (runtime, _):
        straight(runtime, messages, tails=tails)
        for name, words, query in (
            ("a rare word", "needle", '"needle"'),
            ("a common word", "haystack", '"haystack"'),
            ("a term of two characters", "数据", '"数 据"'),
            ("a word with a dash", "hay-needle", '"hay needle"'),
        ):
            ours, floor = _searched(runtime, words, query)
            yield ratio(f"search for {name} in {messages:,}", ours, floor, 3.0)


def _tail(draw: random.Random, number: int) -> str:
    """Half the messages say haystack, a tenth something Chinese, ten in all needle."""
    common = " haystack" if draw.random() < 0.5 else ""
    chinese = " " + "".join(draw.choices(_HAN, k=30)) if draw.random() < 0.1 else ""
    rare = " needle hay-needle" if number % (MESSAGES // 10) == 5_000 else ""
    return common + chinese + rare


def _searched(runtime: Runtime, words: str, query: str) -> tuple[float, float]:
    store = runtime.house.store

    def bare() -> None:
        with store.read() as tx:
            assert tx.rows("SELECT rowid FROM search WHERE search MATCH ? ORDER BY rank LIMIT 20", (query,))

    def ours() -> None:
        assert runtime.search(words).hits

    return interleaved(ours, bare, 50)
