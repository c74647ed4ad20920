"""The disk fills in mid-run: the driver lets go and says why, what was told is kept, and with room it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.cast import called
from tests.crash.lives import Life, Theatre
from tests.soak import is_soaking

LONG = "word " * 20_000
BIG = (called("look", text=LONG), called("jot", text=LONG), {"text": LONG})
SEND = ("send", "Go", "--key", "once")
FULL = 7
ROOMS = (*range(12), 20, 40, 60, 80, 100) if is_soaking() else (0, 3, 8, 40, 80)
"""Pages that are left when the command begins: it gets less or more far with them."""


@pytest.fixture(scope="module")
def theatre() -> Iterator[Theatre]:
    with Theatre() as opened:
        yield opened


def pages(life: Life) -> int:
    with life.books.house.store.read() as tx:
        return int(tx.value("PRAGMA page_count"))


def begun(theatre: Theatre, folder: Path) -> Life:
    life = Life(theatre, folder, BIG)
    assert life.run("new", "--model", life.model).code == 0
    return life


@pytest.mark.parametrize("room", ROOMS)
def test_d3_a_disk_that_fills_in_mid_run_ends_nothing(theatre: Theatre, tmp_path: Path, room: int) -> None:
    life = begun(theatre, tmp_path / "life")
    said = life.run(*SEND, pages=pages(life) + room)
    if said.code == 5:
        (asked,) = life.books.pending()
        said = life.run("answer", asked.id, "allow", "--key", "yes", pages=pages(life) + 1)
    error = said.lines[-1]["error"]
    assert (said.code, error["kind"], error["reason"]) == (FULL, "store", "full"), said
    assert "the disk is full" in error["message"] and "make room" in error["hint"]
    life.check()
    assert life.statuses() in ([], ["queued"], ["running"], ["waiting"]), "let go of, not ended"
    assert life.books.left() == [run.id for run in life.books.runs() if run.status != "waiting"], "nobody has it"
    finish(life)


def finish(life: Life) -> None:
    """There is room again: the same commands by the same keys."""
    said = life.run(*SEND)
    while said.code == 5:
        (asked,) = life.books.pending()
        said = life.run("answer", asked.id, "allow", "--key", "yes")
    assert (said.code, said.lines[-1]["status"], said.lines[-1]["text"]) == (0, "done", LONG)
    assert life.outcomes() == {"look": "ok", "jot": "ok"}
    assert len(life.log_of("message.sent")) == len(life.log_of("run.ended")) == 1
    assert life.trace().count("jot") == 1
    life.check()
