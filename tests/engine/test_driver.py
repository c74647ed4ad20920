"""Drivers: alive while they hold their lock, dead at once when their process is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forkwood.domain.errors import StoreUnusable
from forkwood.domain.ids import make_id
from forkwood.engine import driver as module
from forkwood.engine.driver import Driver, lives

HOLD = """
import sys
from pathlib import Path
from forkwood.engine.driver import Driver
Driver.start(Path(sys.argv[1]), lambda: "other")
print("held", flush=True)
sys.stdin.read()
"""


def driver(folder: Path, name: str) -> Driver:
    return Driver.start(folder, lambda: name)


def test_a_driver_lives_until_it_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "drivers"
    one, two = driver(folder, "one"), driver(folder, "two")
    assert lives(folder, "one") and lives(folder, "two")
    one.close()
    assert not lives(folder, "one")
    assert [file.name for file in folder.iterdir()] == ["two.lock"]
    two.close()


def test_a_driver_makes_its_lock_anew_where_it_was_taken_away(tmp_path: Path) -> None:
    folder = tmp_path / "drivers"
    me = driver(folder, "me")
    assert not me.stand()
    (folder / "me.lock").unlink()
    assert not lives(folder, "me")
    assert me.stand() and lives(folder, "me") and not me.stand()
    shutil.rmtree(folder)
    assert me.stand() and lives(folder, "me")
    (folder / "me.lock").unlink()
    (folder / "me.lock").touch()  # as a copy that is brought back has it
    assert me.stand() and lives(folder, "me")
    me.close()
    assert not lives(folder, "me") and list(folder.iterdir()) == []


def test_a_driver_whose_lock_nobody_can_hold_any_more_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "drivers"
    me = driver(folder, "me")
    shutil.rmtree(folder)
    folder.touch()
    with pytest.raises(StoreUnusable, match="cannot be used"):
        me.stand()
    folder.unlink()
    folder.mkdir()
    with module._file(folder, "me").open("wb") as taken:
        assert module._try_lock(taken.fileno())
        with pytest.raises(StoreUnusable, match="another program holds"):
            me.stand()
    me.close()


def test_a_driver_in_another_process_lives_as_long_as_that(tmp_path: Path) -> None:
    me = driver(tmp_path, "me")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline().strip() == b"held"
        assert lives(tmp_path, "other")
        other.kill()
        other.wait()
        assert not lives(tmp_path, "other")
    me.close()


def test_a_name_nobody_has_is_dead(tmp_path: Path) -> None:
    assert not lives(tmp_path, "nobody") and not lives(tmp_path / "missing", "nobody")


def test_files_of_the_dead_are_swept_by_the_next(tmp_path: Path) -> None:
    (tmp_path / f"{make_id(1, bytes(10))}.lock").touch()
    (tmp_path / f"{make_id(2, bytes(10))}.lock").mkdir()
    (tmp_path / "another program's.lock").touch()
    me = driver(tmp_path, "me")
    assert {file.name for file in tmp_path.iterdir()} == {
        "another program's.lock",
        f"{make_id(2, bytes(10))}.lock",
        "me.lock",
    }
    me.close()


@pytest.mark.parametrize(
    "make", [Path.touch, os.mkfifo, lambda path: path.symlink_to("nowhere/at/all"), lambda path: path.symlink_to(path)]
)
def test_where_no_lock_can_be_held_the_folder_is_named(tmp_path: Path, make: Callable[[Path], None]) -> None:
    folder = tmp_path / "drivers"
    make(folder)
    with pytest.raises(StoreUnusable) as failed:
        driver(folder, "me")
    assert str(folder) in failed.value.message and "resume" in failed.value.hint
    assert failed.value.facts["reason"] == "drivers"


def test_a_driver_of_whom_it_cannot_be_told_whether_it_lives_is_not_taken_for_dead(tmp_path: Path) -> None:
    (tmp_path / "looped.lock").symlink_to("looped.lock")
    with pytest.raises(StoreUnusable):
        lives(tmp_path, "looped")
    (tmp_path / "file").touch()
    assert not lives(tmp_path / "file", "me"), "nobody holds a lock in what is no folder"


def test_a_file_swept_between_its_making_and_its_locking_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["swept", "second"])
    locked = module._try_lock

    def swept_first(handle: int) -> bool:
        (tmp_path / "swept.lock").unlink(missing_ok=True)
        return locked(handle)

    monkeypatch.setattr(module, "_try_lock", swept_first)
    me = Driver.start(tmp_path, lambda: next(names))
    assert me.name == "second" and lives(tmp_path, "second")
    me.close()
