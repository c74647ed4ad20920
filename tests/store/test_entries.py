"""Entries: the place before each, through which graft it came, what could stand there instead, and its notices."""

from __future__ import annotations

import pytest

from forkwood.domain.act import Who
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.event import NoticeGiven
from forkwood.domain.tree import ROOT, Entry, Notice, Spot
from forkwood.store import entries, log, nodes, walk
from tests.store.trees import NOW, Tree, growing


def test_an_entry_names_its_place_and_its_graft() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcde")
        kept = tree.keep(talk, here[-1], 1, "B")
        found = entries.entries(tree.tx, kept)
        name = nodes.row(tree.tx, kept.node).id
        new = nodes.row(tree.tx, kept.node - 1).id
        a = nodes.row(tree.tx, here[0].node).id
        assert [entry.at for entry in found] == [None, a, new, f"{name}~2", f"{name}~1"]
        assert [entry.graft for entry in found] == [None, None, name, name, name]
        assert [entry.node for entry in found] == nodes.rows(tree.tx, tree.seqs(kept))
        assert [entry.node.at for entry in found][2:] == [nodes.spot_text(tree.tx, spot) for spot in here[1:4]]


def test_a_carried_message_of_another_conversation_is_its_own_node() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        here = tree.line(talk, "abc")
        fork = tree.graft(other, ROOT, here[-1], 3)
        more = tree.say(other, Spot(fork.node, 1), "x")
        assert [entry.node for entry in entries.entries(tree.tx, more)] == nodes.rows(
            tree.tx, [here[0].node, here[1].node, more.node]
        )


def test_a_path_with_one_way_only_has_one_sibling_everywhere() -> None:
    with growing() as tree:
        talk = tree.conversation()
        tree.line(tree.conversation(), "xyz")
        found = entries.entries(tree.tx, tree.line(talk, "abcd")[-1])
        assert [(entry.siblings.index, entry.siblings.count, entry.siblings.ids) for entry in found] == [
            (1, 1, (entry.node.id,)) for entry in found
        ]
        assert entries.entries(tree.tx, ROOT) == []


@pytest.mark.parametrize(
    ("which", "index", "beside"),
    [
        ("home", 0, "1/1 a"),
        ("home", 2, "1/3 c C D"),
        ("home", 3, "1/1 d"),
        ("kept", 2, "2/3 c C D"),
        ("kept", 3, "1/1 d"),
        ("kept", 4, "1/3 e E F"),
        ("kept", 5, "1/1 f"),
        ("E", 4, "2/3 e E F"),
        ("F", 4, "3/3 e E F"),
        ("D", 2, "3/3 c C D"),
    ],
)
def test_siblings_are_all_that_can_stand_there_by_age(which: str, index: int, beside: str) -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcdef")
        named = {"home": here[-1], "kept": tree.keep(talk, here[-1], 2, "C")}
        named["E"] = tree.edit(talk, named["kept"], 4, "E")
        named["F"] = tree.edit(talk, named["kept"], 4, "F")
        named["D"] = tree.say(talk, here[1], "D")
        assert tree.beside(named[which], index) == beside
        entry = walk.light_entries(tree.tx, named[which])[index]
        names = [nodes.row(tree.tx, seq).text for seq in entries.siblings(tree.tx, entry.before, talk)]
        assert " ".join(names) == beside.split(maxsplit=1)[1]


def test_a_dropped_entry_has_what_followed_it_as_sibling() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcde")
        dropped = tree.drop(talk, here[-1], 2)
        assert tree.words(dropped) == "abde"
        assert tree.beside(dropped, 2) == "2/2 c d"
        assert tree.beside(here[-1], 2) == "1/2 c d"


def test_a_message_that_comes_by_two_ways_is_counted_once() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcde")
        side = tree.line(talk, "xy", here[0])
        tree.graft(talk, here[0], here[-1], 2)
        tree.graft(talk, here[0], here[-1], 1)
        tree.graft(talk, here[0], here[3], 1)
        assert tree.beside(here[-1], 1) == "1/4 b x d e"
        assert tree.beside(side[-1], 1) == "2/4 b x d e"


