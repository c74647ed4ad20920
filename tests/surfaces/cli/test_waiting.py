"""A sign of life, and none where nobody watches."""

from __future__ import annotations

import pytest

from forkwood.surfaces.cli import waiting as room
from tests.surfaces.cli.desks import Stream, terminal, written


def test_nobody_watching_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "QUIET_SECONDS", 0.0)
    here = terminal()
    with room.waiting("Working", here):
        pass
    assert written(here.err) == ""


def test_what_is_quick_is_silent() -> None:
    here = terminal(is_screen=True)
    with room.waiting("Working", here):
        pass
    assert written(here.err) == ""


@pytest.mark.parametrize(("encoding", "frame"), (("utf-8", "⠋"), ("ascii", "|")))
def test_what_takes_long_says_so_and_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch, encoding: str, frame: str
) -> None:
    monkeypatch.setattr(room, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(room, "TURN_SECONDS", 0.001)
    here = terminal(is_screen=True, encoding=encoding)
    stream = here.err
    assert isinstance(stream, Stream)
    with room.waiting("Working", here):
        while "Working" not in stream.written:
            stream.flush()
    assert stream.written.startswith(f"\r{frame} Working ...")
    assert stream.written.endswith("\r\x1b[K")


def test_it_gives_way_to_what_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "QUIET_SECONDS", 0.0)
    here = terminal(is_screen=True)
    with room.waiting("Working", here):
        while not here.turning:
            pass
        here.note("Something else")
    assert "\r\x1b[KSomething else\n" in written(here.err)
    here.note("After")
    assert written(here.err).endswith("\r\x1b[KAfter\n")
