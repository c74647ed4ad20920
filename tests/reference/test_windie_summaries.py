"""What an earlier program promised of its summaries, and what we hold in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import NotFound, Refused
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.store import summaries
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, said, script

SUM = {"match": "Write a summary", "text": "They baked."}


@pytest.fixture
def runtime(home: Path, tmp_path: Path) -> Runtime:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home)))
    runtime.new(title="t", model=script(tmp_path, SUM, {"text": "Good."}))
    return runtime


def test_windie_79_a_summary_round_trips_and_another_conversations_message_is_refused(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    made = runtime.summarize()
    with runtime.house.store.read() as tx:
        found = summaries.get(tx, made.summary)
    assert (found.id, found.covers, found.text) == (made.summary, tuple(ids[:2]), "They baked.")
    runtime.new(title="other")
    with pytest.raises(Refused, match="belongs to another conversation"):
        runtime.summarize(ids[3])
    with pytest.raises(NotFound):
        runtime.summarize(conversation="ffffffff")


def test_windie_80_it_stands_before_what_came_later_on_its_path_and_on_no_other(runtime: Runtime) -> None:
    """Not the newest of the conversation alone: each path has the longest one that fits it."""
    said(runtime, "q1", "a1", "q2", "a2")
    runtime.summarize()
    on_path = answered(runtime, runtime.send("q3")).node
    prompt = str(runtime.why(on_path or "").prompt)
    assert "They baked." in prompt and "q2" in prompt and "'q1'" not in prompt
    first = runtime.path()[0].node.id
    runtime.edit(first, "another beginning", run=False)
    off_path = answered(runtime, runtime.retry("@")).node
    why = runtime.why(off_path or "")
    assert why.summary is None and "They baked." not in str(why.prompt)
