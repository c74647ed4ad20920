"""A purge of what was said while a run was at work: by the name it had in the queue, whatever became of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forkwood.domain.errors import NotFound
from forkwood.runtime import Runtime
from tests.runtime import seeded
from tests.runtime.doors import heard, script, texts
from tests.runtime.seeded import MARKER, assert_gone, seeded_bytes
from tests.runtime.world import driven


@pytest.fixture
def runtime(home: Path, tmp_path: Path) -> Runtime:
    runtime = seeded.opened(home)
    runtime.new(model=script(tmp_path, {"text": "an answer"}))
    return runtime


def waiting(runtime: Runtime, *, steer: bool = False) -> str:
    """A message with the marker and a file of it, behind a run; its name in the queue."""
    note = Path(runtime.house.settings.home).parent / "note.txt"
    note.write_text(MARKER)
    runtime.send("one")
    name = runtime.send(f"{MARKER} two", attach=[note], steer=steer, key="receipt").queued
    assert name is not None
    runtime.queue_edit(name, f"{MARKER} changed", key="another receipt")
    return name


@pytest.mark.parametrize("state", ["waiting", "steers", "held", "removed"])
def test_what_never_came_goes_by_its_name(runtime: Runtime, state: str) -> None:
    name = waiting(runtime, steer=state == "steers")
    if state == "held":
        runtime.cancel(runtime.runs()[0].id)
    elif state == "removed":
        runtime.queue_remove(name)
    report = runtime.purge([name[-8:]])
    assert (report.queued, report.nodes, report.affects.conversations) == ((name,), (), (runtime.conversation().id,))
    assert runtime.queue() == [] and texts(runtime) == ["one"]
    assert_gone(runtime)
    assert runtime.purge([name]).queued == (name,), "again is fine"


def test_a_run_that_it_was_to_steer_goes_on_without_it(runtime: Runtime) -> None:
    name = waiting(runtime, steer=True)
    run = runtime.runs()[0].id
    runtime.purge([name])
    asyncio.run(driven(runtime, run))
    assert texts(runtime) == ["one", "an answer"]


def test_what_was_sent_goes_as_the_message_it_is(runtime: Runtime) -> None:
    started = runtime.send("one")
    name = runtime.send(f"{MARKER} two").queued
    assert name is not None
    heard(runtime, started)
    node = runtime.queued(name).node
    report = runtime.purge([name])
    assert (report.queued, report.nodes) == ((name,), (node,))
    assert_gone(runtime)


def test_a_name_of_nothing_is_told_as_before(runtime: Runtime) -> None:
    waiting(runtime)
    with pytest.raises(NotFound, match="no node or conversation"):
        runtime.purge(["beefbeef"])
    assert seeded_bytes(runtime)
