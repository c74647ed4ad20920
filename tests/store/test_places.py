"""Places as names give them, where a message stands, and what a path says."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import Misused
from forkwood.domain.message import Text
from forkwood.domain.prompt import Said
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import nodes, places, walk
from tests.store.trees import growing


@pytest.mark.parametrize(("cut", "fine"), [(0, True), (1, True), (2, True), (3, False), (-1, False), (99, False)])
def test_a_place_inside_a_graft_must_be_inside_it(cut: int, fine: bool) -> None:
    with growing() as tree:
        talk = tree.conversation()
        kept = tree.keep(talk, tree.line(talk, "abcd")[-1], 0, "A")
        if fine:
            assert places.checked(tree.tx, kept.node, cut) == Spot(kept.node, cut)
        else:
            with pytest.raises(Misused):
                places.checked(tree.tx, kept.node, cut)


def test_a_node_that_is_not_there_has_no_place() -> None:
    with growing() as tree, pytest.raises(Misused):
        places.checked(tree.tx, 7, 0)


def test_where_a_message_stands_is_found_on_every_path_it_is_on_and_no_other() -> None:
    with growing() as tree:
        talk, other, third = (tree.conversation() for _ in range(3))
        here = tree.line(talk, "abcdefgh")
        kept = tree.keep(talk, here[-1], 2, "C")
        again = tree.keep(talk, kept, 5, "F")
        dropped = tree.drop(talk, again, 3)
        side = tree.line(talk, "xy", Spot(kept.node, 3))[-1]
        fork = tree.graft(other, ROOT, Spot(again.node, 1), 7)
        far = tree.graft(third, tree.say(third, ROOT, "z"), Spot(fork.node, 2), 3)
        everything = [node.seq for talked in (talk, other, third) for node in nodes.of_conversation(tree.tx, talked)]
        for path in (here[-1], here[3], kept, again, dropped, side, fork, far, ROOT):
            around = {entry.node: (entry.before, entry.after) for entry in walk.light_entries(tree.tx, path)}
            for node in [*everything, 999]:
                assert places.standing(tree.tx, path, node) == around.get(node), (path, node)


def test_what_is_said_is_visible_and_not_purged() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcd")
        tree.hide(talk, here[1].node)
        tree.tx.run("INSERT INTO purging VALUES (1)")
        tree.tx.run("UPDATE node SET parts = '[]', purged = 1 WHERE seq = ?", (here[2].node,))
        ids = [node.id for node in nodes.rows(tree.tx, [here[0].node, here[3].node])]
        assert places.said(tree.tx, here[-1]) == [
            Said(node=ids[0], role="user", parts=(Text(text="a"),)),
            Said(node=ids[1], role="assistant", parts=(Text(text="d"),)),
        ]
        husk = nodes.row(tree.tx, here[2].node)
        assert husk.purged and husk.parts == () and husk.text == "" and husk.role == "user"
        assert places.said(tree.tx, ROOT) == []
