"""The store of `llm` at a depth: append, path, branch, keep (what followed is written anew). Prints seconds as JSON.

Usage: with_llm.py DEPTH ROUNDS FOLDER
"""

# mypy: ignore-errors
# The program measured is in the benchmarks' own environment, where no type checker looks.

import json
import sys
import time
from pathlib import Path
from statistics import mean

import sqlite_utils
from llm.logs import LogStore
from llm.parts import Message, TextPart

TEXT = "word " * 80


def message(number: int, text: str = TEXT) -> Message:
    """The message of that number on a path."""
    return Message(role=("user", "assistant")[number % 2], parts=[TextPart(text=f"{number} {text}")])


class Subject:
    """One thread in one store, and what is done to it."""

    def __init__(self, depth: int, file: Path) -> None:
        self.database = sqlite_utils.Database(file)
        self.database.enable_wal()
        self.store = LogStore(self.database)
        self.messages = [message(number) for number in range(depth)]
        self.thread = self.store.create_thread()
        with self.database.atomic():
            self.store.append(self.thread, self.messages)
        self.middle = self.store.ensure_chain(self.messages[: depth // 2])

    def path(self, _number: int) -> None:
        """Read the thread."""
        self.store.thread_messages(self.thread)

    def append(self, number: int) -> None:
        """Add a message at its end."""
        self.store.append(self.thread, [message(number)])

    def branch(self, number: int) -> None:
        """Begin another thread in its middle."""
        with self.database.atomic():
            self.store.append(self.store.fork(self.middle), [message(number)])

    def keep(self, number: int) -> None:
        """Edit the message in its middle and have what followed behind the new version: it must be written anew."""
        chain = [message(number, "edited"), *self.messages[len(self.messages) // 2 + 1 :]]
        with self.database.atomic():
            self.store.create_thread(tip=self.store.ensure_chain(chain, parent=self.middle))


def main(depth: int, rounds: int, folder: str) -> None:
    """Do each act in turn, ROUNDS times."""
    subject = Subject(depth, Path(folder) / "llm.db")
    times = {name: [] for name in ("path", "branch", "keep", "append")}
    for number in range(depth, depth + rounds):
        for name, seconds in times.items():
            start = time.perf_counter()
            getattr(subject, name)(number)
            seconds.append(time.perf_counter() - start)
    print(
        json.dumps({name: mean(sorted(seconds)[rounds // 4 : rounds - rounds // 4]) for name, seconds in times.items()})
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
