"""What is said while a run is at work: it waits, steers, is changed and taken out, taken back, held and let go on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, NotFound, Refused
from forkwood.domain.response import Started
from forkwood.domain.settings import Settings
from forkwood.domain.watch import Result
from forkwood.engine.driver import Driver
from forkwood.runtime import Runtime
from forkwood.store import backups, holding
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, heard, script, texts


@pytest.fixture
def runtime(home: Path, tmp_path: Path) -> Runtime:
    model = script(tmp_path, {"text": "an answer"})
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model=model))
    runtime.new(title="t")
    return runtime


def states(runtime: Runtime) -> list[tuple[str, str]]:
    return [(one.text, one.state) for one in runtime.queue()]


def queued(runtime: Runtime, *words: str, **how: Any) -> list[str]:
    """Queue WORDS at the head; the names of what waits."""
    names = [runtime.send(word, **how).queued for word in words]
    assert all(names)
    return [name for name in names if name]


def test_a_send_at_the_tip_of_a_run_at_work_is_no_node_yet_and_no_run(runtime: Runtime, tmp_path: Path) -> None:
    first = runtime.send("one")
    both = tuple(script(tmp_path, {"text": "yes"}, name=file) for file in ("a.json", "b.json"))
    later = runtime.send("two", models=both)
    assert (later.runs, later.node) == ((), first.node)
    [found] = runtime.queue()
    assert (found.id, found.behind, found.text, found.state) == (later.queued, first.runs[0], "two", "waiting")
    assert (found.models, found.node, found.steers) == (both, None, False)
    assert (texts(runtime), len(runtime.runs())) == (["one"], 1)
    assert runtime.conversation().head == first.node.id
    assert runtime.queued(found.id[-6:]) == found


def test_the_queue_goes_on_behind_the_reply(runtime: Runtime) -> None:
    first = runtime.send("one")
    queued(runtime, "two", "three")
    seen = heard(runtime, first)
    assert texts(runtime) == ["one", "an answer", "two", "an answer", "three", "an answer"]
    results = [item for item in seen if isinstance(item, Result)]
    assert [one.run == first.runs[0] for one in results] == [False, False, True]
    assert (runtime.queue(), runtime.left()) == ([], [])


def test_elsewhere_nothing_waits(runtime: Runtime) -> None:
    first = runtime.send("one")
    edited = runtime.edit(first.node.id, "one'", run=False)
    assert runtime.send("two").runs and runtime.queue() == []
    assert runtime.send("beside", at=edited.node.id).queued is None
    assert runtime.send("three", at=first.node.id).queued is not None


def test_steering_needs_a_run_at_work_and_takes_no_model_of_its_own(runtime: Runtime) -> None:
    with pytest.raises(Conflict, match="nothing to steer"):
        runtime.send("left!", steer=True)
    runtime.send("one")
    for how in ({"models": ["scripted:/a.json"]}, {"run": False}, {"role": "assistant"}):
        with pytest.raises(Misused, match="a steering message"):
            runtime.send("left!", steer=True, **how)
    assert runtime.queue() == []


def test_panelot_36_a_steer_moves_nothing_before_it_is_taken(runtime: Runtime) -> None:
    first = runtime.send("one")
    head = runtime.conversation().head
    [name] = queued(runtime, "left!", steer=True)
    assert (runtime.conversation().head, texts(runtime)) == (head, ["one"])
    answered(runtime, first)
    assert texts(runtime) == ["one", "left!", "an answer"]
    assert runtime.queued(name).node == runtime.path()[1].node.id
    assert runtime.path()[1].node.origin.by == "user"


def test_panelot_37_a_run_that_is_over_is_not_steered(runtime: Runtime) -> None:
    first = runtime.send("one")
    answered(runtime, first)
    with pytest.raises(Conflict, match="nothing to steer"):
        runtime.send("left!", steer=True)
    assert texts(runtime) == ["one", "an answer"]


def test_panelot_38_only_what_waits_can_be_changed_or_taken_out(runtime: Runtime, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("words")
    first = runtime.send("one")
    a, b, c = queued(runtime, "a", "b", "c", attach=[note])
    changed = runtime.queue_edit(a[-8:], "a'")
    assert (changed.id, changed.text, len(changed.parts)) == (a, "a'", 2)
    assert runtime.queue_remove(b).state == "removed"
    assert states(runtime) == [("a'", "waiting"), ("c", "waiting")]
    answered(runtime, first)
    assert [text for text in texts(runtime) if text != "an answer"] == ["one", "a'", "c"]
    for name, now in ((a, "was sent"), (b, "was removed"), (c, "was sent")):
        with pytest.raises(Conflict, match=now):
            runtime.queue_edit(name, "x")
        with pytest.raises(Conflict, match=now):
            runtime.queue_remove(name)
    with pytest.raises(NotFound):
        runtime.queue_remove("beefbeef")
    with pytest.raises(Misused):
        runtime.queue_edit(a, " ")


def test_a_steer_that_is_taken_out_in_time_never_comes(runtime: Runtime) -> None:
    first = runtime.send("one")
    a, b = queued(runtime, "a", "b", steer=True)
    runtime.queue_edit(a, "a'")
    runtime.queue_remove(b)
    answered(runtime, first)
    assert texts(runtime) == ["one", "a'", "an answer"]


def test_the_33rd_is_refused_and_nothing_of_it_is_stored(runtime: Runtime, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("only here")
    runtime.send("one")
    queued(runtime, *map(str, range(limits.queue_max)))
    before = len(list(runtime.log()))
    with pytest.raises(LimitExceeded) as refused:
        runtime.send("too many", attach=[note], key="k")
    assert (refused.value.facts["limit"], refused.value.facts["bound"]) == ("queue_max", 32)
    with runtime.house.store.read() as tx:
        assert tx.value("SELECT count(*) FROM blob") == tx.value("SELECT count(*) FROM receipt") == 0
    assert len(list(runtime.log())) == before


def test_after_a_cancel_the_queue_is_held_until_somebody_goes_on_there(runtime: Runtime) -> None:
    [run] = runtime.send("one").runs
    queued(runtime, "two", "three")
    runtime.cancel(run)
    assert states(runtime) == [("two", "held"), ("three", "held")]
    on = runtime.send("instead")
    assert (len(on.released), states(runtime)) == (2, [("two", "waiting"), ("three", "waiting")])
    answered(runtime, on)
    assert [text for text in texts(runtime) if text != "an answer"] == ["one", "instead", "two", "three"]


def test_a_send_after_a_cancel_comes_next_though_the_run_has_not_ended(runtime: Runtime, home: Path) -> None:
    first = runtime.send("one")
    _, gone = queued(runtime, "early", "gone")
    runtime.queue_remove(gone)
    other = Driver.start(home / "drivers", runtime.house.new_id)
    with runtime.house.store.write() as tx:
        holding.hold(tx, first.runs[0], other.name, runtime.house.clock())
    assert runtime.cancel(first.runs[0]).status == "running", "another has it, and looks in a moment"
    runtime.undo()
    late = runtime.send("late")
    assert late.queued and states(runtime) == [("early", "held"), ("gone", "held"), ("late", "waiting")]
    other.close()
    answered(runtime, first)
    assert [text for text in texts(runtime) if text != "an answer"] == ["one", "late", "early", "gone"]


def test_a_resume_lets_it_go_on_too(runtime: Runtime) -> None:
    [run] = runtime.send("one").runs
    names = queued(runtime, "two")
    runtime.cancel(run)
    again = runtime.resume(run)
    assert again.released == tuple(names)
    answered(runtime, again)
    assert texts(runtime) == ["one", "an answer", "two", "an answer"]


def test_what_is_held_stays_where_it_is_while_a_person_speaks_elsewhere(runtime: Runtime) -> None:
    first = runtime.send("one")
    queued(runtime, "two")
    runtime.cancel(first.runs[0])
    runtime.edit(first.node.id, "one'", run=False)
    answered(runtime, runtime.send("elsewhere"))
    assert (texts(runtime), states(runtime)) == (["one'", "elsewhere", "an answer"], [("two", "held")])
    runtime.switch(first.node.id, here=True)
    assert runtime.send("by hand", run=False).released == ()
    answered(runtime, runtime.send("there"))
    assert texts(runtime) == ["one", "by hand", "there", "an answer", "two", "an answer"]


def test_undo_takes_a_queued_message_out_and_redo_brings_it_back(runtime: Runtime) -> None:
    first = runtime.send("one")
    for steer in (False, True):
        queued(runtime, "two", steer=steer)
        runtime.undo()
        assert (runtime.queue(), texts(runtime)) == ([], ["one"])
        runtime.redo()
        assert states(runtime) == [("two", "waiting")]
        runtime.undo()
    queued(runtime, "a")
    [name] = [one.id for one in runtime.queue()]
    runtime.queue_edit(name, "b")
    runtime.queue_remove(name)
    seen = []
    for _ in range(3):
        runtime.undo()
        seen.append(states(runtime))
    assert seen == [[("b", "waiting")], [("a", "waiting")], []]
    for _ in range(3):
        runtime.redo()
        seen.append(states(runtime))
    assert seen[3:] == [[("a", "waiting")], [("b", "waiting")], []]
    answered(runtime, first)
    assert texts(runtime) == ["one", "an answer"]


def test_undo_of_one_that_was_sent_by_then_ends_its_run_and_goes_back(runtime: Runtime) -> None:
    first = runtime.send("one")
    [name] = queued(runtime, "two")
    driven_to_its_end(runtime, first)
    assert texts(runtime) == ["one", "an answer", "two"]
    [run] = runtime.queued(name).runs
    runtime.undo()
    assert texts(runtime) == ["one", "an answer"]
    assert {one.id: one.status for one in runtime.runs()}[run] == "cancelled"
    runtime.redo()
    assert texts(runtime) == ["one", "an answer", "two"]


def driven_to_its_end(runtime: Runtime, started: Started) -> None:
    """Drive the run itself, as a process that died right behind its end: what the queue opened is left."""

    async def alone() -> None:
        engine = runtime.house.engine
        engine.start(started.runs[0])
        await asyncio.wait(list(engine._tasks.values()))

    asyncio.run(alone())


def test_undo_of_a_steer_that_was_taken_changes_nothing_that_was_said(runtime: Runtime) -> None:
    first = runtime.send("one")
    queued(runtime, "left!", steer=True)
    answered(runtime, first)
    runtime.undo()
    assert texts(runtime) == ["one", "left!", "an answer"]
    runtime.undo()
    assert texts(runtime) == [], "and the act before is next"


def test_a_keyed_send_that_is_queued_is_done_once(runtime: Runtime, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("words")
    first = runtime.send("one")
    later = runtime.send("two", attach=[note], key="k")
    assert runtime.send("two", attach=[note], key="k") == later
    note.unlink()
    assert runtime.send("two", attach=[note], key="k") == later
    assert len(runtime.queue()) == 1
    with pytest.raises(Conflict, match="used for another command"):
        runtime.send("two", attach=[note], steer=True, key="k")
    answered(runtime, first)
    assert runtime.send("two", attach=[note], key="k") == later, "also when it was sent by then"
    assert texts(runtime)[2:3] == ["two"]


def test_panelot_58_a_purge_that_has_begun_and_the_trash_take_nothing_in(runtime: Runtime) -> None:
    first = runtime.send("one")
    with runtime.house.store.write() as tx:
        tx.run("UPDATE conversation SET closing = 1")
    with pytest.raises(Refused, match="purge of this conversation has begun"):
        runtime.send("two")
    with runtime.house.store.write() as tx:
        tx.run("UPDATE conversation SET closing = 0")
    runtime.hide(runtime.conversation().id)
    with pytest.raises(Refused, match="in the trash"):
        runtime.send("two", at=first.node.id)


def test_a_purged_conversation_leaves_nothing_of_its_queue(runtime: Runtime, home: Path, tmp_path: Path) -> None:
    marker = "zq-marker-0815"
    note = tmp_path / "note.txt"
    note.write_text(f"attached {marker}")
    here = runtime.conversation().id
    runtime.send("one", key="first")
    a, b = queued(runtime, f"a {marker}", f"b {marker}", attach=[note], key=None)
    runtime.queue_edit(a, f"a' {marker}", key="edit")
    runtime.queue_remove(b, key="remove")
    queued(runtime, f"s {marker}", steer=True, key="steer")
    runtime.purge([here])
    runtime.close()
    assert not [file for file in home.rglob("*") if file.is_file() and marker.encode() in file.read_bytes()]
    assert Runtime.doctor(Settings(home=str(home)), via="cli").problems == ()


def test_a_purged_message_leaves_nothing_of_what_it_said_in_the_queue(runtime: Runtime, home: Path) -> None:
    first = runtime.send("one")
    [name] = queued(runtime, "zq-marker-0816 before")
    runtime.queue_edit(name, "zq-marker-0816 after", key="edit")
    answered(runtime, first)
    node = runtime.queued(name).node
    assert node is not None
    runtime.purge([node])
    runtime.close()
    assert not [file for file in home.rglob("*") if file.is_file() and b"zq-marker-0816" in file.read_bytes()]


def test_a_store_with_a_queue_is_sound(runtime: Runtime, home: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("words")
    first = runtime.send("one")
    queued(runtime, "a", attach=[note])
    queued(runtime, "b", steer=True)
    answered(runtime, first)
    runtime.send("more")
    queued(runtime, "c", attach=[note])
    runtime.close()
    assert Runtime.doctor(Settings(home=str(home)), via="cli").problems == ()


def test_what_waits_for_a_run_that_was_lost_comes_behind_what_is_said_next(runtime: Runtime) -> None:
    first = runtime.send("one")
    [name, gone] = queued(runtime, "two", "three")
    runtime.queue_remove(gone)
    with runtime.house.store.write() as tx:
        tx.run("UPDATE queued SET behind = zeroblob(16)")
        tx.run("DELETE FROM run")
    runtime.undo()
    assert states(runtime) == [("two", "waiting"), ("three", "held")]
    on = runtime.send("next", at=first.node.id)
    assert on.released == (name, gone)
    answered(runtime, on)
    assert [text for text in texts(runtime) if text != "an answer"] == ["one", "next", "two", "three"]


def test_a_backup_in_which_a_purged_message_only_waited_says_nothing_of_it(runtime: Runtime, home: Path) -> None:
    first = runtime.send("one")
    [name] = queued(runtime, "zq-marker-0817")
    runtime.queue_edit(name, "zq-marker-0817 again")
    with runtime.house.store.write() as tx:
        version = tx.connection.pragma("user_version")
    with runtime.house.store.read() as tx:
        backups.make(tx.connection, home, version=version, now_ms=NOON)
    answered(runtime, first)
    node = runtime.queued(name).node
    assert node is not None
    runtime.purge([node])
    runtime.close()
    assert not [file for file in home.rglob("*") if file.is_file() and b"zq-marker-0817" in file.read_bytes()]
    assert list((home / "backups").iterdir()), "the backup stays"
