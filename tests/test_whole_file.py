"""Whole files: all of the new content or all of the old, nothing left over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from forkwood import whole_file


def test_a_file_is_made_with_its_folders_and_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    before = os.umask(0)
    try:
        whole_file.put(path, [b"one ", b"two"], mode=0o600)
    finally:
        os.umask(before)
    assert path.read_bytes() == b"one two"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_what_stood_there_stays_when_the_new_content_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "file"
    whole_file.put(path, [b"old"], mode=0o644)

    def broken() -> Iterator[bytes]:
        yield b"new"
        raise ValueError

    with pytest.raises(ValueError):
        whole_file.put(path, broken(), mode=0o644)
    assert path.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        whole_file.put(tmp_path / "file" / "below", [b""], mode=0o600)
