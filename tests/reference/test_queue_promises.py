"""What windie and panelot promise of claims, receipts and what waits, and how it is held here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from forkwood.domain.ids import Id
from forkwood.domain.message import Text
from forkwood.domain.model import Reply
from forkwood.domain.settings import Settings
from forkwood.engine.grip import Grip
from forkwood.engine.live import Feed
from forkwood.store import holding, runs
from forkwood.store.holding import Lost
from tests.engine.stage import NOW, WHO, FakeModel, Stage, reply, text
from tests.runtime.doors import answered, door, script, texts


async def test_windie_64_a_late_finish_does_not_overwrite_a_cancel_and_the_claim_stays_until_then(
    tmp_path: Path,
) -> None:
    drivers: list[Any] = []

    def cancelled() -> None:
        with stage.store.write() as tx:
            runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
            drivers.append((runs.details(tx, run).driver, runs.row(tx, run).status))

    whole = Reply(parts=(Text(text="All of it."),), finish="stop")
    stage = Stage(tmp_path, FakeModel([text("All of it."), cancelled, whole]))
    stage.say("Hi")
    run: Id = stage.open()
    await stage.drive(run)
    [(driver, status)] = drivers
    assert driver is not None and status == "running"
    with stage.store.read() as tx:
        assert runs.details(tx, run).driver is None
    assert stage.run(run).status == "cancelled"
    assert stage.path() == ["user: Hi", "assistant: All of it."]


def test_windie_65_who_claims_anew_has_another_number_and_the_one_before_writes_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("x")))
    stage.say("Hi")
    run = stage.open()
    with stage.store.write() as tx:
        first = holding.hold(tx, run, "one", NOW)
        second = holding.hold(tx, run, "two", NOW)
    assert second.number > first.number
    grip = Grip(stage.engine._supplies, first, Feed(stage.store, run))
    before = len(stage.nodes()), stage.kinds(run)
    grip.begin_draft()
    for write in (grip.commit, grip.save_draft, grip.check):
        with pytest.raises(Lost):
            write()
    assert (len(stage.nodes()), stage.kinds(run)) == before


def test_windie_66_nothing_begins_by_itself(tmp_path: Path) -> None:
    runtime = door(settings=Settings(home=str(tmp_path)))
    runtime.new(title="t")
    answered(runtime, runtime.send("hi", models=[script(tmp_path, {"text": "yes"})]))
    before = len(list(runtime.log()))
    runtime.house.clock = lambda: 4_000_000_000_000
    assert (runtime.left(), runtime.pending(), runtime.queue()) == ([], [], [])
    assert (len(list(runtime.log())), [run.status for run in runtime.runs()]) == (before, ["done"])


def test_panelot_28_a_key_belongs_to_its_client() -> None:
    runtime = door()
    runtime.new(title="t")
    mine = runtime.send("hello", run=False, key="k")
    runtime.house.settings = replace(runtime.house.settings, client="another")
    theirs = runtime.send("hello", run=False, key="k")
    assert (mine == theirs, texts(runtime)) == (False, ["hello", "hello"])


def test_panelot_29_a_send_is_acknowledged_when_its_words_are_kept_and_its_run_says_why_it_failed(
    tmp_path: Path,
) -> None:
    runtime = door(settings=Settings(home=str(tmp_path)))
    runtime.new(title="t")
    missing = script(tmp_path, {"text": "yes"}, name="missing.json")
    sent = runtime.send("hi", models=[missing], key="k")
    (tmp_path / "missing.json").unlink()
    first = answered(runtime, sent)
    assert first.status == "failed" and first.error is not None
    assert answered(runtime, runtime.send("hi", models=[missing], key="k")) == first
    assert (texts(runtime), len(runtime.runs())) == (["hi"], 1)
