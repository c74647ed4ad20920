"""The grip: its draft is written by size and beat, and another's run is let go at every touch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.engine.driver import Driver, lives
from forkwood.engine.grip import Grip
from forkwood.engine.mask import Mask
from forkwood.store import drafts, holding, runs
from forkwood.store.holding import Lost
from tests.domain.happened import turn
from tests.engine.stage import NOW, WHO, Stage, gripped, later, text


def written(stage: Stage, grip: Grip) -> str:
    with stage.store.read() as tx:
        return "".join(part.text for part in drafts.parts(tx, grip.held.run))  # type: ignore[union-attr]


def test_a_draft_is_written_at_its_size(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    grip.hear(text("x" * (limits.draft_bytes - 1)))
    assert written(stage, grip) == ""
    grip.hear(text("y"))
    assert written(stage, grip) == "x" * (limits.draft_bytes - 1) + "y"


def test_a_beat_writes_what_came_since(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    for words in ("a", "b"):
        grip.hear(text(words))
    assert grip.beat() is False and written(stage, grip) == "ab"
    grip.hear(text("c"))
    grip.beat()
    assert written(stage, grip) == "abc"
    with stage.store.read() as tx:
        assert [n for _, n, _ in drafts.since(tx, grip.held.run, 0, -1)] == [0, 1]


def test_a_beat_sees_that_somebody_wants_the_end(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    assert grip.beat() is False
    with stage.store.write() as tx:
        runs.ask_to_cancel(tx, grip.held.run, who=WHO, now_ms=NOW)
    grip.poke.now()
    assert grip.beat() is True
    assert grip.check() is False


def test_a_beat_makes_the_lock_anew_and_sees_who_took_its_driver_for_dead(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    folder = tmp_path / "drivers"
    grip = gripped(stage)
    me = Driver.start(folder, lambda: "me")
    grip = Grip(grip.supplies, grip.held, grip.feed, me.stand)
    assert grip.beat() is False
    shutil.rmtree(folder)
    assert grip.beat() is False and lives(folder, "me")
    shutil.rmtree(folder)
    assert grip.check() and lives(folder, "me")
    shutil.rmtree(folder)
    with stage.store.write() as tx:
        holding.hold(tx, grip.held.run, "another", NOW)
    with pytest.raises(Lost):
        grip.beat()
    me.close()


def test_what_is_anothers_is_let_go_at_every_touch(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    with stage.store.write() as tx:
        holding.hold(tx, grip.held.run, "another", NOW)
    grip.hear(text("words"))
    grip.poke.now()
    for touch in (grip.check, grip.commit, grip.beat, grip.save_draft):
        with pytest.raises(Lost):
            touch()
    assert written(stage, grip) == ""


def test_letting_go_saves_what_came_and_frees_the_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    grip.hear(text("words"))
    grip.let_go()
    with stage.store.read() as tx:
        assert runs.details(tx, grip.held.run).driver is None
    assert written(stage, grip) == "words"


def test_a_draft_is_written_by_its_bytes_and_not_by_its_characters(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    grip.hear(text("é" * (limits.draft_bytes // 2 - 1)))
    assert written(stage, grip) == ""
    grip.hear(text("é"))
    assert written(stage, grip) == "é" * (limits.draft_bytes // 2)


def test_letting_go_saves_what_was_held_back_too(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    grip.mask = Mask(lambda: ("sk-0123456789abcdef",))
    grip.begin_draft()
    grip.hear(text("words sk-01"))
    grip.beat()
    assert written(stage, grip) == "words "
    grip.let_go()
    assert written(stage, grip) == "words sk-01"


def test_what_begins_is_announced(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    assert grip.begin(lambda _tx, held: (turn(held.state.turns + 1),)) and grip.held.state.calling
    assert stage.kinds(grip.held.run)[-1] == "turn.started"


def test_nothing_begins_in_a_run_that_was_stopped(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    with stage.store.write() as tx:
        runs.ask_to_cancel(tx, grip.held.run, who=WHO, now_ms=NOW)
    assert not grip.begin(lambda *_: (turn(),))
    assert stage.kinds(grip.held.run)[-2:] == ["cancel.asked", "run.ended"], "what follows is done at once"


def test_nothing_begins_in_a_run_that_was_steered(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    grip = gripped(stage)
    later(stage, grip.held.run, "first this", steers=True)
    assert not grip.begin(lambda *_: (turn(),))
    assert stage.kinds(grip.held.run)[-2:] == ["steer.asked", "steer.taken"], "what follows is done at once"
    assert stage.path()[-1] == "user: first this"
