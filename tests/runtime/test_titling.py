"""Titles by the model: only where switched on, only over a title made by rule, and never at the price of a failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, script

REPLIES: list[dict[str, Any]] = [
    {"match": "Give this conversation a title", "text": '"Bread for beginners."\nmore'},
    {"text": "use flour"},
]


def opened(home: Path, *, by_model: bool) -> Runtime:
    settings = Settings(home=str(home), model="scripted:/nowhere.json", title_by_model=by_model)
    runtime = door(open_store(home, now_ms=NOON), settings)
    runtime.new()
    return runtime


@pytest.mark.parametrize(("by_model", "title"), [(True, "Bread for beginners"), (False, "how do I bake?")])
def test_a_better_title_where_switched_on(home: Path, tmp_path: Path, by_model: bool, title: str) -> None:
    runtime = opened(home, by_model=by_model)
    answered(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *REPLIES)]))
    assert runtime.conversation().title == title
    assert [event.kind for event in runtime.log()].count("conversation.titled") == int(by_model)


def test_a_persons_title_stays(home: Path, tmp_path: Path) -> None:
    runtime = opened(home, by_model=True)
    runtime.set("title", "mine")
    answered(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *REPLIES)]))
    assert runtime.conversation().title == "mine"


def test_a_failure_leaves_the_first_line(home: Path, tmp_path: Path) -> None:
    runtime = opened(home, by_model=True)
    replies = [{**REPLIES[0], "fail": {"status": 500, "times": 99}}, REPLIES[1]]
    result = answered(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *replies)]))
    assert result.status == "done"
    assert runtime.conversation().title == "how do I bake?"
