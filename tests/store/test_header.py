"""Looking at a file without opening it: what it says about itself, and that it stays untouched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import apsw
import pytest

from forkwood.store import header
from forkwood.store.header import Header
from forkwood.store.migrations import APPLICATION_ID, SCHEMA_VERSION
from tests.store.seeds import fill, opened


def test_the_header_of_a_store(home: Path) -> None:
    opened(home).close()
    found = header.parse(header.read_start(home / "forkwood.db"))
    assert found == Header(
        page_bytes=4096, formats=(2, 2), wal=True, user_version=SCHEMA_VERSION, application_id=APPLICATION_ID
    )


def test_what_is_no_sqlite_file_has_none() -> None:
    assert header.parse(b"") is None
    assert header.parse(b"SQLite format 3\0" + b"\0" * 83) is None
    assert header.parse(b"x" * 100) is None
    assert header.parse(b"SQLite format 3\0" + b"\0" * 84) is not None


def test_the_largest_page_is_spelled_one() -> None:
    found = header.parse(header.MAGIC + b"\0\1" + b"\0" * 82)
    assert found is not None
    assert found.page_bytes == 65_536


def test_short_and_empty_files_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    for content in (b"", b"short", b"x" * 500):
        (tmp_path / "f").write_bytes(content)
        assert header.read_start(tmp_path / "f") == content[:100]


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a regular file"):
        header.read_start(tmp_path)


def test_a_version_that_stands_only_in_the_log_counts(home: Path) -> None:
    path = home / "forkwood.db"
    opened(home).close()
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 5)
    first = header.parse(header.read_start(path))
    assert first is not None
    assert (first.user_version, header.version_of(path, first)) == (SCHEMA_VERSION, 5)
    connection.pragma("user_version", 6)
    connection.execute("CREATE TABLE x (y)")
    assert header.version_of(path, first) == 6


def test_frames_of_an_earlier_generation_do_not_count(home: Path) -> None:
    path = home / "forkwood.db"
    opened(home).close()
    connection = apsw.Connection(str(path))
    for number in range(20):
        connection.pragma("user_version", number + 2)
    connection.pragma("wal_checkpoint", "RESTART")
    connection.pragma("user_version", 3)
    first = header.parse(header.read_start(path))
    assert first is not None
    assert (first.user_version, header.version_of(path, first)) == (21, 3)


def test_a_log_that_is_begun_anew_while_it_is_read_is_read_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home / "forkwood.db"
    opened(home).close()
    connection = apsw.Connection(str(path))
    for number in range(20):
        connection.pragma("user_version", number + 2)
    first = header.parse(header.read_start(path))
    assert first is not None
    committed = header._committed

    def overtaken(log: BinaryIO) -> dict[int, int]:
        found = committed(log)
        monkeypatch.setattr(header, "_committed", committed)
        connection.pragma("wal_checkpoint", "TRUNCATE")
        connection.pragma("user_version", 30)
        return found

    monkeypatch.setattr(header, "_committed", overtaken)
    assert header.version_of(path, first) == 30


def test_a_log_that_goes_while_it_is_looked_for_says_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, store = home / "forkwood.db", opened(home)
    fill(store, 1)
    first = header.parse(header.read_start(path))
    assert first is not None
    opened_log = header._opened

    def gone(log: Path) -> BinaryIO:
        log.unlink()
        return opened_log(log)

    monkeypatch.setattr(header, "_opened", gone)
    assert header.version_of(path, first) == SCHEMA_VERSION
    assert header.committed_pages(Path(f"{path}-wal")) == {}
    store.close()


def test_an_uncommitted_or_foreign_log_says_nothing(home: Path, tmp_path: Path) -> None:
    path = home / "forkwood.db"
    opened(home).close()
    first = header.parse(header.read_start(path))
    assert first is not None
    for content in (b"", b"\x37\x7f\x06\x82", b"nonsense" * 9_000):
        Path(f"{path}-wal").write_bytes(content)
        assert header.version_of(path, first) == SCHEMA_VERSION


TRY_TO_LOCK = """
import fcntl, sys
with open(sys.argv[1], "rb+") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
"""


def test_looking_does_not_drop_the_locks_of_an_open_store(home: Path) -> None:
    """Closing a file drops every lock its process holds on it, unless SQLite does the closing: another process would
    think itself alone then, and take the log away."""
    store, path = opened(home), home / "forkwood.db"
    fill(store, 1)
    header.read_start(path)
    tried = subprocess.run([sys.executable, "-c", TRY_TO_LOCK, path], check=False, capture_output=True, text=True)
    assert "BlockingIOError" in tried.stderr
    store.close()
    subprocess.run([sys.executable, "-c", TRY_TO_LOCK, path], check=True)
