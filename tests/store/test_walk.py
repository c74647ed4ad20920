"""Walking up: every place of a path is found without reading it, and reading it gives the same whatever its shape."""

from __future__ import annotations

from itertools import pairwise

import pytest

from forkwood.domain.errors import StoreUnusable
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import walk
from tests.store.trees import growing


def test_every_prefix_of_a_long_path_is_found() -> None:
    with growing() as tree:
        here = tree.line(tree.conversation(), "m" * 200)
        for end in (0, 1, 2, 3, 63, 64, 65, 127, 199):
            for entries in range(end + 2):
                assert walk.prefix(tree.tx, here[end], entries) == (here[entries - 1] if entries else ROOT)


@pytest.mark.parametrize("index", range(8))
def test_every_prefix_is_found_below_places_inside_grafts(index: int) -> None:
    with growing() as tree:
        talk = tree.conversation()
        head = tree.line(talk, "m" * 30)[-1]
        for cut in (9, 5, 17, 2):
            head = tree.keep(talk, head, index, "k")
            head = tree.line(talk, "n" * 40, Spot(head.node, cut))[-1]
        after = [ROOT, *(entry.after for entry in walk.light_entries(tree.tx, head))]
        assert [walk.prefix(tree.tx, head, entries) for entries in range(len(after))] == after


def test_a_place_is_found_in_few_looks() -> None:
    with growing() as tree:
        here = tree.line(tree.conversation(), "m" * 1_000)
        looks = [
            tree.tx.value(walk._PREFIX.split(") SELECT")[0] + ") SELECT count(*) FROM seek", args)
            for args in ({"node": here[-1].node, "cut": 0, "size": size} for size in range(1, 1_000, 7))
        ]
        assert max(looks) <= 3 * 10


def test_a_place_inside_a_graft_has_one_spelling() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcdef")
        kept = tree.keep(talk, here[-1], 2, "C")
        new = Spot(kept.node - 1)
        assert [walk.canonical(tree.tx, kept.node, cut) for cut in range(7)] == [
            kept,
            Spot(kept.node, 1),
            Spot(kept.node, 2),
            new,
            here[1],
            here[0],
            ROOT,
        ]
        assert [walk.size(tree.tx, Spot(kept.node, cut)) for cut in range(3)] == [6, 5, 4]


@pytest.mark.parametrize("count", [0, 1, 2, 5, 6, 7, 9, 12])
def test_the_last_entries_are_those_of_the_whole_path(count: int) -> None:
    with growing() as tree:
        talk = tree.conversation()
        head = tree.line(talk, "abcdefghijkl")[-1]
        head = tree.keep(talk, head, 8, "I")
        head = tree.keep(talk, head, 3, "D")
        whole = walk.light_entries(tree.tx, head)
        assert len(whole) == 12
        assert walk.light_entries(tree.tx, head, count) == whole[12 - count :]


def test_steps_are_linked_place_to_place() -> None:
    with growing() as tree:
        talk = tree.conversation()
        here = tree.line(talk, "abcdef")
        head = tree.keep(talk, here[-1], 3, "D")
        found = walk.light_entries(tree.tx, head)
        assert found[0].before == ROOT and found[-1].after == head
        assert all(one.after == two.before for one, two in pairwise(found))
        assert [entry.graft for entry in found] == [0, 0, 0, 0, head.node, head.node]
        assert [walk.last(tree.tx, entry.after) for entry in found] == [entry.node for entry in found]


def test_a_path_longer_than_a_stretch_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    with growing() as tree:
        talk = tree.conversation()
        head = tree.line(talk, "abcdefghijklmnopqrstuvwxyz")[-1]
        for index in (20, 13, 6, 24):
            head = tree.keep(talk, head, index, str(index))
        whole = walk.light_entries(tree.tx, head)
        for chunk in (1, 2, 3, 5, 25, 26):
            monkeypatch.setattr(walk, "CHUNK", chunk)
            assert walk.light_entries(tree.tx, head) == whole
            assert walk.light_entries(tree.tx, head, 11) == whole[-11:]
            assert max(len(stretch.rows) for stretch in walk.stretches(tree.tx, head, 26)) <= chunk


def test_a_place_between_a_reply_and_its_results_is_read_as_after_them() -> None:
    with growing() as tree:
        talk = tree.conversation()
        asked = tree.say(talk, ROOT, "q")
        reply = tree.call(talk, asked, "1")
        assert walk.canonical(tree.tx, reply.node, 0) == reply, "its results are still to come"
        results = tree.results(reply, "1")
        assert walk.canonical(tree.tx, reply.node, 0) == results
        assert walk.spelled(tree.tx, reply.node, 0) == reply
        carried = tree.graft(talk, tree.say(talk, ROOT, "other"), results, 2)
        assert walk.canonical(tree.tx, carried.node, 1) == carried
        assert walk.canonical(tree.tx, asked.node, 0) == asked


def test_a_broken_path_is_told_not_shortened() -> None:
    with growing(damaged=True) as tree:
        here = tree.line(tree.conversation(), "abcde")
        assert walk.reaches_root(tree.tx, here[-1])
        tree.tx.run("DELETE FROM node WHERE seq = ?", (here[1].node,))
        assert not walk.reaches_root(tree.tx, here[-1])
        assert not walk.is_whole(tree.tx, here[-1])
        assert walk.is_whole(tree.tx, here[0])
        with pytest.raises(StoreUnusable) as told:
            walk.light_entries(tree.tx, here[-1])
        assert "doctor" in told.value.hint
        assert walk.is_broken(told.value)


@pytest.mark.parametrize("count", [1, 2])
def test_a_graft_of_what_is_gone_is_a_broken_path(count: int) -> None:
    with growing(damaged=True) as tree:
        source = tree.line(tree.conversation(), "abc")
        talk = tree.conversation()
        carried = tree.graft(talk, tree.say(talk, ROOT, "x"), source[-1], count)
        end = tree.say(talk, carried, "y")
        assert walk.is_whole(tree.tx, end)
        tree.tx.run("DELETE FROM node WHERE seq = ?", (source[-1].node,))
        assert walk.reaches_root(tree.tx, end)
        assert not walk.is_whole(tree.tx, end)
        with pytest.raises(StoreUnusable):
            walk.messages(tree.tx, end)
