"""Each way a file can fail: what is said, and the way out."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import apsw
import msgspec
import pytest
from msgspec import Struct

from forkwood.domain.errors import StoreUnusable
from forkwood.store.failures import failure, os_failure, phrased
from tests.store.seeds import opened


class Case(Struct, frozen=True):
    error: Exception
    reason: str
    says: str
    hints: str


SQLITE = [
    Case(apsw.SQLError("integer overflow"), "corrupt", "more than anybody can have used", "doctor --repair"),
    Case(apsw.BusyError("database is locked"), "locked", "locked by another process", "nothing was written"),
    Case(apsw.LockedError("x"), "locked", "locked by another process", "nothing was written"),
    Case(apsw.SQLError("table search has no column named words"), "shape", "no column named words", "doctor --repair"),
    Case(apsw.SQLError("invalid fts5 file format (found 0)"), "shape", "invalid fts5 file format", "doctor --repair"),
    Case(apsw.FullError("database or disk is full"), "full", "the disk is full", "make room"),
    Case(apsw.CorruptError("malformed"), "corrupt", "damaged: malformed", "doctor --repair"),
    Case(apsw.NotADBError("file is not a database"), "corrupt", "not a database", "doctor --repair"),
    Case(apsw.ReadOnlyError("x"), "read-only", "cannot be written", "chmod"),
    Case(apsw.CantOpenError("x"), "read-only", "cannot be written", "chmod"),
    Case(apsw.PermissionsError("x"), "read-only", "cannot be written", "chmod"),
    Case(apsw.IOError("disk I/O error"), "disk", "the disk failed", "failing"),
]
SYSTEM = [
    Case(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "full", "the disk is full", "make room"),
    Case(OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)), "full", "the disk is full", "make room"),
    Case(OSError(errno.EROFS, os.strerror(errno.EROFS)), "read-only", "Read-only file system", "FORKWOOD_HOME"),
    Case(OSError(errno.EACCES, os.strerror(errno.EACCES)), "read-only", "Permission denied", "chmod"),
    Case(OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)), "disk", "Not a directory", "FORKWOOD_HOME"),
]


@pytest.mark.parametrize("case", SQLITE, ids=lambda case: type(case.error).__name__)
def test_what_sqlite_says(case: Case) -> None:
    assert isinstance(case.error, apsw.Error)
    found = failure(case.error, "/home/me/forkwood.db")
    assert found is not None
    assert (found.facts["reason"], found.facts["path"]) == (case.reason, "/home/me/forkwood.db")
    assert case.says in found.message
    assert "/home/me/forkwood.db" in found.message
    assert case.hints in found.hint


@pytest.mark.parametrize("case", SYSTEM, ids=lambda case: str(case.error))
def test_what_the_system_says(case: Case) -> None:
    assert isinstance(case.error, OSError)
    found = os_failure(case.error, "/home/me/forkwood.db")
    assert found.facts["reason"] == case.reason
    assert case.says in found.message
    assert case.hints in found.hint


@pytest.mark.parametrize(
    "error", [msgspec.ValidationError("no such part"), UnicodeDecodeError("utf-8", b"x", 0, 1, "y")]
)
def test_a_row_that_cannot_be_read_is_damage(error: Exception) -> None:
    with pytest.raises(StoreUnusable, match="a row cannot be read") as caught, phrased("/home/me/forkwood.db"):
        raise error
    assert caught.value.facts["reason"] == "corrupt"
    assert "doctor --repair" in caught.value.hint


def test_what_is_wrong_with_a_statement_stays_as_it_is() -> None:
    assert failure(apsw.ConstraintError("nodes never change"), "x") is None
    with pytest.raises(apsw.SQLError), phrased("x"):
        apsw.Connection(":memory:").execute("SELEC")
    with pytest.raises(StoreUnusable), phrased("x"):
        raise apsw.FullError


def test_a_store_without_the_tables_of_its_version_is_unusable_and_not_a_crash(home: Path) -> None:
    opened(home).close()
    with closing(sqlite3.connect(home / "forkwood.db")) as altered:
        altered.execute("DROP TABLE summary")
        altered.commit()
    store = opened(home)
    with (
        pytest.raises(StoreUnusable, match="has not the tables its version should have") as refused,
        store.read() as tx,
    ):
        tx.rows("SELECT * FROM summary")
    assert refused.value.facts["reason"] == "shape"
