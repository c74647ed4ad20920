"""Purge: a seeded marker is in no byte of the home afterwards; husks stay, and what is carried elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, NotFound, Refused
from forkwood.domain.event import NoticeGiven
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.runtime.upkeep import examine
from forkwood.store import backups, log
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, door, said, texts

MARKER = "Xyzzy the seeded marker 7f3a"
BYTES = (MARKER.encode(), MARKER.encode("utf-16-le"), MARKER.lower().encode(), b"xyzzy", b"7f3a")


@pytest.fixture
def runtime(home: Path) -> Runtime:
    settings = Settings(home=str(home), model="scripted:/nowhere.json")
    runtime = door(open_store(home, now_ms=NOON), settings)
    runtime.new()
    return runtime


def seeded_bytes(runtime: Runtime) -> list[str]:
    """The files of the home that hold a byte of the marker, in any spelling."""
    home = Path(runtime.house.settings.home)
    files = [path for path in sorted(home.rglob("*")) if path.is_file()]
    assert files
    return [path.name for path in files if any(spelled in path.read_bytes() for spelled in BYTES)]


def seed_everywhere(runtime: Runtime, tmp_path: Path) -> list[str]:
    """A conversation whose every book holds the marker: messages, titles, settings, labels, receipts, files, errors."""
    note = tmp_path / "note.txt"
    note.write_text(MARKER * 400)
    first = runtime.send(f"{MARKER} first", attach=[note], run=False, key="receipt 1").node.id
    reply = runtime.send(f"a reply of {MARKER}", role="assistant", key="receipt 2").node.id
    runtime.edit(first, f"{MARKER} again", run=False)
    runtime.switch(reply)
    runtime.set("system", f"Never say {MARKER}.")
    runtime.set("system", "other")
    runtime.set("tags", MARKER)
    runtime.set("folder", MARKER)
    runtime.label(reply, f"{MARKER} label")
    runtime.undo()
    runtime.redo()
    runtime.hide(reply)
    runtime.drop(reply)
    with runtime.house.store.write() as tx:
        here = {"conversation": 1, "who": runtime.house.who, "now_ms": NOON}
        log.write(tx, NoticeGiven(what="repair", text=f"found {MARKER}"), node=1, **here)  # type: ignore[arg-type]
    return [first, reply]


def test_a_seeded_marker_is_in_no_byte_of_the_home_after_a_purge(runtime: Runtime, tmp_path: Path) -> None:
    seed_everywhere(runtime, tmp_path)
    home = Path(runtime.house.settings.home)
    conversation = runtime.conversation().id
    with runtime.house.store.read() as tx:
        backups.make(tx.connection, home, version=1, now_ms=NOON)
    (home / "salvage-1.jsonl").write_text(json.dumps({"text": MARKER}))
    assert seeded_bytes(runtime)
    report = runtime.purge([conversation], key="purge")
    assert seeded_bytes(runtime) == []
    assert report.conversations == (conversation,)
    assert len(report.nodes) == 3
    assert any("exports" in place for place in report.out_of_reach)
    with pytest.raises(NotFound):
        runtime.conversation(conversation)


def test_what_is_left_is_a_husk_with_its_place_role_and_time(runtime: Runtime) -> None:
    ids = said(runtime, "q1", MARKER, "q2")
    before = runtime.show(ids[1]).node
    runtime.purge([ids[1]])
    after = runtime.show(ids[1]).node
    assert (after.parts, after.text, after.purged) == ((), "", True)
    assert (after.at, after.role, after.created_ms, after.length) == (
        before.at,
        before.role,
        before.created_ms,
        before.length,
    )
    assert [entry.node.purged for entry in runtime.path(hidden=True)] == [False, True, False]
    assert seeded_bytes(runtime) == []


def test_every_version_of_a_message_goes_and_every_other_message_stays(runtime: Runtime) -> None:
    ids = said(runtime, f"{MARKER} 1", "a1", "q2")
    second = runtime.edit(ids[0], f"{MARKER} 2", run=False).node.id
    third = runtime.edit(second, f"{MARKER} 3", run=False).node.id
    report = runtime.purge([second])
    assert set(report.nodes) == {ids[0], second, third}
    assert seeded_bytes(runtime) == []
    assert texts(runtime, ids[2])[1:] == ["a1", "q2"]


def test_titles_made_of_a_purged_message_go_with_it_also_in_forks(runtime: Runtime) -> None:
    ids = said(runtime, MARKER, "a1")
    fork = runtime.fork(ids[1])
    assert fork.title == f"{MARKER} (fork)"
    runtime.drop(ids[0])
    runtime.purge([ids[0]], everywhere=True)
    assert seeded_bytes(runtime) == []
    assert [row.title for row in runtime.listed()] == ["", ""]


def test_what_another_conversation_carries_stays_and_is_named_unless_everywhere(runtime: Runtime) -> None:
    source = runtime.conversation().id
    ids = said(runtime, MARKER, "a1", f"{MARKER} own")
    runtime.fork(ids[1], title="a fork")
    report = runtime.purge([source])
    assert set(report.kept) == {ids[0], ids[1]}
    assert report.nodes == (ids[2],)
    assert texts(runtime) == [MARKER, "a1"]
    report = runtime.purge([ids[0]], everywhere=True)
    assert (report.nodes, report.kept) == ((ids[0],), ())
    assert seeded_bytes(runtime) == []
    assert texts(runtime)[-1] == "a1"


def test_runs_of_a_purged_conversation_end_first(runtime: Runtime) -> None:
    conversation = runtime.conversation().id
    [run] = runtime.send(MARKER).runs
    with pytest.raises(Refused, match="is at work"):
        runtime.purge(["@"])
    runtime.purge([conversation])
    assert [(one.id, one.status) for one in runtime.runs()] == [(run, "cancelled")]


def test_a_purge_is_shown_before_it_is_done(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    going = runtime.purge_preview([ids[0]])
    assert going.nodes == (ids[0],)
    assert texts(runtime) == ["q1", "a1"]


def test_the_same_purge_again_says_the_same(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    first = runtime.purge([ids[0]], key="k")
    assert runtime.purge([ids[0]], key="k") == first
    with pytest.raises(Conflict, match="another command"):
        runtime.purge([ids[1]], key="k")


def test_a_purge_that_was_killed_half_way_is_finished_by_the_same_command(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = runtime.conversation().id
    said(runtime, MARKER)

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("forkwood.store.purge.destroy", dies)
        with pytest.raises(KeyboardInterrupt):
            runtime.purge([conversation], key="k")
    with pytest.raises(Refused, match="a purge of this conversation has begun"):
        runtime.send("late")
    assert runtime.purge([conversation], key="k").conversations == (conversation,)
    assert seeded_bytes(runtime) == []


def test_after_a_purge_the_store_is_sound(runtime: Runtime, tmp_path: Path) -> None:
    ids = said(runtime, MARKER, "a1", "q2")
    runtime.drop(ids[1])
    runtime.fork(ids[2])
    seed_everywhere(runtime, tmp_path)
    runtime.purge([ids[0]], everywhere=True)
    assert examine(runtime.house.settings, "cli").problems == ()


def test_what_a_purge_takes_is_bounded(runtime: Runtime) -> None:
    with pytest.raises(Misused):
        runtime.purge([])
    with pytest.raises(LimitExceeded):
        runtime.purge(["@"] * (limits.purge_names_max + 1))
