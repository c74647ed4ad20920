"""What is opened, what is made, and what is refused and left byte for byte as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from msgspec import Struct

from forkwood.domain.errors import StoreUnusable
from forkwood.store import filesystem, first_start, opening
from forkwood.store.migrations import APPLICATION_ID, SCHEMA_VERSION
from tests.store.seeds import NOW, fill, opened, texts


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def sqlite_file(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def changed(path: Path, offset: int, content: bytes) -> None:
    opened(path.parent).close()
    with path.open("rb+") as file:
        file.seek(offset)
        file.write(content)


def cut(path: Path, size: int) -> None:
    opened(path.parent).close()
    os.truncate(path, size)


def signed(version: int) -> tuple[str, ...]:
    return (f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {version}", "CREATE TABLE node (x)")


class Case(Struct, frozen=True):
    name: str
    make: Callable[[Path], object]
    reason: str
    says: str


REFUSED = [
    Case("empty", lambda path: path.touch(), "empty", "is empty"),
    Case("words", lambda path: path.write_text("dear diary"), "foreign", "not a store of Forkwood"),
    Case("zeroes", lambda path: path.write_bytes(bytes(8192)), "foreign", "not a store of Forkwood"),
    Case("magic gone", lambda path: changed(path, 0, bytes(16)), "foreign", "or its beginning is damaged"),
    Case("header gone", lambda path: changed(path, 0, bytes(100)), "foreign", "or its beginning is damaged"),
    Case("noise", lambda path: changed(path, 100, os.urandom(3_900)), "corrupt", "is damaged"),
    Case("noise after magic", lambda path: changed(path, 16, b"\xff" * 84), "foreign", "another program"),
    Case("cut short", lambda path: cut(path, 5_000), "corrupt", "is damaged"),
    Case("unversioned", lambda path: sqlite_file(path, "CREATE TABLE node (x)"), "unversioned", "neither whose"),
    Case("no tables", lambda path: sqlite_file(path, "PRAGMA user_version = 1"), "foreign", "0x00000000"),
    Case(
        "foreign",
        lambda path: sqlite_file(path, "PRAGMA application_id = 7", "CREATE TABLE node (x)"),
        "foreign",
        "another",
    ),
    Case("newer", lambda path: sqlite_file(path, *signed(99)), "newer", "version 99; this program knows versions 1 to"),
    Case(
        "too old", lambda path: sqlite_file(path, *signed(0)), "too old", "version 0; this program knows versions 1 to"
    ),
    Case("other tables", lambda path: sqlite_file(path, *signed(SCHEMA_VERSION)), "shape", "no such table"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_is_no_store_of_ours_is_refused_and_left_untouched(home: Path, case: Case) -> None:
    home.mkdir()
    case.make(home / "forkwood.db")
    before = contents(home)
    with pytest.raises(StoreUnusable) as caught:
        opened(home)
    assert caught.value.facts["reason"] == case.reason
    assert caught.value.facts["path"] == str(home / "forkwood.db")
    assert case.says in caught.value.message
    assert caught.value.hint
    assert contents(home) == before


def test_both_versions_are_named(home: Path) -> None:
    home.mkdir()
    sqlite_file(home / "forkwood.db", *signed(99))
    with pytest.raises(StoreUnusable) as caught:
        opened(home)
    assert (caught.value.facts["version"], caught.value.facts["known"]) == (99, SCHEMA_VERSION)


def test_a_newer_version_that_stands_only_in_the_log_of_a_dead_program_is_left_untouched(
    home: Path, tmp_path: Path
) -> None:
    opened(home).close()
    dead = apsw.Connection(str(home / "forkwood.db"))
    dead.pragma("user_version", 99)
    crashed = tmp_path / "crashed"
    shutil.copytree(home, crashed)
    before = contents(crashed)
    with pytest.raises(StoreUnusable) as caught:
        opened(crashed)
    assert caught.value.facts["reason"] == "newer"
    assert contents(crashed) == before


def test_a_home_is_made_for_its_owner_alone(home: Path) -> None:
    store = opened(home / "deep" / "er")
    assert (home / "deep" / "er").stat().st_mode & 0o777 == 0o700
    assert texts(store) == []


def test_a_home_that_is_a_file_is_refused(home: Path) -> None:
    home.write_text("mine")
    with pytest.raises(StoreUnusable) as caught:
        opened(home)
    assert "is a file" in caught.value.message
    assert home.read_text() == "mine"


def test_a_home_below_a_file_is_refused(home: Path) -> None:
    home.write_text("mine")
    with pytest.raises(StoreUnusable) as caught:
        opened(home / "below")
    assert "Not a directory" in caught.value.message


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_a_store_that_is_no_file_is_refused(home: Path, make: Callable[[Path], None]) -> None:
    home.mkdir()
    make(home / "forkwood.db")
    with pytest.raises(StoreUnusable) as caught:
        opened(home)
    assert "not a regular file" in caught.value.message


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "directory"])
def test_what_is_no_file_beside_a_store_is_refused_and_waited_for_by_nobody(
    home: Path, make: Callable[[str], None], suffix: str
) -> None:
    opened(home).close()
    make(f"{home / 'forkwood.db'}{suffix}")
    with pytest.raises(StoreUnusable, match=f"forkwood.db{suffix} is not a regular file") as caught:
        opened(home)
    assert caught.value.facts["reason"] == "beside"


def test_a_link_beside_a_store_that_leads_back_to_itself_is_named_with_the_way_out(home: Path) -> None:
    opened(home).close()
    (home / "forkwood.db-wal").symlink_to("forkwood.db-wal")
    with pytest.raises(
        StoreUnusable, match=r"forkwood\.db-wal, which belongs to a store, cannot be looked at"
    ) as caught:
        opened(home)
    assert "move that file away" in caught.value.hint


def test_a_link_that_leads_nowhere_is_refused_and_one_that_leads_to_a_store_followed(
    home: Path, tmp_path: Path
) -> None:
    home.mkdir()
    (home / "forkwood.db").symlink_to(tmp_path / "elsewhere" / "forkwood.db")
    with pytest.raises(StoreUnusable):
        opened(home)
    fill(opened(tmp_path / "elsewhere"), 2)
    assert texts(opened(home)) == ["word 0", "word 1"]


def test_a_link_that_leads_back_to_itself_is_refused(home: Path) -> None:
    home.mkdir()
    (home / "forkwood.db").symlink_to("forkwood.db")
    with pytest.raises(StoreUnusable, match="leads back to itself"):
        opened(home)


def test_opening_what_is_there_writes_nothing(home: Path) -> None:
    store = opened(home)
    fill(store, 2)
    store.close()
    before = (home / "forkwood.db").read_bytes(), (home / "forkwood.db").stat().st_mtime_ns
    store = opened(home)
    assert texts(store) == ["word 0", "word 1"]
    store.close()
    assert ((home / "forkwood.db").read_bytes(), (home / "forkwood.db").stat().st_mtime_ns) == before
    assert [file.name for file in home.iterdir()] == ["forkwood.db"]


def test_a_store_brought_in_without_a_log_gets_one(home: Path) -> None:
    fill(opened(home), 1)
    plain = apsw.Connection(str(home / "forkwood.db"))
    plain.pragma("journal_mode", "delete")
    plain.close()
    store = opened(home)
    with store.read() as tx:
        assert tx.value("PRAGMA journal_mode") == "wal"


def test_a_name_left_by_a_killed_first_start_is_cleared(home: Path) -> None:
    opened(home).close()
    os.link(home / "forkwood.db", home / ".forkwood.new-1-x")
    opened(home).close()
    assert [file.name for file in home.iterdir()] == ["forkwood.db"]


def test_another_that_was_first_is_joined(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs start at once: the slower one finds the store of the faster one and uses it."""
    image = first_start.image

    def slow() -> bytes:
        monkeypatch.setattr(first_start, "image", image)
        fill(opened(home), 1)
        return image()

    monkeypatch.setattr(first_start, "image", slow)
    assert texts(opened(home)) == ["word 0"]


def test_a_link_to_a_network_file_system_is_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = tmp_path / "far"
    fill(opened(far), 2)
    home.mkdir()
    (home / "forkwood.db").symlink_to(far / "forkwood.db")

    def refuse(directory: Path) -> None:
        if directory == far:
            raise StoreUnusable("far away", reason="network")

    monkeypatch.setattr(opening, "refuse_network", refuse)
    with pytest.raises(StoreUnusable, match="far away"):
        opened(home)


def test_a_network_file_system_is_refused_before_anything_is_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(directory: Path) -> None:
        raise StoreUnusable("far away", reason="network")

    monkeypatch.setattr(opening, "refuse_network", refuse)
    with pytest.raises(StoreUnusable, match="far away"):
        opening.open_store(home, now_ms=NOW)
    assert not home.exists()
    assert filesystem.MOUNTS.name == "mountinfo"
