"""What another earlier program promised of its tree, by the numbers of its list, under the rules of ours."""

from __future__ import annotations

import apsw
import pytest

from forkwood.domain import limits
from forkwood.domain.act import Who
from forkwood.domain.errors import LimitExceeded, NotFound, Refused
from forkwood.domain.event import NoticeGiven
from forkwood.domain.message import calls_of, results_of
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import conversations, log, names, nodes, places, walk
from tests.store.trees import NOW, growing


def test_panelot_1_an_append_gives_a_rising_number_and_is_the_newest_leaf() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        at, seen = ROOT, 0
        for _ in range(5):
            at = tree.say(talk, at, "x")
            assert at.node > seen and nodes.leaves(tree.tx, talk)[0].spot == at
            seen = tree.say(other, ROOT, "between").node


def test_panelot_2_a_parent_of_another_conversation_is_refused() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        foreign = tree.say(other, ROOT, "x")
        with pytest.raises(Refused):
            tree.say(talk, foreign, "y")
        with pytest.raises(apsw.ConstraintError):
            tree.tx.run(
                """INSERT INTO node (id, conversation, at_node, role, parts, own, length, hops, beside,
                     by, via, created_ms)
                   VALUES (randomblob(16), ?, ?, 'user', '[{}]', 1, 2, 2, 0, 'user', 'cli', 0)""",
                (talk, foreign.node),
            )


def test_panelot_3_a_purged_conversation_can_no_longer_be_named() -> None:
    """Ours: a conversation in the trash still takes what its runs append; a purged one has no name to be reached by."""
    with growing() as tree:
        talk = tree.conversation()
        name = conversations.row(tree.tx, talk).id
        conversations.write_setting(tree.tx, talk, "hidden", True)
        assert names.conversation(tree.tx, name) == talk
        tree.tx.run("UPDATE conversation SET purged = 1")
        with pytest.raises(NotFound):
            names.conversation(tree.tx, name)


def test_panelot_4_a_branch_is_a_sibling_at_the_same_place_and_the_newest_leaf() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        new = tree.edit(talk, here[-1], 1, "B")
        assert nodes.hangs_at(tree.tx, new.node) == nodes.hangs_at(tree.tx, here[1].node)
        assert tree.beside(new, 1) == "2/2 b B" and nodes.leaves(tree.tx, talk)[0].spot == new


def test_panelot_5_switching_goes_to_the_newest_leaf_below_not_the_deepest() -> None:
    with growing() as tree:
        talk = tree.conversation()
        a, b, _, d = tree.line(talk, "abcd")
        newest = tree.say(talk, b, "x")
        assert nodes.leaf_below(tree.tx, a) == newest
        assert nodes.leaf_below(tree.tx, d) == d


def test_panelot_6_hiding_leaves_a_message_out_and_moves_no_place() -> None:
    """Ours: nothing is relinked; the path is read without it."""
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        tree.hide(talk, here[1].node)
        assert tree.words(here[-1]) == "ac" and nodes.hangs_at(tree.tx, here[2].node) == here[1]
        tree.show(talk, here[1].node)
        assert tree.words(here[-1]) == "abc"


def test_panelot_7_a_hidden_leaf_keeps_the_head_where_it_is() -> None:
    """Ours: hide is a filter and nothing else; the head stays, and the next message follows the hidden one's place."""
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        conversations.move_head(tree.tx, talk, here[-1], NOW)
        tree.hide(talk, here[-1].node)
        assert conversations.settled_head(tree.tx, talk) == (here[-1], False)
        assert tree.words(here[-1]) == "ab" and tree.words(tree.say(talk, here[-1], "d")) == "abd"


def test_panelot_8_hidden_messages_leave_the_siblings() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "ab")
        other = tree.say(talk, here[0], "x")
        tree.hide(talk, here[1].node)
        assert tree.beside(other, 1) == "1/1 x"


def test_panelot_9_10_a_head_that_cannot_reach_a_root_is_repaired_to_the_newest_leaf_that_can() -> None:
    with growing(damaged=True) as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        side = tree.line(talk, "xy", here[0])
        orphans = tree.line(talk, "pqr", here[1])
        tree.tx.run("DELETE FROM node WHERE seq = ?", (here[1].node,))
        for ghost in (here[-1], orphans[-1], here[1], Spot(999)):
            conversations.move_head(tree.tx, talk, ghost, NOW)
            assert conversations.settled_head(tree.tx, talk) == (side[-1], True)


@pytest.mark.parametrize("column", ["at_node", "source_node", "revises"])
def test_panelot_11_a_cycle_cannot_be_written(column: str) -> None:
    """Ours: what a row refers to has a lower number, by a check of the table, so no walk can go round."""
    with growing() as tree:
        here = tree.line(tree.conversation(), "abc")
        tree.tx.run("INSERT INTO purging VALUES (1)")
        with pytest.raises(apsw.ConstraintError):
            tree.tx.run(f"UPDATE node SET {column} = ? WHERE seq = ?", (here[2].node, here[0].node))


def test_panelot_15_the_reads_of_a_path_are_those_of_its_own_messages() -> None:
    with growing() as tree:
        talk = tree.conversation()
        deep = tree.line(talk, "m" * 300)
        for spot in deep[::3]:
            tree.say(talk, spot, "beside")
        looks = 0

        def count() -> bool:
            nonlocal looks
            looks += 1
            return False

        def cost(entries: int) -> int:
            nonlocal looks
            looks = 0
            tree.tx.connection.set_progress_handler(count, 1)
            assert len(walk.light_entries(tree.tx, deep[-1], entries)) == entries
            tree.tx.connection.set_progress_handler(None)
            return looks

        few, many = cost(1), cost(300)
        assert few < 1_500 and many < 300 * 60, (few, many)


def test_panelot_16_a_turn_with_many_calls_has_its_results_in_one_node() -> None:
    """Ours: as many as a message may have parts."""
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        calls = [str(number) for number in range(limits.parts_max - 1)]
        reply = tree.call(talk, asked, *calls)
        results = tree.results(reply, *calls)
        assert nodes.group(tree.tx, reply.node) == (reply.node, results.node)
        said = places.said(tree.tx, results)
        assert [call.call for call in calls_of(said[1].parts)] == [given.call for given in results_of(said[2].parts)]
        with pytest.raises(LimitExceeded):
            tree.call(talk, asked, *calls, "one more")


def test_panelot_17_what_nobody_said_is_on_no_path() -> None:
    """Ours: notices, labels and settings are no nodes."""
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "ab")
        before = places.said(tree.tx, here[-1])
        who = Who(by="system", via="cli")
        notice = NoticeGiven(what="repair", text="the head was lost")
        log.write(tree.tx, notice, who=who, now_ms=NOW, conversation=talk, node=here[-1].node)
        conversations.write_label(tree.tx, talk, "here", here[0].node)
        conversations.write_setting(tree.tx, talk, "system", "Be brief.")
        assert places.said(tree.tx, here[-1]) == before and tree.rows() == 2


def test_panelot_18_calls_made_together_stay_one_turn_with_results_in_their_order() -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        reply = tree.call(talk, asked, "b", "a", "c")
        with pytest.raises(Refused):
            tree.results(reply, "a", "b", "c")
        with pytest.raises(Refused):
            tree.results(reply, "b")
        results = tree.results(reply, "b", "a", "c")
        assert [said.role for said in places.said(tree.tx, results)] == ["user", "assistant", "tool"]
