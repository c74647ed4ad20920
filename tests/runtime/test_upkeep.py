"""Upkeep through the door: doctor on a sound and a broken store, stats, configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import Misused, StoreUnusable
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, door, said


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    said(runtime, "q1", "a1", "q2")
    return runtime


def test_a_sound_store_has_no_problems_and_runs_nobody_drives_are_notices(runtime: Runtime) -> None:
    sent = runtime.send("hi", at="@~1")
    report = Runtime.doctor(runtime.house.settings, via="cli")
    assert (report.ok, report.problems) == (True, ())
    assert [sent.runs[0][-8:] in notice for notice in report.notices] == [True]


def test_a_wrong_index_is_found_and_made_anew(runtime: Runtime) -> None:
    with runtime.house.store.write() as tx:
        tx.run("UPDATE conversation SET turns = 99")
    assert [problem.kind for problem in Runtime.doctor(runtime.house.settings, via="cli").problems]
    mended = Runtime.doctor(runtime.house.settings, via="cli", repair=True)
    assert (mended.ok, len(mended.mended)) == (True, 1)
    assert runtime.conversation().usage.turns == 0


def test_a_broken_file_is_salvaged_and_the_old_one_kept_aside(runtime: Runtime) -> None:
    settings = runtime.house.settings
    runtime.close()
    path = Path(settings.home) / "forkwood.db"
    content = bytearray(path.read_bytes())
    content[:16] = bytes(16)
    path.write_bytes(content)
    with pytest.raises(StoreUnusable):
        Runtime.open(settings, {}, via="cli")
    assert path.read_bytes() == content, "a refused file is left untouched"
    report = Runtime.doctor(settings, via="cli", repair=True)
    assert report.ok
    with Runtime.open(settings, {}, via="cli") as again:
        assert [entry.node.text for entry in again.path()] == ["q1", "a1", "q2"]
    assert [old.read_bytes()[:16] for old in Path(settings.home).glob("*.corrupt-*")] == [bytes(16)]


def test_stats_count_what_is_there(runtime: Runtime) -> None:
    found = runtime.stats()
    assert (found.conversations, found.messages) == (1, 3)


def test_configuration_is_read_and_written(runtime: Runtime) -> None:
    runtime.config_set("title_by_model", "true")
    assert runtime.config_get("title_by_model") is True
    runtime.config_set("title_by_model", None)
    assert runtime.config_get("title_by_model") is False
    with pytest.raises(Misused):
        runtime.config_set("no_such_key", "1")


def test_what_the_environment_sets_holds_over_what_is_written(runtime: Runtime) -> None:
    runtime.house.environ = {**runtime.house.environ, "FORKWOOD_CLIENT": "robot", "FORKWOOD_MODEL": "scripted:/e.json"}
    runtime.config_set("title_by_model", "true")
    now = runtime.house.settings
    assert (now.client, now.model, now.title_by_model) == ("robot", "scripted:/e.json", True)