def test_first_messages_are_siblings_within_their_conversation() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        a = tree.say(talk, ROOT, "a")
        b = tree.say(talk, ROOT, "b")
        fork = tree.graft(other, ROOT, tree.line(talk, "cd", b)[-1], 3)
        c = tree.say(other, ROOT, "z")
        assert tree.beside(a, 0) == "1/2 a b"
        assert tree.beside(fork, 0) == "1/2 b z"
        assert tree.beside(c, 0) == "2/2 b z"


def test_hidden_ones_are_left_out_of_the_count() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        x, y = (tree.say(talk, here[0], word) for word in "xy")
        tree.hide(talk, here[1].node)
        assert tree.words(here[-1]) == "ac"
        assert tree.beside(here[-1], 1) == "0/2 x y"
        assert tree.beside(x, 1) == "1/2 x y"
        tree.hide(talk, y.node)
        assert tree.beside(x, 1) == "1/1 x"
        assert entries.siblings(tree.tx, here[0]) == [x.node]
        flags = [entry.node.hidden for entry in entries.entries(tree.tx, here[-1], hidden=True)]
        assert flags == [False, True, False]


def test_places_on_other_branches_do_not_count() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcdef")
        kept = tree.keep(talk, here[-1], 1, "B")
        tree.say(talk, here[3], "beside e at home")
        leaving = tree.say(talk, Spot(kept.node, 2), "out")
        tree.say(talk, Spot(kept.node, 1), "beside f")
        assert tree.beside(kept, 4) == "1/2 e out"
        assert tree.beside(kept, 5) == "1/2 f beside f"
        assert tree.beside(leaving, 4) == "2/2 e out"
        assert tree.beside(here[-1], 4) == "1/2 e beside e at home"


def test_notices_stand_at_their_node_in_the_order_given() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abc")
        wanted = (("one", here[1].node), ("two", here[1].node), ("far", here[2].node))
        given = [told(tree, talk, node, text) for text, node in wanted]
        found = entries.entries(tree.tx, here[1])
        assert [entry.notices for entry in found] == [
            (),
            (Notice(seq=given[0], what="partial", text="one"), Notice(seq=given[1], what="partial", text="two")),
        ]


@pytest.mark.parametrize("words", ["abc", "abcdefghijklmnopqrstuvwxyz"])
def test_what_other_conversations_have_between_is_not_read(words: str) -> None:
    work = []
    for others in (100, 2_000):
        with growing() as tree:
            talk, noisy = tree.conversation(), tree.conversation()
            first = tree.say(talk, ROOT, "first")
            for node in tree.line(noisy, "x" * others):
                told(tree, noisy, node.node, "noise")
                tree.hide(noisy, node.node)
            head = tree.line(talk, words, first)[-1]
            tree.hide(talk, head.node)
            given = told(tree, talk, head.node, "mine")
            found: list[Entry] = []
            work.append(tree.work(lambda: found.extend(entries.entries(tree.tx, head, hidden=True))))  # noqa: B023
            assert [entry.node.hidden for entry in found] == [False] * len(words) + [True]
            assert [entry.notices for entry in found[-2:]] == [(), (Notice(seq=given, what="partial", text="mine"),)]
    assert work[1] <= work[0] + 20


def told(tree: Tree, conversation: int, node: int, text: str) -> int:
    """A notice at a node; its log number."""
    who = Who(by="system", via="cli")
    notice = NoticeGiven(what="partial", text=text)
    return log.write(tree.tx, notice, who=who, now_ms=NOW, conversation=conversation, node=node)


def test_a_place_whose_node_is_gone_is_a_broken_path() -> None:
    with growing() as tree, pytest.raises(StoreUnusable, match="is broken"):
        entries.entries(tree.tx, Spot(99))


def test_entries_agree_with_light_ones_in_stretches_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    with growing() as tree:
        talk = tree.conversation()
        head = tree.line(talk, "abcdefghijklmnop")[-1]
        for index in (12, 4, 9, 14):
            tree.edit(talk, head, index, "side")
            head = tree.keep(talk, head, index, str(index))
        tree.hide(talk, tree.seqs(head)[7])
        whole = entries.entries(tree.tx, head, hidden=True)
        lights = walk.light_entries(tree.tx, head)
        assert [entry.at for entry in whole] == [nodes.spot_text(tree.tx, light.before) for light in lights]
        for chunk in (1, 2, 3, 7):
            monkeypatch.setattr(walk, "CHUNK", chunk)
            assert entries.entries(tree.tx, head, hidden=True) == whole
