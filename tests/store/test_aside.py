"""The side file: one JSON line for each row that could not stay; no file where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forkwood.store import aside


def test_every_line_says_what_and_why(tmp_path: Path) -> None:
    path = tmp_path / "side.jsonl"
    with aside.opened(path) as left:
        left.row("node", {"id": b"\0\xff", "parts": "ä"}, "its place is lost")
        left.row("?", [1, None, b"\x01"], "it fits no table")
        left.changed("event", {"seq": 4}, "its node is lost")
        left.missing("run", 3, 7)
        left.page(12)
    assert left.lost == 7
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"table": "node", "why": "its place is lost", "row": {"id": "00ff", "parts": "ä"}},
        {"table": "?", "why": "it fits no table", "row": [1, None, "01"]},
        {"table": "event", "kept": True, "why": "its node is lost", "row": {"seq": 4}},
        {"table": "run", "why": "unreadable", "first": 3, "last": 7},
        {"page": 12, "why": "unreadable"},
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_left_out_makes_no_file(tmp_path: Path) -> None:
    with aside.opened(tmp_path / "side.jsonl") as left:
        assert not left.used
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_side_file_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "side.jsonl").write_text("earlier")
    with pytest.raises(FileExistsError), aside.opened(tmp_path / "side.jsonl") as left:
        left.page(1)
    assert (tmp_path / "side.jsonl").read_text() == "earlier"


def test_rows_that_are_kept_nowhere_else_and_rows_nobody_read_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "side.jsonl"
    with aside.opened(path) as side:
        side.row("node", {"seq": 1}, "why")
        side.row("?", [1, "x"], "why")
        side.changed("node", {"seq": 2}, "why")
        side.missing("event", 5, 9)
        side.page(3)
    with path.open("ab") as file:
        file.write(b'{"torn')
    assert aside.counts(path) == (2, 5)
