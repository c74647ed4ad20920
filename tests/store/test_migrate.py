"""Migrations: step by step, each whole or not at all, after a backup, and by one program of several."""

from __future__ import annotations

import gzip
import multiprocessing
from pathlib import Path

import apsw
import pytest

from forkwood.domain.errors import StoreUnusable
from forkwood.store import backups, migrate, migrations, opening, verify
from forkwood.store.db import Store
from forkwood.store.migrations import SCHEMA_VERSION, Migration, shipped
from tests.store.breaking import nobody
from tests.store.richness import rich
from tests.store.seeds import NOW, fill, opened, texts

GOLDEN = Path(__file__).parent / "golden"
SECOND = Migration(
    version=SCHEMA_VERSION + 1, name="colour", sql="ALTER TABLE conversation ADD COLUMN colour TEXT DEFAULT 'red'"
)
THIRD = Migration(
    version=SCHEMA_VERSION + 2,
    name="shade",
    sql="ALTER TABLE conversation ADD COLUMN shade TEXT; SELECT 1; CREATE TABLE extra (x)",
)
STEPS = (*shipped(), SECOND, THIRD)


def version(path: Path) -> int:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = connection.pragma("user_version")
    connection.close()
    assert isinstance(found, int)
    return found


def test_every_step_is_taken_in_order_after_one_backup(home: Path) -> None:
    store, path = opened(home), home / "forkwood.db"
    fill(store, 3)
    store.close()
    assert migrate.bring_up(path, STEPS, now_ms=NOW) == [SECOND, THIRD]
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT colour, shade FROM conversation").fetchall() == [("red", None)]
    assert connection.table_exists("main", "extra")
    assert version(path) == SCHEMA_VERSION + 2
    assert [file.name for file in backups.kept(home)] == [backups.name_of(SCHEMA_VERSION, NOW)]
    assert version(backups.kept(home)[0]) == SCHEMA_VERSION


def test_the_version_stands_in_the_file_itself_afterwards(home: Path) -> None:
    """An older program looks there first: it must not have to read the log to know that this is not for it."""
    opened(home).close()
    reader = apsw.Connection(str(home / "forkwood.db"))
    reader.execute("SELECT count(*) FROM node").fetchall()
    migrate.bring_up(home / "forkwood.db", STEPS, now_ms=NOW)
    assert int.from_bytes((home / "forkwood.db").read_bytes()[60:64], "big") == SCHEMA_VERSION + 2
    reader.close()


def test_nothing_to_do_writes_nothing_and_backs_up_nothing(home: Path) -> None:
    opened(home).close()
    before = (home / "forkwood.db").read_bytes()
    assert migrate.bring_up(home / "forkwood.db", shipped(), now_ms=NOW) == []
    assert (home / "forkwood.db").read_bytes() == before
    assert backups.kept(home) == []


@pytest.mark.parametrize(
    "sql",
    ["CREATE TABLE new (x); SELEC", "CREATE TABLE new (x); INSERT INTO label VALUES (99, 'x', 99)"],
    ids=["no SQL", "points at nothing"],
)
def test_a_step_that_fails_leaves_the_version_before_it(home: Path, sql: str) -> None:
    store, path = opened(home), home / "forkwood.db"
    fill(store, 3)
    store.close()
    bad = Migration(version=SCHEMA_VERSION + 2, name="bad", sql=sql)
    with pytest.raises(StoreUnusable) as caught:
        migrate.bring_up(path, (*shipped(), SECOND, bad), now_ms=NOW)
    assert caught.value.facts["reason"] == "migration"
    assert caught.value.facts["backup"] == str(home / "backups" / backups.name_of(SCHEMA_VERSION, NOW))
    assert version(path) == SCHEMA_VERSION + 1
    assert not apsw.Connection(str(path)).table_exists("main", "new")


def test_without_a_backup_nothing_is_migrated(home: Path) -> None:
    opened(home).close()
    (home / "backups").write_text("in the way")
    with pytest.raises(StoreUnusable):
        migrate.bring_up(home / "forkwood.db", STEPS, now_ms=NOW)
    assert version(home / "forkwood.db") == SCHEMA_VERSION


def test_a_table_may_be_built_anew_though_others_point_at_it(home: Path) -> None:
    rich(home)
    sql = """CREATE TABLE fresh (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, bytes BLOB NOT NULL, note TEXT) STRICT;
      INSERT INTO fresh (hash, size, bytes) SELECT hash, size, bytes FROM blob;
      DROP TABLE blob; ALTER TABLE fresh RENAME TO blob"""
    rebuilt = Migration(version=SCHEMA_VERSION + 1, name="anew", sql=sql)
    assert migrate.bring_up(home / "forkwood.db", (*shipped(), rebuilt), now_ms=NOW) == [rebuilt]
    connection = apsw.Connection(str(home / "forkwood.db"))
    assert connection.execute("SELECT count(*) FROM attachment JOIN blob ON hash = blob").fetchall() == [(1,)]


def take_steps(path: Path, gate: object, taken: object) -> None:
    gate.wait()  # type: ignore[attr-defined]
    taken.put([step.version for step in migrate.bring_up(path, STEPS, now_ms=NOW)])  # type: ignore[attr-defined]


def test_of_several_programs_each_step_is_taken_by_one(home: Path) -> None:
    store = opened(home)
    fill(store, 3)
    store.close()
    context = multiprocessing.get_context("spawn")
    gate, taken = context.Barrier(3), context.Queue()
    programs = [context.Process(target=take_steps, args=(home / "forkwood.db", gate, taken)) for _ in range(3)]
    for program in programs:
        program.start()
    steps = sorted(step for _ in programs for step in taken.get(timeout=60))
    for program in programs:
        program.join()
    assert steps == [SCHEMA_VERSION + 1, SCHEMA_VERSION + 2]
    assert version(home / "forkwood.db") == SCHEMA_VERSION + 2


def test_opening_an_older_store_migrates_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(home)
    fill(store, 2)
    store.close()
    with monkeypatch.context() as newer:
        newer.setattr(migrations, "SCHEMA_VERSION", SCHEMA_VERSION + 2)
        newer.setattr(opening, "SCHEMA_VERSION", SCHEMA_VERSION + 2)
        newer.setattr(opening, "shipped", lambda: STEPS)
        store = opened(home)
        assert texts(store) == ["word 0", "word 1"]
        store.close()
    with pytest.raises(StoreUnusable) as caught:
        opened(home)
    assert caught.value.facts["version"] == SCHEMA_VERSION + 2


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("v*.db.gz")), ids=lambda file: file.name)
def test_a_store_of_every_earlier_version_opens_for_ever(home: Path, file: Path) -> None:
    home.mkdir()
    (home / "forkwood.db").write_bytes(gzip.decompress(file.read_bytes()))
    store = opened(home)
    assert texts(store)[-5:] == ["see this", "one moment", None, "it is noon", "after the run"]
    assert schema(store) == schema(Store.in_memory())
    assert verify.examine(store, nobody).problems == ()


def schema(store: Store) -> list[tuple[str, str]]:
    with store.read() as tx:
        return [(row[0], row[1]) for row in tx.rows("SELECT name, sql FROM sqlite_schema ORDER BY name")]
