"""Backups: a whole copy while others write, verified, the newest kept."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.store import backups
from forkwood.store.migrations import SCHEMA_VERSION
from tests.store.seeds import NOW, fill, opened, texts


def test_a_backup_is_a_store_of_its_own_version(home: Path) -> None:
    store = opened(home)
    fill(store, 4)
    source = apsw.Connection(str(home / "forkwood.db"))
    made = backups.make(source, home, version=SCHEMA_VERSION, now_ms=NOW)
    assert made == home / "backups" / f"forkwood-2026-02-02T02-40-00-000Z-v{SCHEMA_VERSION}.db"
    assert made.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in made.parent.iterdir()] == [made.name]
    copy_home = home / "copy"
    copy_home.mkdir()
    made.rename(copy_home / "forkwood.db")
    assert texts(opened(copy_home)) == texts(store) == ["word 0", "word 1", "word 2", "word 3"]


def test_the_newest_are_kept_as_many_as_the_limit_says(home: Path) -> None:
    opened(home).close()
    source = apsw.Connection(str(home / "forkwood.db"))
    made = [backups.make(source, home, version=SCHEMA_VERSION, now_ms=NOW + n) for n in range(limits.backups_kept + 2)]
    assert backups.kept(home) == made[2:]


def test_one_that_does_not_read_back_does_not_count(home: Path) -> None:
    opened(home).close()
    source = apsw.Connection(str(home / "forkwood.db"))
    with pytest.raises(StoreUnusable) as caught:
        backups.make(source, home, version=SCHEMA_VERSION + 1, now_ms=NOW)
    assert caught.value.facts["reason"] == "backup"
    assert list((home / "backups").iterdir()) == []


def test_a_place_that_cannot_be_written_is_said(home: Path) -> None:
    opened(home).close()
    (home / "backups").write_text("a file where the folder should be")
    source = apsw.Connection(str(home / "forkwood.db"))
    with pytest.raises(StoreUnusable):
        backups.make(source, home, version=SCHEMA_VERSION, now_ms=NOW)
    assert (home / "backups").read_text() == "a file where the folder should be"


def test_names_sort_by_time() -> None:
    assert backups.name_of(3, 1_770_000_000_045) == "forkwood-2026-02-02T02-40-00-045Z-v3.db"
    assert sorted(backups.name_of(1, NOW + 60_000 * n) for n in range(9)) == [
        backups.name_of(1, NOW + 60_000 * n) for n in range(9)
    ]
