"""What everything is compared with: the clock, taken in turns, and one bare table of the same bytes and durability."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, count
from pathlib import Path
from statistics import mean

import apsw

Act = Callable[[], object]

_LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
TEXT_CHARACTERS = 400


def interleaved(ours: Act, floor: Act, rounds: int) -> tuple[float, float]:
    """The usual seconds of OURS and of FLOOR, taken in turns, so that whatever else the machine does hits both."""
    times = [(timed(ours), timed(floor)) for _ in range(rounds + 1)][1:]
    return usual(one for one, _ in times), usual(other for _, other in times)


def usual(times: Iterable[float]) -> float:
    """The mean of the middle half: a disk commits in steps of milliseconds, between which a median would jump."""
    ordered = sorted(times)
    return mean(ordered[len(ordered) // 4 : len(ordered) - len(ordered) // 4])


def timed(act: Act) -> float:
    """The seconds ACT takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def sentences(seed: int) -> Iterator[str]:
    """Texts of 400 characters, their words as frequent as those of a language (Zipf), the same for the same SEED."""
    draw = random.Random(seed)
    words = ["".join(draw.choices(_LETTERS, k=draw.randint(2, 10))) for _ in range(50_000)]
    weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    while True:
        yield " ".join(draw.choices(words, cum_weights=weights, k=90))[:TEXT_CHARACTERS]


class Bare:
    """A file with one bare table of messages: what a message must at least cost."""

    def __init__(self, file: Path) -> None:
        self.connection = apsw.Connection(str(file))
        self.connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384")
        self.connection.execute(
            "CREATE TABLE message"
            " (seq INTEGER PRIMARY KEY, id BLOB, at INTEGER, role TEXT, parts TEXT, made_ms INTEGER)"
        )
        self._seqs = count(1)
        self.last: int | None = None

    def insert(self, parts: str) -> None:
        """One durable insert below the one before."""
        self.connection.execute("BEGIN IMMEDIATE")
        self._add(parts)
        self.connection.execute("COMMIT")

    def fill(self, texts: list[str]) -> None:
        """Many at once: only to have them."""
        self.connection.execute("BEGIN IMMEDIATE")
        for text in texts:
            self._add(text)
        self.connection.execute("COMMIT")

    def _add(self, parts: str) -> None:
        seq = next(self._seqs)
        row = (seq, os.urandom(16), self.last, "user", parts, time.time_ns() // 1_000_000)
        self.connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?)", row)
        self.last = seq

    def path(self) -> list[tuple[object, ...]]:
        """The bare recursive query: every row from the last message to the first."""
        return self.connection.execute(
            "WITH RECURSIVE up (seq) AS (VALUES (?) UNION ALL SELECT m.at FROM up JOIN message m ON m.seq = up.seq"
            " WHERE m.at IS NOT NULL) SELECT m.seq, m.id, m.role, m.parts FROM up JOIN message m ON m.seq = up.seq",
            (self.last,),
        ).fetchall()
