"""The SQLite checkpointer of LangGraph at a depth: append, path, branch. Prints seconds as JSON.

A checkpoint holds the whole list of messages. Usage: with_langgraph.py DEPTH ROUNDS FOLDER
"""

# mypy: ignore-errors
# The program measured is in the benchmarks' own environment, where no type checker looks.

import json
import sys
import time
from pathlib import Path
from statistics import mean
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver

TEXT = "word " * 80


def message(number: int) -> HumanMessage | AIMessage:
    """The message of that number on a path."""
    return (HumanMessage, AIMessage)[number % 2](content=f"{number} {TEXT}")


class Subject:
    """One thread in one store, and what is done to it."""

    def __init__(self, depth: int, saver: SqliteSaver) -> None:
        self.saver = saver
        messages = [message(number) for number in range(depth)]
        start = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
        self.middle = self._put(start, messages[: depth // 2])
        self.head = self._put(self.middle, messages)

    def path(self, _number: int) -> list[Any]:
        """Read the thread."""
        return self._messages(self.head)

    def append(self, number: int) -> None:
        """Add a message at its end."""
        self.head = self._put(self.head, [*self._messages(self.head), message(number)])

    def branch(self, number: int) -> None:
        """Go on from its middle in another way."""
        self._put(self.middle, [*self._messages(self.middle), message(number)])

    def _messages(self, place: dict[str, Any]) -> list[Any]:
        return self.saver.get_tuple(place).checkpoint["channel_values"]["messages"]

    def _put(self, parent: dict[str, Any], messages: list[Any]) -> dict[str, Any]:
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": messages}
        return self.saver.put(parent, checkpoint, {"source": "loop", "step": len(messages), "writes": {}}, {})


def main(depth: int, rounds: int, folder: str) -> None:
    """Do each act in turn, ROUNDS times."""
    with SqliteSaver.from_conn_string(str(Path(folder) / "langgraph.db")) as saver:
        subject = Subject(depth, saver)
        times = {name: [] for name in ("path", "branch", "append")}
        for number in range(depth, depth + rounds):
            for name, seconds in times.items():
                start = time.perf_counter()
                getattr(subject, name)(number)
                seconds.append(time.perf_counter() - start)
        print(
            json.dumps(
                {name: mean(sorted(seconds)[rounds // 4 : rounds - rounds // 4]) for name, seconds in times.items()}
            )
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
