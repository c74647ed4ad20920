"""Who holds a store's lock: read from what Linux says, and from a process that really holds one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.store import lock_holder
from tests.store.seeds import opened

ROOT = Path(__file__).parents[2]
HOLDING = """
import sys
from pathlib import Path
from tests.store.seeds import opened

with opened(Path(sys.argv[1])).write():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "forkwood.db"
    Path(f"{path}-shm").touch()
    return path


def named(store: Path) -> str:
    found = Path(f"{store}-shm").stat()
    return f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"


@pytest.mark.parametrize(
    ("line", "holder"),
    [
        ("1: POSIX  ADVISORY  WRITE 77 {0} 120 120", 77),
        ("1: POSIX  ADVISORY  WRITE 77 {0} 120 127", 77),
        ("1: POSIX  ADVISORY  WRITE 77 {0} 0 EOF", 77),
        ("1: POSIX  ADVISORY  READ 77 {0} 120 120", None),
        ("1: POSIX  ADVISORY  WRITE 77 {0} 121 121", None),
        ("1: POSIX  ADVISORY  WRITE 77 {0} 100 119", None),
        ("1: FLOCK  ADVISORY  WRITE 77 {0} 0 EOF", None),
        ("1: POSIX  ADVISORY  WRITE 77 00:00:1 120 120", None),
        ("1: POSIX  ADVISORY  WRITE 0 {0} 120 120", None),
        ("1: POSIX  ADVISORY  WRITE -1 {0} 120 120", None),
        ("1: -> POSIX  ADVISORY  WRITE 77 {0} 120 120", None),
        ("anything", None),
    ],
)
def test_one_line_of_what_the_system_says(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, holder: int | None
) -> None:
    monkeypatch.setattr(lock_holder, "LOCKS", tmp_path / "locks")
    (tmp_path / "locks").write_text("2: FLOCK ADVISORY WRITE 5 00:1b:5 0 EOF\n" + line.format(named(store)) + "\n")
    assert lock_holder.writer(str(store)) == holder


def test_oneself_is_no_other_process(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_holder, "LOCKS", tmp_path / "locks")
    (tmp_path / "locks").write_text(f"1: POSIX ADVISORY WRITE {os.getpid()} {named(store)} 120 120\n")
    assert lock_holder.writer(str(store)) is None


def test_where_the_system_says_nothing_nobody_is_named(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_holder, "LOCKS", tmp_path / "none")
    assert lock_holder.writer(str(store)) is None
    assert lock_holder.writer(str(tmp_path / "no.db")) is None


def test_a_process_that_writes_is_named_to_who_waited_in_vain(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(home)
    monkeypatch.setattr(limits, "busy_ms", 20)
    short = opened(home)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as other:
        assert other.stdin and other.stdout and other.stdout.readline() == b"held\n"
        told = lock_holder.writer(store.path)
        with pytest.raises(StoreUnusable) as caught, short.write():
            pytest.fail("two write")
        other.stdin.close()
    assert told in {other.pid, None}
    if sys.platform == "linux":
        assert caught.value.facts["process"] == other.pid
        assert f"process {other.pid} (waited" in caught.value.message
        assert f"ps -p {other.pid}" in caught.value.hint
    assert caught.value.facts["reason"] == "locked"
