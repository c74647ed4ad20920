"""Random verbs against plain lists: same paths, siblings as by definition, digests as the paths, rows as promised.

Replies with calls and their results are among them: verbs that name either mean both, also where an edited reply has
the results of the old one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from forkwood.domain.errors import Refused
from forkwood.domain.message import Text, ToolCall
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import digests, entries, locate, places, walk
from tests.soak import trials
from tests.store.seeds import opened
from tests.store.trees import Tree, growing

SAYING = ("append", "append", "call", "first")
VERBS = (*SAYING, "edit", "edit", "keep", "keep", "drop", "graft", "graft", "fork", "hide", "hide", "show")
ROWS = {
    "append": 1,
    "call": 2,
    "edit": 2,
    "keep": 3,
    "drop": 1,
    "graft": 1,
    "fork": 1,
    "first": 1,
    "hide": 0,
    "show": 0,
}
"""What an edit of a reply with calls takes; of any other message one less."""

Acts = some.lists(some.tuples(some.sampled_from(VERBS), *[some.integers(0, 10_000)] * 4), min_size=5, max_size=40)


@dataclass
class World:
    """The tree, and what it should be: for every place made so far its conversation and the list of its messages."""

    tree: Tree
    paths: dict[Spot, tuple[int, ...]] = field(default_factory=dict)
    home: dict[Spot, int] = field(default_factory=dict)
    words: dict[int, str] = field(default_factory=dict)
    hung: list[tuple[int, Spot, int, tuple[int, ...]]] = field(default_factory=list)
    """Every row: its seq, where it hangs, its conversation, the messages it adds."""
    hidden: set[int] = field(default_factory=set)
    """Marked ones: results on a path are as hidden as the reply before them."""
    calls: dict[int, str] = field(default_factory=dict)
    """The call that a reply makes."""
    results: set[int] = field(default_factory=set)

    def put(self, conversation: int, at: Spot, made: Spot, adds: tuple[int, ...]) -> None:
        before = self.paths[at] if at.node else ()
        self.paths[made] = before + adds
        self.home[made] = conversation
        if not any(row[0] == made.node for row in self.hung):
            self.hung.append((made.node, at, conversation, adds))

    def group(self, path: tuple[int, ...], index: int) -> tuple[int, int]:
        """Where the group of an entry begins on its path, and where it ends."""
        first = index - (path[index] in self.results)
        return first, first + 1 + (path[first + 1 : first + 2] != () and path[first + 1] in self.results)

    def unseen(self, path: tuple[int, ...]) -> set[int]:
        """What is hidden on a path."""
        before = pairwise(path)
        behind = {node for reply, node in before if node in self.results and reply in self.hidden}
        return {node for node in path if node in self.hidden and node not in self.results} | behind

    def called(self, conversation: int, at: Spot, call: str, words: str, *, revises: int = 0) -> Spot:
        """A reply with a call; its place is none that anybody is at: results come."""
        parts = (Text(text=words), ToolCall(call=call, name="look", arguments={}))
        reply = self.tree.add(conversation, at, parts, "assistant", revises=revises)
        self.calls[reply.node], self.words[reply.node] = call, words
        self.put(conversation, at, reply, (reply.node,))
        return reply

    def said(self, conversation: int, at: Spot, made: Spot, words: str) -> None:
        self.words[made.node] = words
        self.put(conversation, at, made, (made.node,))


def act(world: World, verb: str, draw: tuple[int, ...]) -> None:
    tree, heads = world.tree, list(world.paths)
    head = heads[draw[0] % len(heads)]
    path, talk = world.paths[head], world.home[head]
    index, end = world.group(path, draw[1] % len(path))
    at = walk.canonical(tree.tx, head.node, head.cut + len(path) - index)
    world.paths.setdefault(at, path[:index])
    world.home.setdefault(at, talk)
    if not at.node:
        world.paths.pop(at)
    words = f"{verb}{len(world.words)}"
    match verb:
        case "append":
            world.said(talk, head, tree.say(talk, head, words), words)
        case "call":
            _call(world, talk, head, words)
        case "edit":
            _edit(world, head, at, index, words)
        case "keep":
            _carry(world, talk, _edit(world, head, at, index, words), head, path[end:])
        case "drop":
            _carry(world, talk, at, head, path[end:])
        case "graft":
            _foreign(world, head, heads[draw[2] % len(heads)], draw[3])
        case "fork":
            _carry(world, tree.conversation(), ROOT, head, path)
        case "first":
            world.said(talk, ROOT, tree.say(talk, ROOT, words), words)
        case "hide" | "show":
            marked = path[index:end]
            (tree.hide if verb == "hide" else tree.show)(talk, *marked)
            (world.hidden.update if verb == "hide" else world.hidden.difference_update)(marked)


def _call(world: World, talk: int, head: Spot, words: str) -> None:
    """A reply with a call, and its results."""
    reply = world.called(talk, head, words, words)
    results = world.tree.results(reply, words)
    world.results.add(results.node)
    world.said(talk, reply, results, f"saw {words}")
    del world.paths[reply]


def _edit(world: World, head: Spot, at: Spot, index: int, words: str) -> Spot:
    """A new version of an entry; one with calls gets the results behind it, carried."""
    path, talk = world.paths[head], world.home[head]
    first, end = world.group(path, index)
    if end - first == 1:
        new = world.tree.edit(talk, head, index, words)
        world.said(talk, at, new, words)
        return new
    reply = world.called(talk, at, world.calls[path[index]], words, revises=path[index])
    behind = world.tree.graft(talk, reply, Spot(path[index + 1]), 1)
    world.put(talk, reply, behind, path[index + 1 : end])
    del world.paths[reply]
    return behind


def _carry(world: World, talk: int, at: Spot, source: Spot, carried: tuple[int, ...]) -> None:
    if carried:
        world.put(talk, at, world.tree.graft(talk, at, source, len(carried)), carried)


def _foreign(world: World, head: Spot, source: Spot, draw: int) -> None:
    path = world.paths[source]
    count = len(path) - world.group(path, draw % len(path))[0]
    carried = path[-count:]
    if set(carried) & set(world.paths[head]):
        try:
            seq, new = world.tree.grafted(world.home[head], head, source, count)
        except Refused:
            return
        raise AssertionError(f"a message would stand twice, in graft {seq} ({new})")
    _carry(world, world.home[head], head, source, carried)


def siblings_by_definition(world: World, at: Spot, conversation: int, unseen: set[int]) -> list[int]:
    """Of every node that hangs there its first entry, and in a graft the entry it goes on with; by age, each once.
    UNSEEN: what is hidden on the path that is looked at."""
    brought = [(seq, adds[0]) for seq, place, home, adds in world.hung if place == at and home == conversation]
    if at.cut:
        adds = next(adds for seq, _, _, adds in world.hung if seq == at.node)
        brought.append((at.node, adds[-at.cut]))
    distinct = dict.fromkeys(node for _, node in sorted(brought))
    hidden = unseen | (world.hidden - world.results)
    return [node for node in distinct if node not in hidden]


def check(world: World) -> None:
    tree = world.tree
    by_words: dict[tuple[str, ...], set[str]] = {}
    for spot, path in world.paths.items():
        light = walk.light_entries(tree.tx, spot)
        assert tuple(entry.node for entry in light) == path
        assert walk.size(tree.tx, spot) == len(path)
        shown = entries.entries(tree.tx, spot)
        assert [entry.node.seq for entry in shown] == [node for node in path if node not in world.unseen(path)]
        said = [said.node for said in places.said(tree.tx, spot)]
        assert said == [entry.node.id for entry in shown]
        spelled = tuple(world.words[node] for node in path)
        by_words.setdefault(spelled, set()).add(digests.path_digest(tree.tx, spot))
    assert all(len(found) == 1 for found in by_words.values()), "equal paths, equal digests"
    every = [digest for found in by_words.values() for digest in found]
    assert len(set(every)) == len(every), "other paths, other digests"
    for spot in list(world.paths)[-8:]:
        _check_beside(world, spot)


def _check_beside(world: World, spot: Spot) -> None:
    tree, talk, path = world.tree, world.home[spot], world.paths[spot]
    light, unseen = walk.light_entries(tree.tx, spot), world.unseen(path)
    shown = entries.entries(tree.tx, spot, hidden=True)
    assert [entry.node.hidden for entry in shown] == [node in unseen for node in path]
    for number, (met, entry) in enumerate(zip(light, shown, strict=True)):
        expected = siblings_by_definition(world, met.before, talk, unseen)
        assert entries.siblings(tree.tx, met.before, talk) == expected
        assert [tree.seq(name) for name in entry.siblings.ids] == expected
        index = expected.index(met.node) + 1 if met.node not in unseen else 0
        assert (entry.siblings.index, entry.siblings.count) == (index, len(expected))
        assert places.standing(tree.tx, spot, met.node) == (met.before, met.after)
        first, end = world.group(path, number)
        group = locate.Located(light[first].before, light[end - 1].after, path[first:end])
        assert locate.entry(tree.tx, spot, met.node) == group, "naming either means both"


def begin(tree: Tree) -> World:
    world = World(tree)
    for _ in range(2):
        talk = tree.conversation()
        begun = tree.say(talk, ROOT, f"begin{talk}")
        world.said(talk, ROOT, begun, f"begin{talk}")
        _call(world, talk, begun, f"call{talk}")
    return world


@given(Acts)
def test_any_sequence_of_verbs_is_as_plain_lists_would_be(acts: list[tuple[Any, ...]]) -> None:
    with growing() as tree:
        world = begin(tree)
        for verb, *draw in acts:
            before = tree.rows()
            act(world, verb, tuple(draw))
            assert tree.rows() - before <= ROWS[verb]
        check(world)


@given(Acts)
@settings(max_examples=trials(5))
def test_a_store_opened_again_is_the_same(tmp_path_factory: Any, acts: list[tuple[Any, ...]]) -> None:
    home: Path = tmp_path_factory.mktemp("home") / "forkwood"
    store = opened(home)
    with store.write() as tx:
        world = begin(Tree(tx))
        for verb, *draw in acts:
            act(world, verb, tuple(draw))
    store.close()
    store = opened(home)
    with store.write() as tx:
        world.tree.tx = tx
        check(world)
    store.close()


def test_looks_grow_with_the_logarithm_of_depth_at_most() -> None:
    looks: dict[int, list[int]] = {}
    for depth in (100, 2_000):
        with growing() as tree:
            talk = tree.conversation()
            head = tree.line(talk, "m" * depth)[-1]
            for index in (depth - 10, 50, depth // 2):
                head = tree.keep(talk, head, index, "k")
            looks[depth] = [_instructions(tree, talk, head, index) for index in (2, 60, depth - 5)]
    assert all(deep <= 2.5 * shallow for shallow, deep in zip(looks[100], looks[2_000], strict=True)), looks


def _instructions(tree: Tree, talk: int, head: Spot, index: int) -> int:
    """What an edit, a keep, a drop and a fork at an entry take of SQLite's machine."""

    def all_of_them() -> None:
        assert places.standing(tree.tx, head, node) is not None
        tree.keep(talk, head, index, "deep")
        tree.drop(talk, head, index)
        tree.graft(tree.conversation(), ROOT, walk.prefix(tree.tx, head, index + 1), index + 1)

    node = tree.seqs(head)[index]
    return tree.work(all_of_them)
