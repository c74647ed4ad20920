"""The table of the benchmarks says what is over its target, and how values differ from the baseline."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from benchmarks.floors import TEXT_CHARACTERS, Bare, interleaved, sentences
from benchmarks.runs import logged
from benchmarks.table import Line, ratio, render, spelled


@pytest.mark.parametrize(
    ("value", "most", "verdict"), [(1.0, 2.0, "ok"), (2.0, 2.0, "ok"), (2.1, 2.0, "OVER"), (9.0, None, "")]
)
def test_a_value_over_its_target_says_so(value: float, most: float | None, verdict: str) -> None:
    assert Line(name="x", value=value, most=most).verdict == verdict


@pytest.mark.parametrize(("seconds", "text"), [(2.5, "2.50 s"), (0.0025, "2.50 ms"), (0.000025, "25 µs")])
def test_times_are_spelled_in_their_unit(seconds: float, text: str) -> None:
    assert spelled(seconds) == text


def test_a_ratio_names_what_it_was_made_from() -> None:
    assert ratio("x", 0.003, 0.001, 4.0) == Line(name="x", value=3.0, most=4.0, against="3.00 ms to 1.00 ms")


def test_the_table_shows_the_difference_to_the_baseline() -> None:
    told = render([Line(name="old", value=1.5, most=2.0), Line(name="fresh", value=3.0)], {"old": 1.0})
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in told.splitlines()]
    assert rows[2] == ["old", "1.50 ×", "2", "ok", "1.00 (+50%)", ""]
    assert rows[3] == ["fresh", "3.00 ×", "", "", "new", ""]
    assert len({len(row) for row in told.splitlines()}) == 1


def test_texts_are_the_same_for_the_same_seed() -> None:
    first = list(islice(sentences(1), 3))
    assert first == list(islice(sentences(1), 3))
    assert {len(text) for text in first} == {TEXT_CHARACTERS}


def test_ours_and_the_floor_take_turns() -> None:
    order: list[str] = []
    interleaved(lambda: order.append("ours"), lambda: order.append("floor"), 2)
    assert order == ["ours", "floor"] * 3


def test_commits_are_counted_and_those_of_before_are_not(tmp_path: Path) -> None:
    bare, log = Bare(tmp_path / "bare.db"), tmp_path / "bare.db-wal"
    bare.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for _ in range(3):
        bare.insert("x" * 9_000)
    commits, written = logged(log)
    assert (commits, written + 32) == (3, log.stat().st_size)
    bare.connection.execute("PRAGMA wal_checkpoint(RESTART)")
    bare.insert("x")
    assert (logged(log)[0], log.stat().st_size) == (1, written + 32)
