"""What there is, counted."""

from __future__ import annotations

from pathlib import Path

from forkwood.domain.conversation import ConversationUsage
from forkwood.store import stats
from forkwood.store.db import Store
from forkwood.store.migrations import SCHEMA_VERSION
from tests.store.richness import rich
from tests.store.seeds import opened


def test_a_store_is_counted(home: Path) -> None:
    rich(home)
    store = opened(home)
    with store.read() as tx:
        found = stats.gather(tx, store.path)
    counted = (found.conversations, found.trashed, found.messages, found.grafts, found.hidden, found.purged)
    assert counted == (2, 0, 65, 1, 1, 0)
    assert (found.runs, found.blobs, found.blob_bytes) == ({"done": 1}, 1, 10_240)
    assert found.file_bytes == (home / "forkwood.db").stat().st_size
    assert found.version == SCHEMA_VERSION
    assert found.usage == ConversationUsage(turns=2, input=20, output=10, cost=0.5)
    assert 60 * 400 < found.text_bytes < 60 * 600


def test_tables_come_largest_first_with_their_indexes(home: Path) -> None:
    rich(home)
    store = opened(home)
    with store.read() as tx:
        found = stats.gather(tx, store.path)
    assert found.tables[0].name == "node"
    assert [table.bytes for table in found.tables] == sorted((table.bytes for table in found.tables), reverse=True)
    assert sum(table.bytes for table in found.tables) + found.free_bytes in range(
        found.file_bytes - 8 * 4096, found.file_bytes + 1
    )


def test_an_empty_store_in_memory_has_no_file() -> None:
    store = Store.in_memory()
    with store.read() as tx:
        found = stats.gather(tx, store.path)
    assert (found.file_bytes, found.messages, found.runs, found.text_bytes) == (0, 0, {}, 0)
