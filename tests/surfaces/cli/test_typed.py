"""Text from standard input and editors: bounded, UTF-8, and told where it is not."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused
from forkwood.surfaces.cli.terminal import Terminal
from forkwood.surfaces.cli.typed import edited, is_unread, read_within, text_from, text_of, texts_of
from tests.surfaces.cli.desks import Stream, terminal


@pytest.mark.parametrize(
    ("found", "text"),
    (
        (b"hi", "hi"),
        (b"hi\n", "hi"),
        (b"hi\r\n", "hi"),
        (b"hi\n\n", "hi\n"),
        (b"\xef\xbb\xbfhi", "hi"),
        ("nö\r\nja".encode(), "nö\r\nja"),
        (b"", ""),
    ),
)
def test_text_loses_its_mark_and_the_line_end_that_closes_it(found: bytes, text: str) -> None:
    assert text_from(found, "it") == text


@pytest.mark.parametrize(("found", "byte"), ((b"ab\xff", 2), (b"\xc3\xa4\x80", 2), (b"a\0b", 1), (b"\xed\xa0\xbd", 0)))
def test_what_is_no_text_is_refused_at_its_byte(found: bytes, byte: int) -> None:
    with pytest.raises(Misused) as refused:
        text_from(found, "it")
    assert refused.value.facts["byte"] == byte
    assert f"byte {byte}" in refused.value.message
    assert "--attach" in refused.value.hint


def test_only_a_dash_reads_standard_input() -> None:
    assert text_of("-", terminal(b"from there\n")) == "from there"
    assert text_of("--", terminal(b"unread")) == "--"


def test_one_of_several_texts_can_come_from_standard_input() -> None:
    assert texts_of(("a", "-"), terminal(b"from there\n")) == ("a", "from there")
    with pytest.raises(Misused, match="once"):
        texts_of(("-", "-"), terminal(b"from there\n"))


def test_the_bound_is_exact() -> None:
    assert read_within(io.BytesIO(b"x" * 8), 8, limit="some_bytes_max", hint="") == b"x" * 8
    with pytest.raises(LimitExceeded) as over:
        read_within(io.BytesIO(b"x" * 9), 8, limit="some_bytes_max", hint="")
    assert over.value.facts == {"limit": "some_bytes_max", "bound": 8, "got": 9}


class Endless(io.RawIOBase):
    """A pipe that nobody closes."""

    def __init__(self) -> None:
        super().__init__()
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        self.given += size
        return b"x" * size


def test_a_paste_without_end_is_counted_to_a_bound_and_not_kept() -> None:
    endless = Endless()
    with pytest.raises(LimitExceeded) as over:
        read_within(endless, 8, limit="some_bytes_max", hint="")  # type: ignore[arg-type]
    assert over.value.facts["got"] == endless.given
    assert limits.stdin_counted_bytes_max <= endless.given <= limits.stdin_counted_bytes_max + limits.MIB


def editor(folder: Path, script: str) -> str:
    """A program that does SCRIPT to the file it is given."""
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_what_the_editor_leaves_is_the_text(tmp_path: Path) -> None:
    program = editor(tmp_path, f'cat "$1" > {tmp_path}/seen; echo "$1" > {tmp_path}/name; printf "new\\n\\n" > "$1"')
    assert edited("old", terminal(EDITOR=program)) == "new"
    assert (tmp_path / "seen").read_text() == "old\n"
    assert not Path((tmp_path / "name").read_text().strip()).exists()


def test_visual_comes_before_editor(tmp_path: Path) -> None:
    program = editor(tmp_path, 'echo new > "$1"')
    assert edited("old", terminal(VISUAL=program, EDITOR="/nowhere")) == "new"


@pytest.mark.parametrize("script", ("true", ': > "$1"', 'printf " \\n" > "$1"', 'printf "a\\377" > "$1"'))
def test_nothing_new_is_refused(tmp_path: Path, script: str) -> None:
    with pytest.raises(Misused):
        edited("old", terminal(EDITOR=editor(tmp_path, script)))


def test_without_an_editor_and_a_screen_nobody_waits() -> None:
    with pytest.raises(Misused) as refused:
        edited("old", terminal())
    assert "EDITOR" in refused.value.hint


def test_what_a_pipe_holds_and_nobody_reads_is_seen() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as stdin, os.fdopen(writing, "wb", buffering=0) as pipe:
        here = Terminal(stdin, Stream(), Stream(), {})
        assert not is_unread(here)
        pipe.write(b"words")
        assert is_unread(here)
        assert here.bytes_in.read(5) == b"words"
        assert not is_unread(here)
    assert not is_unread(terminal(b"no real stream"))
    with Path(os.devnull).open(encoding="utf-8") as stdin:
        assert not is_unread(Terminal(stdin, Stream(), Stream(), {}))
