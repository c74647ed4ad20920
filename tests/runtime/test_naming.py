"""Names: labels, the head, numbers, ids and their endings; what is ambiguous is said with its candidates."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import Misused, NotFound, Refused
from forkwood.domain.ids import ending
from forkwood.runtime import Runtime, naming
from forkwood.store import conversations, names
from tests.runtime.doors import door, said, texts
from tests.store.trees import NOW, growing


@pytest.fixture
def runtime() -> Runtime:
    runtime = door()
    runtime.new(title="t")
    return runtime


def test_one_message_by_all_its_names(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    runtime.label(ids[1], "the answer")
    for name in (ids[1], ids[1].upper(), ids[1][-4:], "#2", "@~1", "the answer"):
        assert runtime.show(name).node.id == ids[1]
    assert runtime.show("@").node.id == runtime.show("@~0").node.id == ids[2]


def test_steps_back_from_the_head_count_visible_messages(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.hide(ids[2])
    assert runtime.show("@~1").node.id == ids[1]
    runtime.hide("@")
    assert runtime.unhide("@").nodes == (ids[3],)


def test_a_title_names_nothing_but_says_what_does(runtime: Runtime) -> None:
    runtime.set("title", "My Trees")
    one, two = runtime.conversation(), runtime.new(title="my trees too")
    for name, shown in (("my trees", (one, two)), ("MY TREES T", (two,))):
        with pytest.raises(NotFound) as refused:
            runtime.use(name)
        listed = ", ".join(f"{ending(found.id)} {found.title}" for found in shown)
        assert refused.value.hint == f"a title names no conversation; by id: {listed}"
    for name in ("trees", " ", "\ud83d", "%"):
        with pytest.raises(NotFound) as refused:
            runtime.use(name)
        assert refused.value.hint == "forkwood ls lists them"


def test_many_titles_are_cut(runtime: Runtime) -> None:
    for _ in range(names.TITLED_SHOWN):
        runtime.new(title="tea")
    with pytest.raises(NotFound) as refused:
        runtime.hide("te")
    assert (refused.value.hint.count(" tea"), "…" in refused.value.hint) == (names.TITLED_SHOWN, False)
    runtime.new(title="tea" * 20)
    with pytest.raises(NotFound) as refused:
        runtime.hide("te")
    assert refused.value.hint.endswith(" …")


def test_a_bare_number_says_how_a_number_is_spelled(runtime: Runtime) -> None:
    said(runtime, "q1")
    for verb in (runtime.show, runtime.hide):
        with pytest.raises(NotFound) as refused:
            verb("1")
        assert refused.value.hint == "the message of that number is '#1' (with the quotes in a shell)"
        with pytest.raises(NotFound) as refused:
            verb("99")
        assert "'#99'" not in refused.value.hint


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("@~9", NotFound, "reaches before the first message"),
        ("@x", Misused, "names no node"),
        ("@~x", Misused, "is no place"),
        ("beefbeef", NotFound, "no node is named"),
        ("#99", NotFound, "no node is named"),
        ("#x", NotFound, "no node is named"),
        ("ab", NotFound, "no node is named"),
        ("", NotFound, "no node is named"),
    ],
)
def test_what_names_nothing_says_so(runtime: Runtime, name: str, kind: type[Exception], words: str) -> None:
    said(runtime, "q1")
    with pytest.raises(kind, match=words):
        runtime.show(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [("@~9", "reaches before the first message"), ("#99", "no node is named"), ("nothing", "no node or conversation")],
)
def test_where_a_conversation_could_be_meant_too_the_error_is_the_nodes(
    runtime: Runtime, name: str, words: str
) -> None:
    said(runtime, "q1")
    with pytest.raises(NotFound, match=words):
        runtime.hide(name)


def test_an_ending_of_a_message_and_a_conversation_is_refused_with_both(runtime: Runtime) -> None:
    [node] = said(runtime, "q1")
    whole = runtime.conversation().id
    with runtime.house.store.write() as tx:
        tx.run("UPDATE conversation SET id = ?", (bytes.fromhex(whole[:24] + node[-8:]),))
    twin = runtime.conversation().id
    with pytest.raises(NotFound) as refused:
        runtime.hide(node[-8:])
    assert refused.value.facts["candidates"] == [twin, node]
    runtime.label(node, "the one")
    assert runtime.hide("the one").nodes == (node,)
    assert runtime.hide(twin).conversation == twin


def test_without_a_current_conversation_the_head_is_nobodys() -> None:
    for verb in (door().show, door().hide):
        with pytest.raises(NotFound, match="no current conversation"):
            verb("@")


@pytest.mark.parametrize("hidden", [0, 30])
def test_steps_back_read_no_further_than_they_go(hidden: int) -> None:
    work = []
    for before in (50, 500):
        with growing() as tree:
            talk = tree.conversation()
            here = tree.line(talk, "x" * before + "y" * 40)
            if hidden:
                tree.hide(talk, *(spot.node for spot in here[-hidden - 1 : -1]))
            conversations.move_head(tree.tx, talk, here[-1], NOW)
            found: list[int] = []
            work.append(tree.work(lambda: found.append(naming.node(tree.tx, talk, "@~2"))))  # noqa: B023
            assert found == [here[-3 - hidden].node]
            every = len(here) - 1 - hidden
            assert naming.node(tree.tx, talk, f"@~{every}") == here[0].node
            with pytest.raises(NotFound, match=f"{every} visible ones"):
                naming.node(tree.tx, talk, f"@~{every + 1}")
    assert work[1] <= work[0] + 20


def test_on_an_empty_path_there_is_no_head_to_name(runtime: Runtime) -> None:
    with pytest.raises(NotFound, match="no message yet"):
        runtime.show("@")


def test_without_a_current_conversation_the_way_is_named() -> None:
    with pytest.raises(NotFound, match="no current conversation") as refused:
        door().path()
    assert "forkwood new" in refused.value.hint


def test_a_message_is_read_on_the_heads_path_if_it_stands_there(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    runtime.edit(ids[0], "q1'", keep=True)
    assert texts(runtime, ids[2]) == ["q1'", "a1", "q2"]
    runtime.switch(ids[0])
    assert texts(runtime, ids[2]) == ["q1", "a1", "q2"]


def test_a_node_of_another_conversation_is_not_changed_from_here(runtime: Runtime) -> None:
    [there] = said(runtime, "q1")
    runtime.new(title="other")
    assert runtime.show(there).node.text == "q1"
    for verb in (lambda: runtime.edit(there, "x"), lambda: runtime.drop(there), lambda: runtime.hide(there)):
        with pytest.raises(Refused, match="another conversation") as refused:
            verb()
        assert refused.value.hint.startswith("name it: -c ")


def test_a_carry_is_no_message(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    graft = runtime.drop(ids[0]).node
    assert graft is not None
    with pytest.raises(Refused, match="is a carry"):
        runtime.hide(graft.id)
    assert texts(runtime, graft.id) == ["a1", "q2"]
    assert texts(runtime, f"{graft.id}~1") == ["a1"]


def test_inside_a_message_there_is_no_place(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    runtime.drop(ids[0])
    assert texts(runtime, ids[1]) == ["a1"], "as the head's path has it"
    assert texts(runtime, f"{ids[1]}~0") == ["q1", "a1"], "the place itself, wherever the head is"
    with pytest.raises(Misused, match="adds 1 entries"):
        runtime.path(f"{ids[1]}~1")


def test_a_leaf_must_lead_past_the_message(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    runtime.switch(ids[0], here=True)
    [other] = said(runtime, "b1")
    with pytest.raises(Refused, match="is not on the path of"):
        runtime.drop(ids[1], on=other)


def test_the_beginning_of_the_ending_that_is_shown_names_too() -> None:
    draws = iter((0xABCD0001, 0x1234ABCD, 0x99990002, 0x99990003))
    runtime = door()
    runtime.house.chance = lambda size: next(draws).to_bytes(size, "big")
    runtime.new(title="t")
    [first] = said(runtime, "q1")
    [second] = said(runtime, "a1")
    assert (first[-8:], second[-8:]) == ("1234abcd", "99990002")
    assert runtime.show("1234").node.id == first
    assert runtime.show("99990").node.id == second
    assert runtime.show("abcd").node.id == first, "an ending counts before a beginning"
    with pytest.raises(NotFound):
        runtime.show("12345678")


def test_a_leaf_that_is_carried_on_the_heads_path_is_still_a_leaf(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.switch(ids[0], here=True)
    other = said(runtime, "r1", "b1", "r2")
    runtime.switch(ids[3])
    runtime.graft(other[2])
    assert texts(runtime)[-1] == "r2"
    runtime.graft(other[0], other[1], on=other[2])
    assert texts(runtime)[-2:] == ["r1", "b1"]


def test_the_version_that_stands_on_the_path_is_named_where_an_older_one_was_meant(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    new = runtime.edit(ids[1], "a1'", keep=True).node.id
    with pytest.raises(Refused) as refused:
        runtime.edit(ids[1], "a1''", keep=True)
    assert new[-8:] in refused.value.hint
