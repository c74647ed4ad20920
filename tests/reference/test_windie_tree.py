"""What an earlier program of this kind promised of its tree, by the numbers of its list, under the rules of ours."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import NotFound, Refused
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import conversations, entries, names, nodes, places, walk
from tests.store.trees import NOW, Tree, growing


def without(tree: Tree, talk: int, head: Spot, node: int) -> Spot:
    """A drop as the verb does it: the tool group of NODE goes from the path at HEAD; the place behind the rest."""
    met = [found for member in nodes.group(tree.tx, node) if (found := places.standing(tree.tx, head, member))]
    before, after = met[0][0], met[-1][1]
    count = walk.size(tree.tx, head) - walk.size(tree.tx, after)
    return tree.graft(talk, before, head, count) if count else before


def test_windie_12_messages_load_in_the_order_they_came_with_their_parents() -> None:
    with growing() as tree:
        talk = tree.conversation()
        assert nodes.of_conversation(tree.tx, talk) == []
        a, b = tree.line(talk, "ab")
        c = tree.say(talk, a, "c")
        found = nodes.of_conversation(tree.tx, talk)
        assert [node.text for node in found] == ["a", "b", "c"]
        assert [node.at for node in found] == [None, *[nodes.spot_text(tree.tx, spot) for spot in (a, a)]]
        assert b.node < c.node


def test_windie_12_a_missing_conversation_is_refused_for_load_and_insert() -> None:
    with growing() as tree:
        with pytest.raises(NotFound):
            conversations.row(tree.tx, 7)
        with pytest.raises(NotFound):
            names.conversation(tree.tx, "0" * 32)
        with pytest.raises(NotFound):
            tree.say(7, ROOT, "x")
        assert tree.rows() == 0


def test_windie_13_the_path_to_a_sibling_holds_the_root_and_it_and_not_the_other() -> None:
    with growing() as tree:
        talk = tree.conversation()
        root = tree.say(talk, ROOT, "root")
        one, other = tree.say(talk, root, "one"), tree.say(talk, root, "other")
        assert tree.seqs(one) == [root.node, one.node] and other.node not in tree.seqs(one)
        assert tree.seqs(other) == [root.node, other.node]


def test_windie_14_parent_of_another_conversation_is_refused() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        foreign = tree.say(other, ROOT, "x")
        with pytest.raises(Refused):
            tree.say(talk, foreign, "y")
        assert tree.rows() == 1


def test_windie_17_editing_an_early_message_keeps_it_and_all_that_followed_and_the_head() -> None:
    """Ours: the edited text is a new message that revises the old, which keeps its id, its text and its branch."""
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        conversations.move_head(tree.tx, talk, here[-1], NOW)
        before = nodes.of_conversation(tree.tx, talk)
        new = tree.edit(talk, here[-1], 1, "B")
        assert nodes.of_conversation(tree.tx, talk)[:-1] == before
        assert nodes.row(tree.tx, new.node).role == before[1].role
        assert nodes.row(tree.tx, new.node).revises == before[1].id
        assert tree.words(here[-1]) == "abcd" and tree.words(new) == "aB"
        assert conversations.head(tree.tx, talk) == here[-1]


def test_windie_18_an_edit_at_a_place_of_another_conversation_is_refused() -> None:
    """Ours: a carried foreign message can be edited where it is carried to; its own conversation is not touched."""
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        here = tree.line(other, "abc")
        with pytest.raises(Refused):
            tree.edit(talk, here[-1], 1, "B")
        fork = tree.graft(talk, ROOT, here[-1], 3)
        assert tree.words(tree.edit(talk, fork, 1, "B")) == "aB"
        assert tree.words(here[-1]) == "abc" and len(nodes.of_conversation(tree.tx, other)) == 3


def test_windie_19_what_comes_after_a_checkpoint_is_read_without_what_came_before() -> None:
    with growing() as tree:
        talk = tree.conversation()
        head = tree.keep(talk, tree.line(talk, "abcdef")[-1], 3, "D")
        assert [entry.node for entry in walk.light_entries(tree.tx, head, 3)] == tree.seqs(head)[3:]
        read = walk.stretches(tree.tx, head, 3)
        assert sum(len(stretch.rows) for stretch in read) == 3


def test_windie_20_every_path_from_a_root_to_a_leaf_is_listed_once() -> None:
    with growing() as tree:
        talk = tree.conversation()
        assert nodes.leaves(tree.tx, talk) == []
        a = tree.say(talk, ROOT, "a")
        assert [tree.words(leaf.spot) for leaf in nodes.leaves(tree.tx, talk)] == ["a"]
        tree.line(talk, "bc", a)
        tree.line(talk, "x", a)
        tree.line(talk, "pq")
        assert sorted(tree.words(leaf.spot) for leaf in nodes.leaves(tree.tx, talk)) == ["abc", "ax", "pq"]


def test_windie_21_a_message_is_its_own_path() -> None:
    with growing() as tree:
        talk = tree.conversation()
        a = tree.say(talk, ROOT, "a")
        (entry,) = entries.entries(tree.tx, a)
        assert entry.node == nodes.row(tree.tx, a.node)
        assert (entry.at, entry.graft, entry.siblings.ids) == (None, None, (entry.node.id,))


def test_windie_30_dropping_a_middle_message_joins_what_followed_to_what_came_before() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        dropped = without(tree, talk, here[-1], here[1].node)
        assert tree.words(dropped) == "acd" and tree.words(here[-1]) == "abcd"


def test_windie_31_dropping_where_branches_part_changes_this_branch_only() -> None:
    """Ours: the other branches keep the message; there is nothing to reattach."""
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        side = tree.say(talk, here[1], "x")
        assert tree.words(without(tree, talk, here[-1], here[1].node)) == "ac"
        assert tree.words(side) == "abx"
        assert tree.words(without(tree, talk, side, here[1].node)) == "ax"


def test_windie_32_dropping_a_leaf_takes_only_the_leaf_and_writes_nothing() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        before = tree.rows()
        assert without(tree, talk, here[-1], here[2].node) == here[1] and tree.rows() == before


def test_windie_33_dropping_a_root_lets_what_followed_begin_the_path() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        side = tree.say(talk, here[0], "x")
        one, two = (without(tree, talk, head, here[0].node) for head in (here[-1], side))
        assert (tree.words(one), tree.words(two)) == ("bc", "x")
        assert tree.beside(one, 0) == "2/3 a b x"


def test_windie_34_35_all_paths_stay_whole_after_a_drop() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcdef")
        sides = [tree.line(talk, "xy", spot)[-1] for spot in here]
        before = [tree.seqs(spot) for spot in (*here, *sides)]
        for index in (0, 2, 5):
            without(tree, talk, here[-1], here[index].node)
            without(tree, talk, sides[3], here[index % 4].node)
        assert [tree.seqs(spot) for spot in (*here, *sides)] == before


def test_windie_36_a_drop_at_a_place_of_another_conversation_is_refused() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        here = tree.line(other, "abc")
        before = tree.rows()
        with pytest.raises(Refused):
            without(tree, talk, here[-1], here[1].node)
        assert tree.rows() == before


def test_windie_37_going_back_to_a_message_keeps_it_and_loses_nothing_below() -> None:
    """Ours: no truncation; the head stands at the message, and what was below it stays a branch."""
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        conversations.move_head(tree.tx, talk, here[1], NOW)
        assert tree.words(conversations.head(tree.tx, talk)) == "ab"
        assert tree.words(nodes.leaf_below(tree.tx, here[1])) == "abcd"


def test_windie_40_a_tool_message_is_never_made_by_hand() -> None:
    with growing() as tree:
        talk = tree.conversation()
        with pytest.raises(Refused):
            tree.say(talk, ROOT, "x", "tool")
        assert tree.rows() == 0


def test_windie_41_a_result_under_a_message_that_did_not_call_is_refused_and_writes_nothing() -> None:
    with growing() as tree:
        talk = tree.conversation()
        plain = tree.line(talk, "ab")[-1]
        for at in (plain, ROOT):
            with pytest.raises(Refused):
                tree.results(at, "1")
        assert tree.rows() == 2


@pytest.mark.parametrize("calls", [("1",), ("1", "2")])
@pytest.mark.parametrize("named", ["reply", "results"])
def test_windie_42_43_44_dropping_a_reply_or_its_results_takes_both_and_keeps_the_later_reply(
    calls: tuple[str, ...], named: str
) -> None:
    """Ours: the results of a turn are one node, however many calls it made."""
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        group = {"reply": tree.call(talk, asked, *calls)}
        group["results"] = tree.results(group["reply"], *calls)
        later = tree.say(talk, group["results"], "a", "assistant")
        dropped = without(tree, talk, later, group[named].node)
        assert tree.seqs(dropped) == [asked.node, later.node]
        assert tree.seqs(later) == [asked.node, group["reply"].node, group["results"].node, later.node]


def test_windie_45_the_same_call_id_on_another_branch_is_not_touched() -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        branches = []
        for _ in range(2):
            reply = tree.call(talk, asked, "1")
            branches.append((reply, tree.results(reply, "1")))
        (one, one_results), (two, two_results) = branches
        assert nodes.group(tree.tx, one.node) == (one.node, one_results.node)
        assert without(tree, talk, one_results, one.node) == asked
        assert tree.seqs(two_results) == [asked.node, two.node, two_results.node]


def test_windie_46_a_call_without_results_is_dropped_like_any_message() -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        pending = tree.call(talk, asked, "1")
        later = tree.say(talk, pending, "never mind")
        assert tree.words(without(tree, talk, later, pending.node)) == "qnever mind"
