"""A program that appends messages to a store and says each one that was committed: for tests that kill it."""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path

from forkwood.domain.errors import StoreUnusable
from forkwood.domain.ids import make_id
from forkwood.domain.message import Origin, Text
from forkwood.domain.tree import Spot
from forkwood.store import append, conversations
from forkwood.store.opening import open_store

NOW = 1_770_000_000_000


def write(home: str, name: str, commits: int, file_bytes_max: int = 0) -> None:
    """Append COMMITS messages `NAME N` to conversation 1, one transaction each; print N after its commit."""
    if file_bytes_max:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes_max, file_bytes_max))
    store = open_store(Path(home), now_ms=NOW)
    for number in range(commits):
        with store.write() as tx:
            node = append.add_message(
                tx,
                id=make_id(NOW, f"{number:09}{name}".encode()),
                conversation=1,
                at=conversations.head(tx, 1),
                role="user",
                parts=(Text(text=f"{name} {number} " + "and more words " * 40),),
                origin=Origin(by="user", via="cli"),
                now_ms=NOW,
            )
            conversations.move_head(tx, 1, Spot(node), NOW)
        print(number, flush=True)  # noqa: T201 - what it says is what the test believes
    store.close()


if __name__ == "__main__":
    try:
        write(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    except StoreUnusable as error:
        sys.exit(f"{error.facts.get('reason')}: {error.message}")
