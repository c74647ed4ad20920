"""Random sequences of verbs against a tiny model of the tree: plain lists of ids, and a stack of what was before."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as some

from forkwood.domain.errors import Refused
from forkwood.runtime import Runtime
from tests.runtime.doors import door

Path = tuple[str, ...]
ROWS_MAX = {"keep": 2, "switch": 0, "hide": 0, "unhide": 0, "label": 0, "set": 0, "undo": 0, "redo": 0}
VERBS = (
    "send",
    "send",
    "edit",
    "keep",
    "keep",
    "drop",
    "graft",
    "switch",
    "hide",
    "unhide",
    "label",
    "set",
    "undo",
    "redo",
)


class World:
    """The runtime and what the model expects of it."""

    def __init__(self) -> None:
        self.runtime: Runtime = door()
        self.runtime.new(title="a world")
        self.texts: dict[str, str] = {}
        self.appended: dict[str, Path] = {}
        self.path: Path = ()
        self.hidden: frozenset[str] = frozenset()
        self.label: str | None = None
        self.model: str | None = None
        self.known_paths: list[Path] = []
        self.past: list[tuple[object, ...]] = []
        self.future: list[tuple[object, ...]] = []

    def state(self) -> tuple[object, ...]:
        return self.path, self.hidden, self.label, self.model

    def restore(self, state: tuple[object, ...]) -> None:
        self.path, self.hidden, self.label, self.model = state  # type: ignore[assignment]

    def act(self, before: tuple[object, ...]) -> None:
        """What was done is an act, where it changed anything."""
        if before == self.state():
            return
        self.past.append(before)
        self.future.clear()

    def say(self, text: str) -> str:
        node = self.runtime.send(text, run=False).node
        self.texts[node.id] = text
        self.appended[node.id] = (*self.path, node.id)
        return node.id

    def do(self, verb: str, draws: Iterator[int]) -> str:
        """One verb, and the model follows; what was done. On an empty path there is only something to say."""
        number = next(draws)
        if not self.path and verb not in {"undo", "redo", "set"}:
            verb = "send"
        index = number % len(self.path) if self.path else 0
        before = self.state()
        match verb:
            case "send":
                self.path = (*self.path, self.say(f"said {number}"))
                self.act(before)
            case "edit" | "keep":
                self._edit(index, keep=verb == "keep")
                self.act(before)
            case "drop":
                self.runtime.drop(self.path[index])
                self.path = self.path[:index] + self.path[index + 1 :]
                self.act(before)
            case "graft":
                self._graft(number, next(draws), before)
            case "switch":
                node = list(self.appended)[number % len(self.appended)]
                self.runtime.switch(node, here=True)
                self.path = self.path[: self.path.index(node) + 1] if node in self.path else self.appended[node]
                self.act(before)
            case "hide" | "unhide":
                self._mark(self.path[index], hidden=verb == "hide", before=before)
            case "label":
                self.runtime.label(self.path[index], "here it is")
                self.label = self.path[index]
                self.act(before)
            case "set":
                value = f"scripted:/{number % 3}.json"
                self.runtime.set("model", value)
                self.model = value
                self.act(before)
            case "undo" if self.past:
                self.runtime.undo()
                self.future.append(before)
                self.restore(self.past.pop())
            case "redo" if self.future:
                self.runtime.redo()
                self.past.append(before)
                self.restore(self.future.pop())
            case _:
                pass
        return verb

    def _edit(self, index: int, *, keep: bool) -> None:
        old = self.path[index]
        text = f"{self.texts[old]}'"
        edited = self.runtime.edit(old, text, keep=keep, run=False)
        self.texts[edited.node.id] = text
        self.appended[edited.node.id] = (*self.path[:index], edited.node.id)
        self.path = (*self.path[:index], edited.node.id, *(self.path[index + 1 :] if keep else ()))
        assert edited.replaced == old

    def _graft(self, number: int, other: int, before: tuple[object, ...]) -> None:
        source = self.known_paths[number % len(self.known_paths)]
        first = other % len(source)
        last = first + other % 3 if first + other % 3 < len(source) else first
        wanted = source[first : last + 1]
        if self.appended.get(source[last]) != source[: last + 1]:
            return  # it stands so on a path that no single node names: --on could not mean it
        collides = not set(wanted).isdisjoint(self.path)
        try:
            self.runtime.graft(wanted[0], wanted[-1], on=source[last])
        except Refused:
            assert collides, "only a message that would stand there twice is refused"
            return
        assert not collides
        self.path += wanted
        self.act(before)

    def _mark(self, node: str, *, hidden: bool, before: tuple[object, ...]) -> None:
        touched = (self.runtime.hide if hidden else self.runtime.unhide)(node)
        changes = (node in self.hidden) != hidden
        assert touched.nodes == ((node,) if changes else ())
        if changes:
            self.hidden = self.hidden | {node} if hidden else self.hidden - {node}
            self.act(before)

    def check(self) -> None:
        """The runtime is where the model is."""
        entries = self.runtime.path(hidden=True)
        assert tuple(entry.node.id for entry in entries) == self.path
        visible = [entry.node.id for entry in self.runtime.path()]
        assert visible == [node for node in self.path if node not in self.hidden]
        conversation = self.runtime.conversation()
        assert conversation.model == self.model
        for entry in entries:
            if not entry.node.hidden:
                assert entry.siblings.ids[entry.siblings.index - 1] == entry.node.id
        if self.path:
            self.known_paths.append(self.path)


def rows(runtime: Runtime) -> int:
    with runtime.house.store.read() as tx:
        return int(tx.value("SELECT count(*) FROM node"))


@settings(max_examples=1_500)
@given(
    some.lists(some.tuples(some.sampled_from(VERBS), some.integers(0, 1 << 16), some.integers(0, 1 << 16)), max_size=30)
)
def test_verbs_do_what_lists_do(steps: list[tuple[str, int, int]]) -> None:
    world = World()
    for verb, *draws in steps:
        if verb == "graft" and not world.known_paths:
            continue
        before = rows(world.runtime)
        done = world.do(verb, iter(draws))
        assert rows(world.runtime) - before <= ROWS_MAX.get(done, 1)
        world.check()
    for node, text in world.texts.items():
        assert world.runtime.show(node).node.text == text, "nothing is ever lost"
        assert tuple(entry.node.id for entry in world.runtime.path(node, hidden=True)) in (
            world.appended[node],
            world.path[: world.path.index(node) + 1] if node in world.path else (),
        )


@settings(max_examples=500)
@given(
    some.lists(some.tuples(some.sampled_from(VERBS), some.integers(0, 1 << 16), some.integers(0, 1 << 16)), max_size=20)
)
def test_undo_all_the_way_and_redo_all_the_way(steps: list[tuple[str, int, int]]) -> None:
    world = World()
    for verb, *draws in steps:
        if verb == "graft" and not world.known_paths:
            continue
        world.do(verb, iter(draws))
        world.check()
    while world.future:
        world.do("redo", iter([0]))
    end = world.state()
    for _ in range(len(world.past)):
        world.do("undo", iter([0]))
        world.check()
    assert world.path == ()
    for _ in range(len(world.future)):
        world.do("redo", iter([0]))
        world.check()
    assert world.state() == end
