"""The shape of the tree: drop, carry, fork, switch, label, hide."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused, NotFound, Refused
from forkwood.runtime import Runtime
from forkwood.runtime.shaping import forked_title
from tests.runtime.doors import door, said, texts, with_tools


@pytest.fixture
def runtime() -> Runtime:
    runtime = door()
    runtime.new()
    return runtime


def forked_in_two(runtime: Runtime) -> tuple[list[str], list[str]]:
    """q1 a1 q2 a2, and from a1 also r2 b2: the ids along each; the head stands on the first."""
    first = said(runtime, "q1", "a1", "q2", "a2")
    runtime.switch(first[1], here=True)
    second = said(runtime, "r2", "b2")
    runtime.switch(first[3])
    return first, [*first[:2], *second]


def test_a_node_with_two_branches_is_edited(runtime: Runtime) -> None:
    one, two = forked_in_two(runtime)
    runtime.edit(one[1], "a1'")
    assert texts(runtime) == ["q1", "a1'"]
    assert texts(runtime, one[3]) == ["q1", "a1", "q2", "a2"]
    assert texts(runtime, two[3]) == ["q1", "a1", "r2", "b2"]


def test_a_node_with_two_branches_is_edited_and_what_followed_kept(runtime: Runtime) -> None:
    one, two = forked_in_two(runtime)
    runtime.edit(one[1], "a1'", keep=True)
    assert texts(runtime) == ["q1", "a1'", "q2", "a2"]
    runtime.edit(two[1], "a1''", keep=True, on=two[3])
    assert texts(runtime) == ["q1", "a1''", "r2", "b2"]
    assert texts(runtime, "#4") == ["q1", "a1", "q2", "a2"]
    runtime.switch(one[1], here=True)
    assert texts(runtime, one[3]) == ["q1", "a1", "q2", "a2"], "both branches stand as they were"
    assert texts(runtime, two[3]) == ["q1", "a1", "r2", "b2"]


def test_a_node_with_two_branches_is_dropped_from_one(runtime: Runtime) -> None:
    one, two = forked_in_two(runtime)
    moved = runtime.drop(one[1])
    assert moved.node is not None
    assert (moved.node.kind, moved.node.count, moved.head) == ("graft", 2, moved.node.id)
    assert texts(runtime) == ["q1", "q2", "a2"]
    runtime.switch(two[3])
    assert texts(runtime) == ["q1", "a1", "r2", "b2"]
    assert texts(runtime, one[3]) == ["q1", "a1", "q2", "a2"], "the branch it was dropped from stands as it was"


def test_a_node_with_two_branches_is_hidden_on_both_and_shown_again(runtime: Runtime) -> None:
    one, two = forked_in_two(runtime)
    touched = runtime.hide(one[1])
    assert (touched.affects.branches, touched.nodes) == (2, (one[1],))
    assert "drop" in touched.affects.note
    assert texts(runtime) == ["q1", "q2", "a2"]
    assert texts(runtime, two[3]) == ["q1", "r2", "b2"]
    assert texts(runtime, one[3]) == ["q1", "q2", "a2"]
    assert runtime.unhide(one[1]).affects.note == "", "nothing local brings it back"
    assert texts(runtime, one[3]) == ["q1", "a1", "q2", "a2"]
    assert texts(runtime, two[3]) == ["q1", "a1", "r2", "b2"]


def test_a_sibling_is_not_in_the_path(runtime: Runtime) -> None:
    one, two = forked_in_two(runtime)
    ids = [entry.node.id for entry in runtime.path(one[3])]
    assert ids == one
    assert not set(two[2:]) & set(ids)


def test_pain_16_hide_leaves_one_message_out_and_what_follows_stays(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    head = runtime.conversation().head
    runtime.hide(ids[1])
    assert texts(runtime) == ["q1", "q2", "a2"]
    assert [entry.node.hidden for entry in runtime.path(hidden=True)] == [False, True, False, False]
    assert runtime.conversation().head == head
    assert [node.id for node in runtime.trash().nodes] == [ids[1]]
    assert runtime.hide(ids[1]).nodes == ()
    runtime.unhide(ids[1])
    assert texts(runtime) == ["q1", "a1", "q2", "a2"]


def test_hiding_a_member_of_a_tool_group_hides_both(runtime: Runtime) -> None:
    ids = with_tools(runtime)
    assert set(runtime.hide(ids[2]).nodes) == {ids[1], ids[2]}
    assert texts(runtime) == ["q1", "noon it is"]
    runtime.unhide(ids[1])
    runtime.drop(ids[1])
    assert [entry.node.id for entry in runtime.path()] == [ids[0], ids[3]]


def test_pain_17_a_conversation_goes_to_the_trash_and_comes_back(runtime: Runtime) -> None:
    said(runtime, "q1")
    here = runtime.conversation().id
    assert runtime.hide(here).conversation == here
    assert runtime.listed() == []
    assert [row.id for row in runtime.trash().conversations] == [here]
    runtime.unhide(here)
    assert [row.id for row in runtime.listed()] == [here]
    assert texts(runtime) == ["q1"]


def test_dropping_the_last_message_appends_nothing(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    moved = runtime.drop(ids[1])
    assert (moved.node, moved.head) == (None, ids[0])
    assert runtime.drop(ids[0]).head is None
    assert texts(runtime) == []
    assert texts(runtime, ids[1]) == ["q1", "a1"]


def test_two_messages_of_another_branch_are_carried_by_one_row(runtime: Runtime) -> None:
    _, two = forked_in_two(runtime)
    rows = len(runtime.tree())
    with pytest.raises(Refused, match="not both on the head's path") as refused:
        runtime.graft(two[2], two[3])
    assert f"--on {two[3]}" in refused.value.hint
    moved = runtime.graft(two[2], two[3], on=two[3])
    assert moved.node is not None
    assert (moved.node.source, moved.node.count) == (two[3], 2)
    assert len(runtime.tree()) == rows + 1
    assert texts(runtime) == ["q1", "a1", "q2", "a2", "r2", "b2"]
    runtime.switch(two[1], here=True)
    assert texts(runtime, two[3]) == ["q1", "a1", "r2", "b2"]


def test_a_message_is_looked_for_inside_carries_of_carries_of_one_source(runtime: Runtime) -> None:
    """What the outer carry shares with one further up is found below it, though the one further up was met first."""
    ids = said(runtime, "q1", "a1", "q2", "a2", "q3", "a3")
    elsewhere = runtime.send("q2'", at=ids[1], run=False).node.id
    runtime.switch(ids[5])
    runtime.edit(ids[0], "q1'", keep=True)
    runtime.edit(ids[4], "q3'", keep=True)
    runtime.edit(ids[2], "q2''", keep=True)
    assert texts(runtime) == ["q1'", "a1", "q2''", "a2", "q3'", "a3"]
    assert texts(runtime, elsewhere) == ["q1", "a1", "q2'"]


def test_a_path_never_holds_a_message_twice(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    with pytest.raises(Refused, match="twice") as refused:
        runtime.graft(ids[0], ids[1])
    assert refused.value.facts["node"] == ids[0]


def test_an_equal_carry_is_not_appended_again(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    first = runtime.drop(ids[1])
    assert runtime.switch(ids[1]).head == ids[3], "the dropped message leads back to its branch"
    assert runtime.drop(ids[1]) == first


def test_carrying_backwards_names_the_other_way_round(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    with pytest.raises(Refused, match="stands before") as refused:
        runtime.graft(ids[2], ids[0])
    assert f"{ids[0]}..{ids[2]}" in refused.value.hint


def test_a_finding_is_carried_from_another_conversation(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    runtime.new(title="other")
    said(runtime, "elsewhere")
    runtime.graft(ids[1])
    assert texts(runtime) == ["elsewhere", "a1"]
    with pytest.raises(Refused, match="another conversation"):
        runtime.edit(ids[0], "q1'", run=False)


def test_a_stretch_is_carried_from_another_conversation(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    here = runtime.conversation().id
    carried = runtime.drop(ids[0]).node
    assert carried is not None
    for on, words in ((ids[3], ["q2", "a2"]), (carried.id, ["q2", "a2"]), (f"{carried.id}~1", ["a1", "q2"])):
        runtime.new(title="other")
        said(runtime, "elsewhere")
        first, last = (ids[2], ids[3]) if words[0] == "q2" else (ids[1], ids[2])
        runtime.graft(first, last, on=on)
        assert texts(runtime) == ["elsewhere", *words]
    with pytest.raises(Refused, match="not both on the head's path"):
        runtime.graft(ids[0], ids[1])
    with pytest.raises(Refused, match="another conversation"):
        runtime.drop(ids[2], on=ids[3])
    assert runtime.conversation(here).id == here


def test_pain_18_a_fork_shares_the_path_by_one_row(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    source = runtime.conversation()
    runtime.set("tags", "tea")
    runtime.set("system", "Be brief.")
    fork = runtime.fork(ids[2])
    assert (fork.title, fork.tags, fork.system) == ("q1 (fork)", ("tea",), "Be brief.")
    assert fork.forked_from is not None
    assert (fork.forked_from.conversation, fork.forked_from.node) == (source.id, ids[2])
    assert [node.kind for node in runtime.tree()] == ["graft"]
    assert [entry.node.id for entry in runtime.path()] == ids[:3]
    said(runtime, "on my own")
    assert texts(runtime) == ["q1", "a1", "q2", "on my own"]
    assert [entry.node.text for entry in runtime.path(conversation=source.id)] == ["q1", "a1", "q2", "a2"]


def test_a_fork_at_a_carried_entry_and_a_branch_below_it(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.drop(ids[1])
    runtime.fork(ids[2], title="from a carry")
    assert texts(runtime) == ["q1", "q2"]
    runtime.edit(ids[2], "q2'", run=False)
    assert texts(runtime) == ["q1", "q2'"]


TITLES = {
    "tea": "tea (fork)",
    "tea (fork)": "tea (fork 2)",
    "tea (fork 2)": "tea (fork 3)",
    "tea (fork 0)": "tea (fork 0) (fork)",
    "": "",
}


@pytest.mark.parametrize("title", TITLES)
def test_a_fork_is_titled_by_its_source(title: str) -> None:
    assert forked_title(title) == TITLES[title]


def test_forks_of_one_conversation_have_titles_of_their_own(runtime: Runtime) -> None:
    runtime.set("title", "tea")
    here, [node] = runtime.conversation().id, said(runtime, "q1")
    titles = [runtime.fork(node, conversation=here).title for _ in range(3)]
    assert titles == ["tea (fork)", "tea (fork 2)", "tea (fork 3)"]


def test_a_person_who_titles_a_fork_has_titled_it(runtime: Runtime) -> None:
    [node] = said(runtime, "q1")
    assert runtime.fork(node, title="mine").titled_by == "user"
    assert runtime.fork(node).titled_by == "rule"


def test_titles_of_forks_keep_the_bound(runtime: Runtime) -> None:
    longest = "x" * limits.title_characters_max
    [node] = said(runtime, "q1")
    assert runtime.fork(node, title=longest).title == longest
    for number in range(2, 12):
        title = runtime.fork(node).title
        assert len(title) == limits.title_characters_max
        assert title.endswith("… (fork)" if number == 2 else f"… (fork {number - 1})")
    with pytest.raises(LimitExceeded) as refused:
        runtime.fork(node, title=longest + "x")
    assert refused.value.facts["limit"] == "title_characters_max"
    assert runtime.fork(node, title="  ").title.endswith("(fork 11)"), "blank is no title"


NOTHING: dict[str, Callable[[Runtime, list[str]], object]] = {
    "label": lambda runtime, ids: runtime.label(ids[1], "here"),
    "switch": lambda runtime, _: runtime.switch("@"),
    "switch to a message of the head's path": lambda runtime, ids: runtime.switch(ids[0]),
    "switch here": lambda runtime, ids: runtime.switch(ids[2], here=True),
    "hide": lambda runtime, ids: runtime.hide(ids[0]),
    "unhide": lambda runtime, ids: runtime.unhide(ids[1]),
    "drop": lambda runtime, ids: runtime.drop(ids[3], on=ids[3]),
}


@pytest.mark.parametrize("verb", NOTHING)
def test_what_changes_nothing_is_no_act(runtime: Runtime, verb: str) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.drop(ids[3])
    runtime.label(ids[1], "here")
    runtime.hide(ids[0])
    before = list(runtime.log())
    first = NOTHING[verb](runtime, ids)
    assert list(runtime.log()) == before
    assert NOTHING[verb](runtime, ids) == first
    assert runtime.undo().payload["kind"] == "node.hidden", "undo knows nothing of it"


def test_switch_goes_to_the_newest_leaf_below(runtime: Runtime) -> None:
    one, two = forked_in_two(runtime)
    assert runtime.switch(two[2]).head == two[3]
    assert runtime.switch(one[0]).head == two[3], "a node of the head's path leaves the head where it is"
    assert runtime.switch(one[0], here=True).head == one[0]
    assert runtime.switch(one[1]).head == two[3], "the leaf with the highest seq"


def test_labels_name_messages(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    runtime.label(ids[1], "the answer")
    assert runtime.show("the answer").node.id == ids[1]
    runtime.label(ids[2], "the answer")
    assert runtime.show("the answer").node.id == ids[2]
    runtime.unlabel("the answer")
    with pytest.raises(NotFound, match="no label") as missing:
        runtime.unlabel("the answer")
    assert missing.value.hint == "labels here: there are none"
    runtime.label(ids[2], "the end")
    with pytest.raises(NotFound) as missing:
        runtime.unlabel("the answer")
    assert missing.value.hint == "labels here: the end"


@pytest.mark.parametrize(
    "name", ["", " ", " x", "a@b", "#1", "x~2", "a..b", "cafe", "0123456789abcdef", "\x1b[2J", "a\u202eb"]
)
def test_what_reads_as_another_name_is_no_label(runtime: Runtime, name: str) -> None:
    [node] = said(runtime, "q1")
    with pytest.raises(Misused) as refused:
        runtime.label(node, name)
    assert refused.value.hint


def test_a_label_has_a_bound(runtime: Runtime) -> None:
    [node] = said(runtime, "q1")
    runtime.label(node, "x" * limits.label_characters_max)
    with pytest.raises(LimitExceeded):
        runtime.label(node, "x" * (limits.label_characters_max + 1))


def test_a_place_inside_a_carry(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    graft = runtime.drop(ids[0]).node
    assert graft is not None
    runtime.send("beside q2", at=f"{graft.id}~2", run=False)
    assert texts(runtime) == ["a1", "beside q2"]
    with pytest.raises(Misused, match="at most 2"):
        runtime.send("too far", at=f"{graft.id}~3", run=False)
