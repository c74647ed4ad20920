"""Nodes read back: all facets of a row, versions both ways, groups, and where branches end."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import NotFound
from forkwood.domain.message import Attachment, Origin, Replay, Text, Thinking, ToolCall
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import append, blobs, nodes
from tests.store.trees import MODEL, NOW, growing


def test_every_facet_of_a_message_comes_back() -> None:
    with growing() as tree:
        talk = tree.conversation()
        first = tree.say(talk, ROOT, "q")
        parts = (
            Thinking(text="hm", replay=Replay(dialect="anthropic", family="claude", value={"signature": "=="})),
            Text(text="a"),
            Attachment(
                blob=blobs.put(tree.tx, b"x"), media="image", name="x.png", mime="image/png", size=1, meta={"w": 1}
            ),
            Text(text="b"),
            ToolCall(call="1", name="look", arguments={"deep": [1, None, {"é": 1.5}]}),
            ToolCall(call="2", name="look", arguments="no json"),
        )
        name = tree.id()
        seq = append.add_message(
            tree.tx,
            id=name,
            conversation=talk,
            at=first,
            role="assistant",
            parts=parts,
            origin=MODEL,
            now_ms=NOW + 5,
            revises=first.node,
            partial="length",
        )
        node = nodes.row(tree.tx, seq)
        assert node.parts == parts and node.text == "a\n\nb"
        assert (node.id, node.seq, node.kind, node.role, node.length) == (name, seq, "message", "assistant", 2)
        assert (node.origin, node.created_ms) == (MODEL, NOW + 5)
        assert node.revises == nodes.row(tree.tx, first.node).id
        assert (node.partial, node.partial_reason, node.hidden, node.purged) == (True, "length", False, False)
        assert (node.source, node.count) == (None, None)


def test_rows_come_in_the_order_asked_and_a_missing_one_is_told() -> None:
    with growing() as tree:
        here = tree.line(tree.conversation(), "abc")
        asked = [here[2].node, here[0].node]
        assert [node.text for node in nodes.rows(tree.tx, [*asked, 99])] == ["c", "a"]
        assert nodes.rows(tree.tx, []) == []
        with pytest.raises(NotFound):
            nodes.row(tree.tx, 99)
        with pytest.raises(NotFound):
            nodes.hangs_at(tree.tx, 99)


def test_a_conversation_lists_its_own_nodes_by_seq_grafts_and_hidden_ones_too() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        here = tree.line(talk, "ab")
        fork = tree.graft(other, ROOT, here[-1], 2)
        c = tree.say(other, fork, "c")
        tree.hide(other, c.node)
        found = nodes.of_conversation(tree.tx, other)
        assert [(node.seq, node.kind, node.hidden) for node in found] == [
            (fork.node, "graft", False),
            (c.node, "message", True),
        ]
        assert found[0].origin == Origin(by="user", via="cli") and found[0].at is None
        assert [node.seq for node in nodes.hidden(tree.tx)] == [c.node]
        assert nodes.hidden(tree.tx, talk) == []


def test_versions_are_followed_both_ways() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        one = tree.say(talk, ROOT, "one")
        two = tree.say(talk, ROOT, "two", revises=one.node)
        three = tree.say(other, ROOT, "three", revises=one.node)
        four = tree.say(talk, ROOT, "four", revises=two.node)
        alone = tree.say(talk, ROOT, "alone")
        for any_of in (one, two, three, four):
            versions = nodes.versions(tree.tx, any_of.node)
            assert [node.text for node in versions] == ["one", "two", "three", "four"]
        assert [node.text for node in nodes.versions(tree.tx, alone.node)] == ["alone"]


def test_a_tool_group_is_two_nodes_whichever_is_named() -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        reply = tree.call(talk, asked, "1")
        assert nodes.group(tree.tx, reply.node) == (reply.node,)
        results = tree.results(reply, "1")
        assert nodes.group(tree.tx, reply.node) == (reply.node, results.node)
        assert nodes.group(tree.tx, results.node) == (reply.node, results.node)
        assert nodes.group(tree.tx, asked.node) == (asked.node,)


def test_a_leaf_is_where_nothing_hangs_at_the_end() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        kept = tree.keep(talk, here[-1], 1, "B")
        inner = tree.say(talk, Spot(kept.node, 1), "x")
        assert nodes.count_leaves(tree.tx, talk) == 3
        found = nodes.leaves(tree.tx, talk)
        assert [(leaf.spot, leaf.text, leaf.length) for leaf in found] == [
            (inner, "x", 4),
            (kept, "d", 4),
            (here[-1], "d", 4),
        ]
        assert found[1].node == nodes.row(tree.tx, here[-1].node).id


def test_a_leaf_is_shown_by_its_last_visible_words() -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        reply = tree.call(talk, asked, "1")
        results = tree.results(reply, "1")
        assert [(leaf.text, leaf.role) for leaf in nodes.leaves(tree.tx, talk)] == [("let me see", "tool")]
        tree.hide(talk, reply.node, results.node)
        (leaf,) = nodes.leaves(tree.tx, talk)
        assert leaf.hidden and leaf.text == "q"


@pytest.mark.parametrize(
    ("below", "leaf"), [("a", "x"), ("b", "B-leaf"), ("c", "d"), ("d", "d"), ("kept~1", "x"), ("kept", "kept")]
)
def test_the_leaf_below_is_the_newest_of_those_that_go_through_the_place(below: str, leaf: str) -> None:
    with growing() as tree:
        talk = tree.conversation()
        a, b, c, d = tree.line(talk, "abcd")
        kept = tree.keep(talk, d, 1, "B")
        named = {"a": a, "b": b, "c": c, "d": d, "kept": kept, "kept~1": Spot(kept.node, 1)}
        named["x"] = tree.say(talk, Spot(kept.node, 1), "x")
        named["B-leaf"] = d
        assert nodes.leaf_below(tree.tx, named[below]) == named[leaf]


def test_the_leaf_below_a_place_inside_a_graft_is_its_end_where_nothing_else_hangs() -> None:
    with growing() as tree:
        talk = tree.conversation()
        kept = tree.keep(talk, tree.line(talk, "abcd")[-1], 0, "A")
        assert nodes.leaf_below(tree.tx, Spot(kept.node, 2)) == kept
        assert nodes.leaf_below(tree.tx, ROOT) == ROOT


def test_a_place_is_spelled_as_people_see_it() -> None:
    with growing() as tree:
        talk = tree.conversation()
        kept = tree.keep(talk, tree.line(talk, "abcd")[-1], 0, "A")
        name = nodes.row(tree.tx, kept.node).id
        assert nodes.spot_text(tree.tx, kept) == name
        assert nodes.spot_text(tree.tx, Spot(kept.node, 2)) == f"{name}~2"
        assert nodes.spot_text(tree.tx, ROOT) is None
