"""The tree: appending, reading paths and prompts, and the verbs that branch, at several depths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import mean

from benchmarks.floors import Act, Bare, interleaved, sentences, timed, usual
from benchmarks.table import Line, ratio
from benchmarks.world import stand, straight, world
from forkwood import wire
from forkwood.domain import joins
from forkwood.domain.ids import Id
from forkwood.domain.manifest import Manifest
from forkwood.domain.message import Text
from forkwood.domain.model import Binding, Traits
from forkwood.domain.settings import Parameters
from forkwood.domain.tree import Spot
from forkwood.runtime import Runtime
from forkwood.store import conversations, entries, places, walk
from forkwood.store.db import Tx

SHALLOW, DEEP = 100, 10_000
APPENDS = 40
KB = 1_000
_MANIFEST = Manifest(
    model="none", binding=Binding(provider="none", dialect="chat", origin="", model="none"), traits=Traits(),
    parameters=Parameters(), system=None, profile=None, door="cli",
)  # fmt: skip


def measure(*, quick: bool) -> Iterator[Line]:
    """Every line about the tree."""
    deep = DEEP // 10 if quick else DEEP
    yield from _appends(deep)
    yield from _paths((SHALLOW, 1_000, deep) if not quick else (SHALLOW, deep))
    yield from _carries(deep)
    yield from _verbs(deep)


def _appends(deep: int) -> Iterator[Line]:
    with world() as (runtime, home):
        bare, texts = Bare(home / "bare.db"), sentences(7)
        subjects = {depth: Subject(runtime, depth) for depth in (SHALLOW, deep)}
        sends = {depth: _sending(subject, texts) for depth, subject in subjects.items()}
        for depth, send in sends.items():
            ours, floor = interleaved(send, lambda: bare.insert(wire.text((Text(text=next(texts)),))), APPENDS)
            yield ratio(f"append at depth {depth:,}", ours, floor, 4.0)
        ours, floor = interleaved(sends[deep], sends[SHALLOW], APPENDS)
        yield ratio(f"append at depth {deep:,} to {SHALLOW:,}", ours, floor, 1.2)
        for depth, send in sends.items():
            written = _written(runtime, home, send)
            yield Line(name=f"written by an append at depth {depth:,}", value=written, unit="kB", most=80)


def _sending(subject: Subject, texts: Iterator[str]) -> Act:
    return lambda: subject.runtime.send(next(texts), conversation=subject.conversation, run=False)


def _written(runtime: Runtime, home: Path, send: Act) -> float:
    """Kilobytes that one append writes, from the growth of the write-ahead log over appends in tens."""
    journal, grown = home / "forkwood.db-wal", []
    for _ in range(20):
        assert runtime.house.store.checkpoint()
        for _ in range(10):
            send()
        grown.append(journal.stat().st_size / 10 / KB)
    return mean(grown)


def _paths(depths: tuple[int, ...]) -> Iterator[Line]:
    for depth in depths:
        with world() as (runtime, home):
            straight(runtime, depth)
            bare = Bare(home / "bare.db")
            bare.fill([wire.text((Text(text=text),)) for text in islice(sentences(1), depth)])
            rounds = max(9, 20_000 // depth)
            for name, read, most in (
                ("nodes", walk.light_entries, 1.7),
                ("entries", entries.entries, 2.8),
                ("prompt", _prompt, 2.0),
            ):
                with runtime.house.store.read() as tx:
                    head = _head(tx)
                    ours, floor = interleaved(lambda: read(tx, head), bare.path, rounds)  # noqa: B023
                yield ratio(f"path of {depth:,} as {name}", ours, floor, most)


def _prompt(tx: Tx, head: Spot) -> object:
    return joins.build(places.said(tx, head), _MANIFEST, files={})


def _head(tx: Tx) -> Spot:
    current = conversations.current(tx)
    assert current is not None
    return conversations.head(tx, current)


def _carries(deep: int) -> Iterator[Line]:
    """A path with 100 nested carries, each made by an edit that kept what followed, to one without any."""
    with world() as (runtime, _):
        straight(runtime, deep)
        with runtime.house.store.read() as tx:
            plain = _head(tx)
        for number in range(100):
            shown = runtime.path()
            runtime.edit(shown[number * 3].node.id, "carried", keep=True, run=False)
        for name, read in (("nodes", walk.light_entries), ("entries", entries.entries), ("prompt", _prompt)):
            with runtime.house.store.read() as tx:
                nested = _head(tx)
                ours, floor = interleaved(lambda: read(tx, nested), lambda: read(tx, plain), 31)  # noqa: B023
            yield ratio(f"path of {deep:,} with 100 nested carries as {name}", ours, floor, 1.5)


def _verbs(deep: int) -> Iterator[Line]:
    with world() as (runtime, _):
        shallow = Subject(runtime, SHALLOW)
        far = Subject(runtime, deep)
        for name, verb in VERBS.items():
            times = [(far.timed(verb), shallow.timed(verb)) for _ in range(VERB_ROUNDS + 1)][1:]
            ours, floor = usual(one for one, _ in times), usual(other for _, other in times)
            yield ratio(f"{name} at depth {deep:,} to {SHALLOW:,}", ours, floor, 1.5)


class Subject:
    """One conversation with a straight path, at whose middle verbs are done, each time at another message."""

    def __init__(self, runtime: Runtime, depth: int) -> None:
        self.runtime = runtime
        ids = straight(runtime, depth, seed=depth)
        self.leaf = ids[-1]
        self.conversation = runtime.conversation().id
        self._middle = iter(ids[depth // 2 - VERB_ROUNDS * 3 : depth // 2 + VERB_ROUNDS * 3])

    def timed(self, verb: Verb) -> float:
        """The seconds of VERB, done while the head stands at the end of the path."""
        stand(self.runtime, self.conversation, self.leaf)
        return timed(lambda: verb(self, next(self._middle)))


Verb = Callable[[Subject, Id], object]
VERB_ROUNDS = 8
VERBS: dict[str, Verb] = {
    "branch": lambda on, node: on.runtime.send("x", at=node, conversation=on.conversation, run=False),
    "edit": lambda on, node: on.runtime.edit(node, "x", conversation=on.conversation, run=False),
    "keep": lambda on, node: on.runtime.edit(node, "x", conversation=on.conversation, keep=True, run=False),
    "drop": lambda on, node: on.runtime.drop(node, conversation=on.conversation),
    "fork": lambda on, node: on.runtime.fork(node, conversation=on.conversation),
}
