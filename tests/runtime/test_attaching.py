"""Files that go with a message: known by their bytes, bounded before they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused, NotFound
from forkwood.runtime.attaching import image_type, keep, read
from forkwood.store import blobs
from forkwood.store.db import Store


@pytest.mark.parametrize(
    ("content", "mime"),
    [
        (b"\x89PNG\r\n\x1a\nrest", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"%PDF-1.7", None),
        (b"", None),
    ],
)
def test_a_picture_is_known_by_its_first_bytes(content: bytes, mime: str | None) -> None:
    assert image_type(content) == mime


@pytest.mark.parametrize(
    ("name", "content", "mime"),
    [
        ("a.png", b"no picture", "text/plain"),
        ("a.svg", b"<svg/>", "image/svg+xml"),
        ("a.unheardof", b"plain", "text/plain"),
        ("a.unheardof", b"\x00\x01", "application/octet-stream"),
        ("a.unheardof", b"\xff\xfe\x00", "application/octet-stream"),
        ("a.py", b"print()", "text/x-python"),
    ],
)
def test_any_other_file_is_called_by_its_name_or_what_it_is(
    tmp_path: Path, name: str, content: bytes, mime: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    [found] = read([path])
    assert (found.part.media, found.part.mime, found.part.size) == ("file", mime, len(content))


def test_bytes_are_kept_once_by_their_digest(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"same")
    two.write_bytes(b"same")
    with Store.in_memory().write() as tx:
        first, second = keep(tx, read([one, two]))
        assert first.blob == second.blob
        assert blobs.get(tx, first.blob) == b"same"
        assert tx.value("SELECT count(*) FROM blob") == 1


def test_the_largest_file_is_taken_and_a_larger_one_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "attachment_bytes_max", 4)
    path = tmp_path / "a"
    path.write_bytes(b"1234")
    assert read([path])[0].content == b"1234"
    path.write_bytes(b"12345")
    with pytest.raises(LimitExceeded) as refused:
        read([path])
    assert refused.value.facts["got"] == 5


def test_as_many_files_as_allowed_are_taken_and_one_more_not(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    assert len(read([path] * limits.attachments_max)) == limits.attachments_max
    with pytest.raises(LimitExceeded) as refused:
        read([path] * (limits.attachments_max + 1))
    assert refused.value.facts["limit"] == "attachments_max"


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read([tmp_path / "missing"])
    with pytest.raises(Misused, match="no regular file"):
        read([tmp_path])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Misused, match="no regular file"):
        read([tmp_path / "pipe"])


def test_a_file_that_fails_while_it_is_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "a"
    path.write_text("x")
    monkeypatch.setattr(os, "open", fails)
    with pytest.raises(Misused, match="cannot be read: Permission denied"):
        read([path])


def test_what_would_be_waited_for_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe, path = tmp_path / "pipe", tmp_path / "a"
    os.mkfifo(pipe)
    path.write_bytes(b"words")
    looked = Path.stat

    def swapped(self: Path, **how: bool) -> os.stat_result:
        state = looked(self, **how)
        if self == path:
            path.unlink()
            pipe.rename(path)
        return state

    with pytest.raises(Misused, match="no regular file"):
        read([pipe])
    monkeypatch.setattr(Path, "stat", swapped)
    with pytest.raises(Misused, match="no regular file"):
        read([path])


@pytest.mark.parametrize("name", ["a" * 300, "/" + "b/" * 3_000, "a\0b", "/proc/self/mem"])
def test_a_name_that_no_file_can_have_is_told(name: str) -> None:
    with pytest.raises(Misused, match="cannot be read"):
        read([Path(name)])


def test_below_a_file_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(NotFound):
        read([tmp_path / "a" / "b"])
