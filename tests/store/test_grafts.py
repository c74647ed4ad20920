"""Grafts: one row whatever is carried, flat where it can be, never a message twice, groups never torn."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import Refused
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import grafts, nodes, walk
from tests.store.trees import growing


def test_what_is_carried_keeps_its_identity() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcdef")
        kept = tree.keep(talk, here[-1], 2, "C")
        assert tree.words(kept) == "abCdef" and tree.words(here[-1]) == "abcdef"
        assert tree.seqs(kept)[3:] == [spot.node for spot in here[3:]]
        row = nodes.row(tree.tx, kept.node)
        assert (row.kind, row.role, row.count, row.source) == ("graft", None, 3, nodes.spot_text(tree.tx, here[-1]))


def test_an_equal_graft_is_not_appended_again() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        first = tree.grafted(talk, here[0], here[-1], 2)
        before = tree.rows()
        assert first[1] and tree.grafted(talk, here[0], here[-1], 2) == (first[0], False)
        assert tree.rows() == before
        assert tree.grafted(talk, here[0], here[-1], 1)[1]


def test_first_nodes_of_two_conversations_are_not_the_same_graft() -> None:
    with growing() as tree:
        talk, one, two = tree.conversation(), tree.conversation(), tree.conversation()
        head = tree.line(talk, "abc")[-1]
        assert tree.graft(one, ROOT, head, 3) != tree.graft(two, ROOT, head, 3)


def test_a_graft_inside_another_points_at_that_ones_source() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcdef")
        kept = tree.keep(talk, here[-1], 1, "B")
        again = tree.keep(talk, kept, 3, "D")
        third = tree.drop(talk, again, 4)
        for graft, count, words in ((again, 2, "aBcDef"), (third, 1, "aBcDf")):
            assert tree.words(graft) == words
            row = nodes.row(tree.tx, graft.node)
            assert (row.count, row.source) == (count, nodes.spot_text(tree.tx, here[-1]))
        wide = tree.keep(talk, again, 0, "A")
        assert tree.words(wide) == "ABcDef"
        assert nodes.row(tree.tx, wide.node).source == nodes.spot_text(tree.tx, again)


def test_a_path_never_holds_a_message_twice() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        with pytest.raises(Refused) as refused:
            tree.graft(talk, here[-1], here[2], 2)
        assert refused.value.facts["node"] == nodes.row(tree.tx, here[1].node).id
        branch = tree.line(talk, "xy", here[1])
        with pytest.raises(Refused):
            tree.graft(talk, branch[-1], here[-1], 3)
        assert tree.words(tree.graft(talk, branch[-1], here[-1], 2)) == "abxycd"


def test_a_message_is_found_twice_through_grafts_and_conversations() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        here = tree.line(talk, "abcd")
        fork = tree.graft(other, ROOT, here[-1], 4)
        longer = tree.line(other, "ef", fork)[-1]
        with pytest.raises(Refused) as refused:
            tree.graft(talk, here[1], longer, 5)
        assert refused.value.facts["node"] == nodes.row(tree.tx, here[1].node).id
        assert tree.words(tree.graft(talk, here[1], longer, 4)) == "abcdef"
        with pytest.raises(Refused):
            tree.graft(other, longer, here[-1], 1)


def test_a_new_message_carried_elsewhere_cannot_come_back() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        side = tree.say(talk, here[1], "x")
        carried = tree.graft(talk, here[-1], side, 1)
        with pytest.raises(Refused) as refused:
            tree.graft(talk, side, carried, 1)
        assert refused.value.facts["node"] == nodes.row(tree.tx, side.node).id


def test_keep_drop_and_fork_do_not_read_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        here = tree.line(talk, "abcdefgh")
        new = [tree.edit(talk, here[-1], index, "E") for index in (2, 5)]
        two = tree.say(talk, new[1], "and")
        monkeypatch.setattr(walk, "messages", lambda *_, **__: pytest.fail("a path was read"))
        kept = tree.graft(talk, new[0], here[-1], 5)
        tree.graft(talk, two, here[-1], 2)
        tree.graft(talk, walk.prefix(tree.tx, kept, 4), kept, 3)
        tree.graft(other, ROOT, kept, 8)


@pytest.mark.parametrize("count", [0, -1, 5])
def test_there_must_be_something_to_carry(count: int) -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        with pytest.raises(Refused):
            tree.graft(talk, ROOT, here[-1], count)


def test_a_tool_group_is_carried_whole() -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        reply = tree.call(talk, asked, "1")
        results = tree.results(reply, "1")
        after = tree.say(talk, results, "a", "assistant")
        other = tree.say(talk, ROOT, "other")
        assert tree.seqs(tree.graft(talk, other, reply, 1)) == [other.node, reply.node, results.node]
        with pytest.raises(Refused):
            tree.graft(talk, other, after, 2)
        assert tree.seqs(tree.graft(talk, other, after, 3))[1:] == [reply.node, results.node, after.node]


def test_a_reply_edited_with_its_calls_is_followed_by_their_results() -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        reply = tree.call(talk, asked, "1")
        results = tree.results(reply, "1")
        after = tree.say(talk, results, "a", "assistant")
        edited = tree.call(talk, asked, "1")
        group = tree.graft(talk, edited, results, 1)
        assert walk.canonical(tree.tx, edited.node, 0) == group
        kept = tree.graft(talk, group, after, 1)
        assert tree.seqs(kept) == [asked.node, edited.node, results.node, after.node]
        wrong = tree.call(talk, asked, "2")
        with pytest.raises(Refused):
            tree.graft(talk, wrong, results, 1)


def test_who_carries_a_message_is_known_through_grafts_of_grafts() -> None:
    with growing() as tree:
        talk, other, third = (tree.conversation() for _ in range(3))
        here = tree.line(talk, "abcdef")
        kept = tree.keep(talk, here[-1], 1, "B")
        fork = tree.graft(other, ROOT, Spot(kept.node, 2), 4)
        far = tree.graft(third, tree.say(third, ROOT, "z"), fork, 1)
        expected = {
            "a": [(other, fork.node)],
            "c": [(talk, kept.node), (other, fork.node)],
            "d": [(talk, kept.node), (other, fork.node), (third, far.node)],
            "f": [(talk, kept.node)],
        }
        for letter, carriers in expected.items():
            assert grafts.carriers(tree.tx, here["abcdef".index(letter)].node) == carriers, letter
        assert grafts.carriers(tree.tx, kept.node - 1) == [(other, fork.node)]


def test_a_chain_of_keeps_is_read_without_recursion() -> None:
    with growing() as tree:
        talk = tree.conversation()
        head = tree.line(talk, "m" * 1_200)[-1]
        for index in range(1_150, 0, -1):
            head = tree.keep(talk, head, index, "k")
        assert walk.size(tree.tx, head) == 1_200
        assert tree.words(head) == "m" + "k" * 1_150 + "m" * 49
        assert walk.last(tree.tx, Spot(head.node, 1_000)) == tree.seqs(head)[199]
