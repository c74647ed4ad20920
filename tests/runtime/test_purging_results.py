"""A purge and the results of tools: a long result, kept whole, stays while its turn goes on and goes with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.store.opening import open_store
from tests.engine.stage import FakeTool
from tests.runtime.doors import NOON, answered, door, said, script
from tests.runtime.seeded import MARKER, assert_gone, seeded_bytes

LOOK = {"name": "look", "arguments": {}}
ASKS = {"name": "change", "arguments": {}}


@pytest.fixture
def runtime(home: Path) -> Runtime:
    """A door whose tools are one that gives far too much, all of it the marker, and one that asks."""
    much = FakeTool("look", lambda: MARKER * (2 * limits.result_bytes_max // len(MARKER)))
    asks = FakeTool("change", effect="write", after_crash="journal")
    settings = Settings(home=str(home), model="scripted:/nowhere.json")
    return door(open_store(home, now_ms=NOON), settings, {"look": much, "change": asks})


def blobs(runtime: Runtime) -> int:
    with runtime.house.store.read() as tx:
        found: int = tx.value("SELECT count(*) FROM blob")
        return found


@pytest.mark.parametrize("waits", [False, True])
def test_a_result_kept_whole_goes_with_its_conversation_and_with_no_other(
    runtime: Runtime, tmp_path: Path, *, waits: bool
) -> None:
    runtime.new(title="another")
    other = runtime.conversation().id
    said(runtime, "something else")
    here = runtime.new(title="here").id
    calls = [LOOK, ASKS] if waits else [LOOK]
    model = script(tmp_path, {"tool_calls": calls}, {"text": "Seen."})
    result = answered(runtime, runtime.send("Look.", models=[model]))
    assert result.status == ("waiting" if waits else "done")
    runtime.purge([other])
    assert blobs(runtime) == 1 and seeded_bytes(runtime)
    runtime.purge([here])
    assert blobs(runtime) == 0
    assert_gone(runtime)


def test_a_purge_of_the_reply_or_of_its_results_takes_the_whole_along(runtime: Runtime, tmp_path: Path) -> None:
    for index in (1, 2):
        runtime.new()
        model = script(tmp_path, {"tool_calls": [LOOK]}, {"text": "Seen."})
        answered(runtime, runtime.send("Look.", models=[model]))
        runtime.purge([runtime.path()[index].node.id])
        assert blobs(runtime) == 0
    assert_gone(runtime)
