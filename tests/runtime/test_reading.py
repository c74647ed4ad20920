"""Reading: what was said, beside what, and what was done."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import Misused
from forkwood.runtime import Runtime
from tests.runtime.doors import answered, door, said, script, texts


@pytest.fixture
def runtime() -> Runtime:
    runtime = door()
    runtime.new(title="t")
    return runtime


def test_history_has_every_version_oldest_first(runtime: Runtime) -> None:
    [first] = said(runtime, "q1")
    second = runtime.edit(first, "q1'", run=False).node.id
    third = runtime.edit(first, "q1''", run=False).node.id
    fourth = runtime.edit(second, "q1'''", run=False).node.id
    for name in (first, second, third, fourth):
        assert [node.text for node in runtime.history(name)] == ["q1", "q1'", "q1''", "q1'''"]
    assert [node.revises for node in runtime.history(first)] == [None, first, first, second]


def test_branches_are_leaves_with_their_last_words(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    edited = runtime.edit(ids[1], "a1'")
    assert [(one.leaf, one.text, one.length, one.head) for one in runtime.branches()] == [
        (edited.node.id, "a1'", 2, True),
        (ids[2], "q2", 3, False),
    ]


def test_the_tree_has_the_conversations_own_nodes_by_age(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    graft = runtime.drop(ids[1]).node
    assert graft is not None
    runtime.hide(ids[1])
    assert [(node.id, node.kind, node.hidden) for node in runtime.tree()] == [
        (ids[0], "message", False),
        (ids[1], "message", True),
        (ids[2], "message", False),
        (graft.id, "graft", False),
    ]


def test_equal_paths_have_equal_digests_and_others_not(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    before = runtime.show(ids[2])
    runtime.new(title="the same words")
    again = said(runtime, "q1", "a1", "q2", "a2")
    assert (runtime.show(again[2]).digest, runtime.show(again[2]).match_digest) == (before.digest, before.match_digest)
    assert runtime.show(again[3]).digest != before.digest
    runtime.hide(again[0])
    assert runtime.show(again[2]).digest == before.digest, "a mark changes no digest"


def test_the_log_goes_on_behind_a_number(runtime: Runtime) -> None:
    said(runtime, "q1")
    whole = list(runtime.log())
    assert [event.kind for event in whole] == ["conversation.created", "message.sent"]
    assert list(runtime.log(after=whole[0].seq)) == whole[1:]
    for number in (-1, 1 << 63):
        with pytest.raises(Misused):
            list(runtime.log(after=number))


def test_the_log_is_read_to_its_end_in_stretches(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forkwood.runtime.reading.LOG_ROWS", 3)
    said(runtime, *map(str, range(7)))
    assert [event.seq for event in runtime.log()] == list(range(1, 9))


def test_search_finds_words_of_any_branch(runtime: Runtime) -> None:
    ids = said(runtime, "about sourdough", "yes")
    runtime.edit(ids[0], "about rye", run=False)
    found = runtime.search("sourdough")
    assert [hit.node for hit in found.hits] == [ids[0]]
    runtime.hide(ids[0])
    assert [hit.hidden for hit in runtime.search("sourdough").hits] == [True]


def test_the_path_of_a_message_ends_with_it(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    assert texts(runtime, ids[1]) == ["q1", "a1"]
    entries = runtime.path(ids[1])
    assert [entry.at for entry in entries] == [None, ids[0]]


def test_the_model_of_the_last_reply_before_a_run_is_found_however_far_up_it_stands(
    runtime: Runtime, tmp_path: Path
) -> None:
    model = script(tmp_path, {"text": "yes"})
    sent = runtime.send("hi", models=[model])
    assert runtime.replied_before(sent.runs[0]) is None
    answered(runtime, sent)
    said(runtime, *"abcdefghijklmnopqrst")
    assert runtime.replied_before(runtime.send("again").runs[0]) == model
