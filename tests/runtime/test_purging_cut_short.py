"""A purge that is cut short: killed, failing, given up for a run that does not end; what the same purge does then."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import Conflict, Refused
from forkwood.domain.ids import ending
from forkwood.engine.driver import Driver
from forkwood.runtime import Runtime
from forkwood.runtime.purging import Purging
from forkwood.store import holding, purge, receipts
from tests.runtime import seeded
from tests.runtime.doors import NOON, said, texts
from tests.runtime.seeded import MARKER, assert_gone, seeded_bytes


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = seeded.opened(home)
    runtime.new()
    return runtime


def test_what_a_killed_purge_closed_stays_closed_and_the_same_purge_finishes_it(runtime: Runtime) -> None:
    conversation = runtime.conversation().id
    said(runtime, MARKER)
    with runtime.house.store.write() as tx:
        arguments = {"names": [conversation], "conversation": None, "everywhere": False}
        receipts.give(tx, "cli", "k", "purge", wire.digest(["purge", arguments]), None, NOON)
        purge.close(tx, 1)
    with pytest.raises(Refused, match="a purge of this conversation has begun") as refused:
        runtime.send("late")
    assert f"forkwood purge {ending(conversation)} finishes it" in refused.value.hint
    assert runtime.purge([conversation], key="k").conversations == (conversation,)
    assert_gone(runtime)


@pytest.mark.parametrize("key", ["k", None])
def test_a_purge_that_was_killed_before_it_wiped_wipes_when_it_is_sent_again(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    conversation = runtime.conversation().id
    said(runtime, MARKER)
    seeded.seed_files(runtime)
    with monkeypatch.context() as patched:
        patched.setattr("forkwood.store.leftovers.wipe", seeded.never)
        with pytest.raises(KeyboardInterrupt):
            runtime.purge([conversation], key=key)
    assert seeded_bytes(runtime) != []
    report = runtime.purge([conversation], key=key)
    assert (report.conversations, len(report.nodes)) == ((conversation,), 1)
    assert_gone(runtime)
    assert replace(runtime.purge([ending(conversation)]), files=report.files) == report
    assert [event.kind for event in runtime.log()].count("purge.done") == 1


def test_panelot_57_a_purge_that_fails_leaves_the_conversation_open_and_no_receipt(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = runtime.conversation().id
    said(runtime, MARKER)
    with monkeypatch.context() as patched:
        patched.setattr("forkwood.store.purge.destroy", seeded.never)
        with pytest.raises(KeyboardInterrupt):
            runtime.purge([conversation], key="k")
    runtime.cancel(runtime.send("on").runs[0])
    assert runtime.purge([runtime.new().id], key="k").conversations != (conversation,)
    runtime.purge([conversation])
    assert_gone(runtime)


def test_panelot_56_a_run_that_does_not_end_is_waited_for_so_long_and_then_the_purge_is_given_up(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = runtime.conversation().id
    [run] = runtime.send(MARKER).runs
    other = Driver.start(Path(runtime.house.settings.home) / "drivers", runtime.house.new_id)
    with runtime.house.store.write() as tx:
        holding.hold(tx, run, other.name, NOON)
    with monkeypatch.context() as patched:
        patched.setattr(limits, "purge_wait_seconds", 0.1)
        with pytest.raises(Conflict, match="does not end") as given_up:
            runtime.purge([conversation])
    assert f"forkwood purge {conversation} again" in given_up.value.hint
    assert runtime.path()[0].node.text == MARKER
    with runtime.house.store.read() as tx:
        assert not purge.closing(tx, 1)
    other.close()
    runtime.purge([conversation])
    assert_gone(runtime)


def test_a_run_that_began_since_the_others_were_ended_keeps_the_purge_from_its_words(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = runtime.conversation().id
    [run] = runtime.send(MARKER).runs
    with monkeypatch.context() as patched:
        patched.setattr(Purging, "_end_runs", lambda *_: None)
        with pytest.raises(Conflict, match="does not end") as given_up:
            runtime.purge([conversation])
    assert given_up.value.facts["run"] == run
    assert texts(runtime) == [MARKER]
    runtime.purge([conversation])
    assert_gone(runtime)
