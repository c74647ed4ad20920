"""Digests: equal for equal paths however they came about, different for others, kept as an index that can be wrong."""

from __future__ import annotations

from forkwood.domain.digest import START, Digests
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import digests
from forkwood.store.db import Tx
from tests.store.trees import growing


def test_equal_paths_have_equal_digests_however_they_came_about() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        here = tree.line(talk, "abcdef")
        fork = tree.graft(other, ROOT, here[-1], 6)
        again = tree.line(other, "abcdef")
        assert len({digests.path_digest(tree.tx, spot) for spot in (here[-1], fork, again[-1])}) == 1
        assert len({digests.match_digest(tree.tx, spot) for spot in (here[-1], fork, again[-1])}) == 1
        assert digests.path_digest(tree.tx, Spot(fork.node, 2)) == digests.path_digest(tree.tx, here[3])
        every = [digests.path_digest(tree.tx, spot) for spot in (ROOT, *here)]
        assert len(set(every)) == 7 and every[0] == START.hex()


def test_a_digest_is_kept_and_the_next_starts_from_it() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcdef")
        first = digests.of_place(tree.tx, here[2])
        assert tree.tx.rows("SELECT node, cut FROM digest") == [(here[2].node, 0)]
        tree.tx.run("UPDATE digest SET path = zeroblob(32)")
        false = digests.of_place(tree.tx, here[4])
        assert false != digests.afresh(tree.tx, here[4]), "it was folded on from what was kept"
        assert list(digests.wrong(tree.tx)) == [here[2], here[4]]
        digests.forget(tree.tx)
        assert digests.of_place(tree.tx, here[2]) == first and list(digests.wrong(tree.tx)) == []


def test_a_digest_inside_a_graft_starts_above_it() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcdef")
        kept = tree.keep(talk, here[-1], 1, "B")
        digests.of_place(tree.tx, Spot(kept.node, 3))
        for spot in (kept, Spot(kept.node, 1), tree.say(talk, Spot(kept.node, 2), "x")):
            assert digests.of_place(tree.tx, spot) == digests.afresh(tree.tx, spot)


def test_a_transaction_that_only_reads_keeps_nothing() -> None:
    with growing() as tree:
        here = tree.line(tree.conversation(), "abc")
        reading = Tx(tree.tx.connection, writes=False)
        assert digests.of_place(reading, here[-1]) == digests.of_place(tree.tx, here[-1])
        digests.forget(tree.tx)
        digests.of_place(reading, here[-1])
        assert tree.tx.value("SELECT count(*) FROM digest") == 0
        assert digests.of_place(reading, ROOT) == Digests()


def test_a_purged_message_folds_as_a_husk() -> None:
    with growing() as tree:
        talk, other = tree.conversation(), tree.conversation()
        one, two = tree.line(talk, "abc"), tree.line(other, "axc")
        assert digests.path_digest(tree.tx, one[-1]) != digests.path_digest(tree.tx, two[-1])
        tree.tx.run("INSERT INTO purging VALUES (1)")
        tree.tx.run("UPDATE node SET parts = '[]', purged = 1 WHERE seq IN (?, ?)", (one[1].node, two[1].node))
        digests.forget(tree.tx)
        assert digests.path_digest(tree.tx, one[-1]) == digests.path_digest(tree.tx, two[-1])
