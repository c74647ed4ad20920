"""Doctor on a home: what it says of one it may not touch, of a whole one, and what it does to a broken one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from forkwood.domain.errors import StoreUnusable
from forkwood.store import doctor
from forkwood.store.verify import Report
from tests.store.breaking import broken, nobody
from tests.store.richness import rich
from tests.store.seeds import ME, NOW, opened, texts


def repaired(home: Path) -> Report:
    return doctor.repair(home, now_ms=NOW, who=ME, driven=nobody)


def test_a_whole_store_is_ok_and_stays_as_it_is(home: Path) -> None:
    rich(home)
    before = (home / "forkwood.db").read_bytes()
    assert doctor.examine(home, now_ms=NOW, driven=nobody) == Report(ok=True, problems=(), notices=())
    assert repaired(home) == Report(ok=True, problems=(), notices=(), mended=())
    assert (home / "forkwood.db").read_bytes() == before


def test_an_index_is_mended_in_place(home: Path) -> None:
    rich(home)
    broken(home, "UPDATE conversation SET turns = 9 WHERE seq = 2")
    assert [one.kind for one in doctor.examine(home, now_ms=NOW, driven=nobody).problems] == ["counts"]
    report = repaired(home)
    assert (report.ok, report.mended) == (True, ("counts: made anew",))
    assert [file.name for file in home.iterdir()] == ["forkwood.db"]


GARBLED = b'[{"kind":"text","text":"a\xe5"}]'.hex()
WRONG = [
    "UPDATE node SET length = 99 WHERE seq = 60",
    "UPDATE node SET at_cut = 3 WHERE seq = 60",
    "UPDATE node SET source_cut = 1, source_node = 5 WHERE source_node IS NOT NULL",
    'UPDATE node SET parts = \'[{"kind":"song"}]\' WHERE seq = 5',
    "UPDATE node SET via = 'song' WHERE seq = 5",
    "UPDATE node SET created_ms = -1 WHERE seq = 5",
    "UPDATE node SET jump_node = 999 WHERE seq = 5",
    "DELETE FROM node WHERE seq = 5",
    "DELETE FROM conversation",
    "UPDATE conversation SET tags = '5', params = '[1]', tools_off = '{}'",
    f"UPDATE conversation SET created_ms = {1 << 60}, updated_ms = {1 << 60}",
    "UPDATE event SET kind = 'song' WHERE seq = 5",
    "UPDATE event SET payload = '{}' WHERE kind = 'reply.kept'",
    "UPDATE event SET by = 'nobody' WHERE seq = 5",
    "DELETE FROM event WHERE run IS NOT NULL",
    "DELETE FROM manifest",
    "UPDATE manifest SET body = '{}'",
    "UPDATE manifest SET body = 'null'",
    "DELETE FROM run",
    "UPDATE run SET error = '5'",
    "UPDATE blob SET bytes = zeroblob(size)",
    "DELETE FROM attachment",
    "UPDATE label SET node = 9999",
    "UPDATE mark SET since = 9999",
    "CREATE TABLE extra (x)",
    "DROP TABLE search",
    "DROP TABLE search_term",
    "DROP TABLE receipt",
    "DROP TABLE event",
    f"UPDATE node SET parts = CAST(x'{GARBLED}' AS TEXT) WHERE role = 'user'",
    "UPDATE event SET payload = CAST(x'7b22e5223a317d' AS TEXT) WHERE seq = 5",
    "UPDATE conversation SET title = CAST(x'61e561' AS TEXT)",
    "UPDATE receipt SET key = CAST(x'61e561' AS TEXT)",
]


@pytest.mark.parametrize("wrong", WRONG)
def test_whatever_is_wrong_is_reported_and_repaired(home: Path, wrong: str) -> None:
    rich(home)
    broken(home, wrong)
    found = doctor.examine(home, now_ms=NOW, driven=nobody)
    assert not found.ok
    report = repaired(home)
    assert report.ok, report.problems
    assert report.mended
    assert doctor.examine(home, now_ms=NOW, driven=nobody).ok
    assert repaired(home).mended == ()


def test_damage_in_the_middle_is_salvaged(home: Path) -> None:
    rich(home)
    path = home / "forkwood.db"
    content = bytearray(path.read_bytes())
    content[-6 * 4096 : -2 * 4096] = b"\xa5" * 4 * 4096
    path.write_bytes(content)
    looked = doctor.examine(home, now_ms=NOW, driven=nobody)
    assert not looked.ok
    assert {one.kind for one in looked.problems} == {"damaged"}
    report = repaired(home)
    assert report.ok, report.problems
    assert "rows were saved into a new store" in report.mended[0]
    assert str(home / "forkwood.db.corrupt-2026-02-02T02-40-00-000Z") in report.mended[0]
    assert texts(opened(home))[0].startswith("a message long enough")


def test_a_damaged_beginning_is_reported_as_what_it_looks_like(home: Path) -> None:
    rich(home)
    with (home / "forkwood.db").open("rb+") as file:
        file.seek(100)
        file.write(b"\xa5" * 3_996)
    report = doctor.examine(home, now_ms=NOW, driven=nobody)
    assert [one.kind for one in report.problems] == ["damaged"]
    assert "doctor --repair" in report.notices[0]


@pytest.mark.parametrize(("offset", "named"), [(18, "(3, 2)"), (19, "(2, 3)")])
def test_formats_that_nobody_writes_are_reported_and_mended(home: Path, offset: int, named: str) -> None:
    """SQLite takes a format that it does not know for a file that may only be read."""
    rich(home)
    before = texts(opened(home))
    with (home / "forkwood.db").open("rb+") as file:
        file.seek(offset)
        file.write(b"\x03")
    [problem] = doctor.examine(home, now_ms=NOW, driven=nobody).problems
    assert (problem.kind, named in problem.message) == ("damaged", True)
    assert repaired(home).ok
    store = opened(home)
    with store.write() as tx:
        tx.run("UPDATE conversation SET pinned = 1")
    assert texts(store) == before


@pytest.mark.parametrize("version", [0, 42])
def test_what_is_not_damaged_but_not_for_this_program_is_not_touched(home: Path, version: int) -> None:
    rich(home)
    broken(home, f"PRAGMA user_version = {version}")
    before = (home / "forkwood.db").read_bytes()
    with pytest.raises(StoreUnusable) as caught:
        repaired(home)
    assert caught.value.facts["version"] == version
    assert {file.name: file.read_bytes() for file in home.iterdir()} == {"forkwood.db": before}


def test_an_empty_file_is_not_salvaged(home: Path) -> None:
    home.mkdir()
    (home / "forkwood.db").touch()
    with pytest.raises(StoreUnusable) as caught:
        repaired(home)
    assert caught.value.facts["reason"] == "empty"
    assert [file.name for file in home.iterdir()] == ["forkwood.db"]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["a directory", "a pipe"])
def test_what_is_no_file_is_refused_and_stays(home: Path, make: Callable[[Path], object]) -> None:
    home.mkdir()
    path = home / "forkwood.db"
    make(path)
    with pytest.raises(StoreUnusable):
        doctor.examine(home, now_ms=NOW, driven=nobody)
    with pytest.raises(StoreUnusable):
        repaired(home)
    assert not path.is_file()
    assert path.exists()
