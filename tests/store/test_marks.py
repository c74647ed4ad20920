"""Marks: a filter with a beginning and an end in the log, and nothing else."""

from __future__ import annotations

import apsw
import pytest

from forkwood.domain.tree import ROOT, Spot
from forkwood.store import conversations, digests, log, marks, nodes, places, walk
from tests.store.trees import NOW, growing


def test_only_those_whose_state_changed_are_named() -> None:
    with growing() as tree:
        talk = tree.conversation()
        a, b, c = (spot.node for spot in tree.line(talk, "abc"))
        assert marks.hide(tree.tx, [a, b, a], tree.act(talk, a)) == [a, b]
        assert marks.hide(tree.tx, [b, c], tree.act(talk, b)) == [c]
        assert marks.hidden_now(tree.tx, [a, b, c]) == {a, b, c}
        assert marks.show(tree.tx, [a], tree.act(talk, a)) == [a]
        assert marks.show(tree.tx, [a, b], tree.act(talk, a)) == [b]
        assert marks.hidden_now(tree.tx, [a, b, c]) == {c}


def test_what_was_hidden_is_known_as_of_every_log_number() -> None:
    with growing() as tree:
        talk = tree.conversation()
        a, b = (spot.node for spot in tree.line(talk, "ab"))
        times = [tree.hide(talk, a), tree.hide(talk, b), tree.show(talk, a), tree.hide(talk, a), tree.show(talk, a, b)]
        expected: list[set[int]] = [{a}, {a, b}, {b}, {a, b}, set()]
        assert [marks.hidden_at(tree.tx, log, (a, b)) for log in times] == expected
        assert marks.hidden_at(tree.tx, times[0] - 1, (a, b)) == set()
        assert marks.hidden_at(tree.tx, times[1], (b,)) == {b}


def test_many_nodes_are_asked_for_at_once_with_the_same_answer() -> None:
    with growing() as tree:
        talk = tree.conversation()
        seqs = [spot.node for spot in tree.line(talk, "m" * 40)]
        tree.hide(talk, *seqs[3:30:4])
        assert marks.hidden_now(tree.tx, seqs) == set(seqs[3:30:4])
        assert marks.hidden_now(tree.tx, seqs[10:28]) == set(seqs[3:30:4]) & set(seqs[10:28])


def test_a_mark_moves_no_place_no_length_no_digest_and_no_head() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        here = tree.line(talk, "abcdef")
        kept = tree.keep(talk, here[-1], 2, "C")
        fork = tree.graft(other, ROOT, kept, 6)
        conversations.move_head(tree.tx, talk, kept, NOW)
        spots = [*here, kept, Spot(kept.node, 1), fork]

        def state() -> list[object]:
            return [
                [
                    (walk.size(tree.tx, spot), digests.afresh(tree.tx, spot), walk.light_entries(tree.tx, spot))
                    for spot in spots
                ],
                conversations.head(tree.tx, talk),
                tree.rows(),
            ]

        before = state()
        tree.hide(talk, here[3].node, here[0].node)
        assert state() == before
        assert tree.words(kept) == "bCef" and tree.words(fork) == "bCef", "it holds wherever the message is carried"
        assert tree.all_words(fork) == list("abCdef")
        tree.show(talk, here[3].node, here[0].node)
        assert tree.words(fork) == "abCdef"


def test_results_are_left_out_with_their_reply_also_where_a_new_version_has_them() -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        reply = tree.call(talk, asked, "1")
        results = tree.results(reply, "1")
        edited = tree.call(talk, asked, "1")
        group = tree.graft(talk, edited, results, 1)
        tree.hide(talk, edited.node)
        assert [said.role for said in places.said(tree.tx, group)] == ["user"]
        assert [said.role for said in places.said(tree.tx, results)] == ["user", "assistant", "tool"]


def test_said_is_as_of_a_log_number() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        hidden = tree.hide(talk, here[1].node)
        shown = tree.show(talk, here[1].node)

        def words(log: int | None) -> str:
            parts = [said.parts[0] for said in places.said(tree.tx, here[-1], log=log)]
            return "".join(getattr(part, "text", "") for part in parts)

        assert [words(hidden - 1), words(hidden), words(shown), words(None)] == ["abc", "ac", "abc", "abc"]


@pytest.mark.parametrize("others", [0, 100])
def test_marks_are_known_also_among_many_of_others(others: int) -> None:
    with growing() as tree:
        talk, noisy = tree.conversation(), tree.conversation()
        first = tree.say(talk, ROOT, "first")
        for node in tree.line(noisy, "x" * others):
            tree.hide(noisy, node.node)
        here = [first, *tree.line(talk, "y" * 40, first)]
        seqs = [spot.node for spot in here]
        before = log.newest(tree.tx)
        tree.hide(talk, *seqs[::3])
        assert marks.hidden_now(tree.tx, seqs) == set(seqs[::3])
        assert marks.hidden_now(tree.tx, []) == set()
        tree.show(talk, *seqs[::3])
        assert marks.hidden_now(tree.tx, seqs) == set()
        assert marks.hidden_at(tree.tx, log.newest(tree.tx) - 1, seqs) == set(seqs[::3])
        assert marks.hidden_at(tree.tx, before, seqs) == set()


def test_a_mark_only_ever_ends() -> None:
    with growing() as tree:
        talk = tree.conversation()
        a = tree.say(talk, ROOT, "a").node
        tree.hide(talk, a)
        tree.show(talk, a)
        with pytest.raises(apsw.ConstraintError):
            tree.tx.run("UPDATE mark SET until = NULL")


def test_the_trash_of_messages_lists_them_by_seq() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        tree.hide(talk, here[2].node, here[0].node)
        assert [node.text for node in nodes.hidden(tree.tx, talk)] == ["a", "c"]
