"""Purge: a seeded marker is in no byte of the home afterwards; husks stay, and what is carried elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, NotFound, Refused, StoreUnusable
from forkwood.domain.event import NoticeGiven
from forkwood.domain.ids import ending
from forkwood.runtime import Runtime
from forkwood.store import conversations, log, names
from forkwood.store.db import Store
from tests.runtime import seeded
from tests.runtime.doors import NOON, answered, said, script, texts
from tests.runtime.seeded import MARKER, assert_gone, problems, seeded_bytes


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = seeded.opened(home)
    runtime.new()
    return runtime


def test_a_seeded_marker_is_in_no_byte_of_the_home_after_a_purge(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = runtime.conversation().id
    seeded.seed_settings(runtime)
    nodes = seeded.seed_messages(runtime, tmp_path)
    seeded.seed_memory(runtime, tmp_path)
    seeded.fail_quoting(runtime, tmp_path, monkeypatch)
    seeded.fail_quoting(runtime, tmp_path, monkeypatch, after_chars=3)
    seeded.summarise(runtime, 2)
    [killed] = runtime.send("go on").runs
    seeded.draft(runtime, killed)
    seeded.seed_files(runtime)
    assert len(seeded_bytes(runtime)) > 4
    report = runtime.purge([conversation], key="purge")
    assert_gone(runtime)
    assert report.conversations == (conversation,)
    assert set(nodes) <= set(report.nodes)
    assert any("exports" in place for place in report.out_of_reach)
    with pytest.raises(NotFound):
        runtime.conversation(conversation)


def test_messages_alone_leave_no_byte_either(runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = seeded.seed_messages(runtime, tmp_path)
    runtime.label(nodes[0], f"another {MARKER}")
    failed = seeded.fail_quoting(runtime, tmp_path, monkeypatch)
    seeded.fail_quoting(runtime, tmp_path, monkeypatch, after_chars=3)
    with runtime.house.store.write() as tx:
        notice = NoticeGiven(what="reply", text=f"no title was given to '{MARKER}'")
        log.write(tx, notice, who=runtime.house.who, now_ms=NOON, conversation=1, node=6)
    seeded.summarise(runtime, 2)
    seeded.seed_files(runtime)
    runtime.purge(nodes)
    assert_gone(runtime)
    [row] = [run for run in runtime.runs() if run.id == failed]
    assert row.error is not None
    assert (row.error["kind"], row.error["reason"]) == ("provider", "invalid_request")
    assert [entry.node.text for entry in runtime.path() if not entry.node.purged] == [
        "what now?",
        "what now?",
        "so far",
    ]


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
    assert_gone(runtime)


def test_every_version_of_a_message_goes_and_every_other_message_stays(runtime: Runtime) -> None:
    ids = said(runtime, f"{MARKER} 1", "a1", "q2")
    second = runtime.edit(ids[0], f"{MARKER} 2", run=False).node.id
    third = runtime.edit(second, f"{MARKER} 3", run=False).node.id
    report = runtime.purge([second])
    assert set(report.nodes) == {ids[0], second, third}
    assert_gone(runtime)
    assert texts(runtime, ids[2])[1:] == ["a1", "q2"]


def test_what_its_own_conversation_carries_does_not_stay_for_that(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", MARKER, "a2")
    runtime.drop(ids[1])
    report = runtime.purge([ids[2]])
    assert (report.nodes, report.kept) == ((ids[2],), ())
    assert_gone(runtime)


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
    assert_gone(runtime)
    assert texts(runtime)[-1] == "a1"


def test_what_only_a_purged_conversation_carried_goes(runtime: Runtime) -> None:
    source = runtime.conversation().id
    ids = said(runtime, MARKER, "a1")
    fork = runtime.fork(ids[1], title="a fork").id
    assert runtime.purge([fork]).nodes == ()
    report = runtime.purge([source])
    assert (report.nodes, report.kept) == (tuple(ids), ())
    assert_gone(runtime)


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


def test_a_key_made_of_what_is_purged_goes_and_is_known_when_it_comes_again(runtime: Runtime) -> None:
    other = runtime.send("q", run=False, key="a key of others").node
    sent = runtime.send(MARKER, run=False, key=MARKER).node
    assert sent is not None
    assert other is not None
    runtime.purge([sent.id])
    assert_gone(runtime)
    again = runtime.send(MARKER, run=False, key=MARKER).node
    assert again is not None
    assert (again.id, len(runtime.path())) == (sent.id, 2)
    with pytest.raises(Conflict):
        runtime.send("other words", run=False, key=MARKER)
    with runtime.house.store.read() as tx:
        keys = {key for (key,) in tx.rows("SELECT key FROM receipt")}
    assert len(keys) == 2
    assert "a key of others" in keys


def test_what_a_purge_takes_is_bounded(runtime: Runtime) -> None:
    with pytest.raises(Misused):
        runtime.purge([])
    with pytest.raises(LimitExceeded):
        runtime.purge(["@"] * (limits.purge_names_max + 1))


# Purges that are cut short, given up, or sent again -----------------------------------------------------------------


def test_backups_go_also_where_a_reader_keeps_the_log_from_being_emptied(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = runtime.conversation().id
    said(runtime, MARKER)
    seeded.seed_files(runtime)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "checkpoint", lambda _: False)
        with pytest.raises(StoreUnusable) as unusable:
            runtime.purge([conversation])
    assert f"forkwood purge {conversation} again" in unusable.value.hint
    assert set(seeded_bytes(runtime)) <= {"forkwood.db-wal"}
    runtime.purge([conversation])
    assert_gone(runtime)


def test_no_free_page_is_left(runtime: Runtime) -> None:
    conversation = runtime.conversation().id
    said(runtime, MARKER * 10_000)
    runtime.purge([conversation])
    with runtime.house.store.read() as tx:
        assert tx.value("PRAGMA freelist_count") == 0
    assert_gone(runtime)


# What it must leave alone --------------------------------------------------------------------------------------------


def test_a_run_elsewhere_keeps_what_it_works_on_also_from_everywhere(runtime: Runtime) -> None:
    source = runtime.conversation().id
    ids = said(runtime, MARKER, "a1")
    fork = runtime.fork(ids[1], title="a fork").id
    [run] = runtime.send("on").runs
    with pytest.raises(Refused, match=f"{ending(ids[0])} cannot be purged: run {ending(run)} is at work") as refused:
        runtime.purge([source], everywhere=True)
    assert refused.value.facts["run"] == run
    assert texts(runtime)[0] == MARKER
    runtime.purge([source, fork], everywhere=True)
    assert_gone(runtime)
    assert [one.status for one in runtime.runs()] == ["cancelled"]


def test_a_partial_reply_of_a_run_that_goes_on_stays_until_it_is_over(runtime: Runtime) -> None:
    _, partial = said(runtime, "q", "so far")
    [run] = runtime.retry(partial).runs
    with runtime.house.store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("UPDATE node SET run = ? WHERE seq = 2", (bytes.fromhex(run),))
        tx.run("DELETE FROM purging")
    with pytest.raises(Refused, match="is at work"):
        runtime.purge([partial])


def test_a_surviving_reply_is_still_accounted_for_until_its_own_words_go(runtime: Runtime, tmp_path: Path) -> None:
    source = runtime.conversation().id
    runtime.set("system", f"Say {MARKER}.")
    started = runtime.send("q1", models=[script(tmp_path, {"text": "a1"})])
    reply = answered(runtime, started).node
    assert reply is not None
    runtime.fork(reply, title="a fork")
    runtime.set("system", "other")
    runtime.purge([source])
    kept = runtime.why(reply)
    assert (kept.verified, kept.reason) == (True, None)
    assert problems(runtime) == []
    runtime.purge([started.node.id], everywhere=True)
    half = runtime.why(reply)
    assert (half.verified, half.reason) == (None, "purged")
    assert half.manifest is not None
    runtime.purge([reply], everywhere=True)
    gone = runtime.why(reply)
    assert (gone.verified, gone.reason, gone.manifest) == (None, "purged", None)
    assert [event for event in runtime.log() if MARKER in str(event.payload)][-1].kind == "setting.changed"
    assert problems(runtime) == []


def test_the_same_model_answers_as_before_where_nothing_was_purged(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "a1"})
    first = runtime.conversation().id
    answered(runtime, runtime.send(MARKER, models=[model]))
    runtime.purge([first])
    runtime.new()
    result = answered(runtime, runtime.send("q1", models=[model]))
    assert result.status == "done"
    assert result.node is not None
    assert runtime.why(result.node).verified is True
    assert_gone(runtime)


@pytest.mark.parametrize("words", ["error", "parts", "title", "ok"])
def test_an_everyday_word_takes_nothing_of_others_along(runtime: Runtime, tmp_path: Path, words: str) -> None:
    said(runtime, words, "a1")
    runtime.new(title="t")
    answered(runtime, runtime.send("q", models=[script(tmp_path, {"text": words})]))
    before = [event for event in runtime.log() if event.conversation == runtime.conversation().id]
    with runtime.house.store.read() as tx:
        [node] = [names.node(tx, "#1")]
    runtime.purge([f"#{node}"])
    after = [event for event in runtime.log() if event.conversation == runtime.conversation().id]
    assert after == before
    assert problems(runtime) == []


def test_an_ending_that_a_husk_shares_is_refused(runtime: Runtime) -> None:
    conversation = runtime.conversation().id
    said(runtime, "q1")
    runtime.purge([conversation])
    twin = "f" * 24 + ending(conversation)
    runtime.new(title="t")
    with runtime.house.store.write() as tx:
        tx.run("UPDATE conversation SET id = ? WHERE seq = 2", (bytes.fromhex(twin),))
    with pytest.raises(NotFound, match="purged before") as unclear:
        runtime.purge([ending(conversation)])
    assert unclear.value.facts["candidates"] == [conversation]
    runtime.new(title="a third")
    with runtime.house.store.write() as tx:
        tx.run("UPDATE conversation SET id = ? WHERE seq = 3", (bytes.fromhex("e" * 24 + ending(conversation)),))
    with pytest.raises(NotFound) as unclear:
        runtime.purge([ending(conversation)])
    assert unclear.value.facts["candidates"] == [twin, "e" * 24 + ending(conversation)]
    assert runtime.purge([twin]).conversations == (twin,)


# What it reports -----------------------------------------------------------------------------------------------------


def test_the_report_counts_every_branch_once(runtime: Runtime) -> None:
    conversation = runtime.conversation().id
    ids = said(runtime, "q1", "a1", "q2")
    runtime.switch(ids[1], here=True)
    said(runtime, "r2")
    runtime.send("another beginning", at=None, run=False)
    fork = runtime.fork(ids[1]).id
    report = runtime.purge_preview([conversation], everywhere=True)
    assert (report.affects.branches, report.affects.conversations) == (3, tuple(sorted([conversation, fork])))
    assert runtime.purge_preview([ids[2]], conversation=conversation).affects.branches == 1
    assert runtime.purge_preview([ids[2], ids[1]], conversation=conversation, everywhere=True).affects.branches == 3


def test_a_label_whose_name_was_purged_is_not_brought_back(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    runtime.label(ids[0], MARKER)
    runtime.unlabel(MARKER)
    runtime.purge([ids[0]])
    runtime.undo()
    with runtime.house.store.read() as tx:
        assert conversations.labels(tx, 1) == {}
    assert_gone(runtime)
