"""A store appears whole or not at all, and never in the place of anything."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import apsw
import pytest

from forkwood.store import first_start
from forkwood.store.migrations import SCHEMA_VERSION


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_the_image_is_a_whole_store_in_write_ahead_mode(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    assert first_start.put_in_place(path, first_start.image())
    assert names(tmp_path) == ["s.db"]
    assert path.stat().st_mode & 0o777 == 0o600
    connection = apsw.Connection(str(path))
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("integrity_check") == "ok"
    assert connection.pragma("user_version") == SCHEMA_VERSION


def test_what_is_there_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(b"mine")
    assert not first_start.put_in_place(path, b"new")
    assert path.read_bytes() == b"mine"
    assert names(tmp_path) == ["s.db"]


def test_left_overs_of_the_dead_go_those_of_the_living_stay(tmp_path: Path) -> None:
    dead, alive = tmp_path / ".forkwood.new-1-dead", tmp_path / ".forkwood.new-2-alive"
    other = tmp_path / "notes.txt"
    for file in (dead, alive, other):
        file.write_bytes(b"begun")
    with alive.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        first_start.clear_left_overs(tmp_path / "s.db")
        assert names(tmp_path) == [".forkwood.new-2-alive", "notes.txt"]


def test_a_second_name_of_the_store_goes_the_store_stays(tmp_path: Path) -> None:
    path, second = tmp_path / "s.db", tmp_path / ".forkwood.new-1-x"
    path.write_bytes(b"store")
    os.link(path, second)
    assert path.stat().st_nlink == 2
    first_start.clear_left_overs(path)
    assert path.stat().st_nlink == 1
    assert path.read_bytes() == b"store"


def test_a_file_that_was_taken_for_a_left_over_is_begun_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between making and locking its file a program can lose it to another that tidies up."""
    taken: list[Path] = []
    lock = fcntl.flock

    def lose_first(handle: int, how: int) -> None:
        if not taken:
            taken.extend(tmp_path.iterdir())
            taken[0].unlink()
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", lose_first)
    assert first_start.put_in_place(tmp_path / "s.db", b"whole")
    assert len(taken) == 1
    assert (tmp_path / "s.db").read_bytes() == b"whole"


def test_a_disk_that_is_full_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        first_start.put_in_place(tmp_path / "s.db", b"whole")
    assert names(tmp_path) == []
