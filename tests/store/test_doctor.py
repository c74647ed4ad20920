"""Doctor on a home: what it says of one it may not touch, of a whole one, and what it does to a broken one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.store import doctor, failures, salvage
from forkwood.store.verify import Report
from tests.store.breaking import broken, nobody
from tests.store.richness import rich
from tests.store.seeds import ME, NOW, add_conversation, opened, texts


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
    "UPDATE event SET seq = -1 WHERE seq = 5",
    "UPDATE node SET seq = -1 WHERE seq = 60",
    "UPDATE conversation SET turns = 9223372036854775807 WHERE seq = 1",
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


@pytest.mark.parametrize("lets_in", [True, False])
def test_what_another_has_salvaged_meanwhile_is_not_salvaged_again(
    home: Path, monkeypatch: pytest.MonkeyPatch, lets_in: bool
) -> None:
    rich(home)
    broken(home, "UPDATE node SET parts = CAST(x'ff' AS TEXT) WHERE seq = 21")
    first = salvage.in_nobodys_use

    @contextmanager
    def second(path: Path) -> Iterator[None]:
        monkeypatch.setattr(doctor, "in_nobodys_use", first)
        assert repaired(home).mended
        if not lets_in:
            raise failures.locked(str(path))
        with first(path):
            yield

    monkeypatch.setattr(doctor, "in_nobodys_use", second)
    report = repaired(home)
    assert (report.ok, report.mended) == (True, ())
    assert len([*home.glob("*.corrupt-*Z")]) == 1


def test_a_damaged_beginning_is_reported_as_what_it_looks_like(home: Path) -> None:
    rich(home)
    with (home / "forkwood.db").open("rb+") as file:
        file.seek(100)
        file.write(b"\xa5" * 3_996)
    report = doctor.examine(home, now_ms=NOW, driven=nobody)
    assert [one.kind for one in report.problems] == ["damaged"]
    assert "doctor --repair" in report.notices[0]


DERIVED = [
    "own = -1", "own = 7", "own = 1099511627777", "length = 0", "length = -5", "source_cut = 2", "source_node = 0",
    "source_node = 9999", "first = 1", "purged = 2", "purged = 1", "beside = 2", "hops = 0", "hops = 9", "at_cut = -1",
    "at_cut = 4", "jump_node = 9999", "jump_cut = -1", "graft_node = 9999", "graft_cut = -1", "revises = 9999",
    "role = NULL", "role = 'usar'", "by = 'usar'", "purged = 2, own = -1, hops = -1, source_cut = 0",
]  # fmt: skip


@pytest.mark.parametrize("wrong", DERIVED)
def test_a_message_whose_parts_are_whole_is_kept_whatever_else_is_wrong(home: Path, wrong: str) -> None:
    rich(home)
    before = texts(opened(home))
    broken(home, f"UPDATE node SET {wrong} WHERE seq = 21")
    assert not doctor.examine(home, now_ms=NOW, driven=nobody).ok
    report = repaired(home)
    assert report.ok, report.problems
    with opened(home).read() as tx:
        kept = tx.one("SELECT parts ->> '$[0].text', role, at_node, length, purged FROM node WHERE seq = 21")
    assert kept == (before[20], "user", 20, 21, 0)
    assert texts(opened(home)) == before


@pytest.mark.parametrize("number", [0, -1, limits.seq_max, limits.seq_max + 1, (1 << 63) - 1])
def test_a_message_whose_conversation_cannot_be_is_kept(home: Path, number: int) -> None:
    rich(home)
    before = texts(opened(home))
    broken(home, f"UPDATE node SET conversation = {number} WHERE seq IN (1, 21)")
    assert repaired(home).ok
    with opened(home).write() as tx:
        assert tx.value("SELECT conversation FROM node WHERE seq = 21") == 1
        assert tx.value("SELECT max(seq) FROM conversation") == 3
        add_conversation(tx, 77)
    assert texts(opened(home)) == before


@pytest.mark.parametrize("wrong", ["turns = -1", "head_cut = -1", "pinned = 2", "purged = 9", "approvals = 'all'",
                                   "titled_by = 'usar'"])  # fmt: skip
def test_a_conversation_keeps_its_title_whatever_count_or_switch_is_wrong(home: Path, wrong: str) -> None:
    rich(home)
    broken(home, f"UPDATE conversation SET {wrong}")
    assert repaired(home).ok
    with opened(home).read() as tx:
        assert tx.rows("SELECT title, approvals, pinned, purged FROM conversation") == [("a title", "ask", 0, 0)] * 2


@pytest.mark.parametrize("wrong", ["own = -1", "purged = 2", "hops = 0", "beside = 2", "source_cut = -1", "length = 0",
                                   "role = 'usar'", "revises = 9999"])  # fmt: skip
def test_a_graft_that_says_what_it_carries_is_kept_whatever_else_is_wrong(home: Path, wrong: str) -> None:
    rich(home)
    sql = "SELECT seq, role, own, length, source_node, source_cut, first, purged FROM node WHERE role IS NULL"
    with opened(home).read() as tx:
        before = tx.rows(sql)
    broken(home, f"UPDATE node SET {wrong} WHERE role IS NULL")
    assert repaired(home).ok
    with opened(home).read() as tx:
        assert tx.rows(sql) == before


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
