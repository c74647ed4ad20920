"""A world for the queue: a person who sends, steers, cancels and goes on, while a driver works that can be killed at
every commit. Both are the real ones, over one store in memory."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import combinations, count
from pathlib import Path
from typing import Any, TypeAlias, cast

from forkwood.domain.errors import Conflict, LimitExceeded, ProviderFailed
from forkwood.domain.ids import Id, make_id
from forkwood.domain.model import Delta, Reply, Try
from forkwood.domain.run import ACTIVE
from forkwood.domain.settings import Settings
from forkwood.engine.showing import Engine
from forkwood.engine.supplies import Supplies
from forkwood.runtime import Runtime
from forkwood.runtime.house import House
from forkwood.store import runs
from forkwood.store.db import Store, Tx
from tests.engine.stage import NOW, FakeModel, FakeTool, calling, reply, text

Call: TypeAlias = tuple[Sequence[str], str]
"""What a person does while the model is called, and how that call ends: reply, tool, retry, fail."""


class Killed(BaseException):
    """The process is gone."""


class Mortal:
    """A store as one process sees it: right before or behind one of its commits it is gone, and does nothing more."""

    def __init__(self, store: Store, fuse: int | None) -> None:
        self._store = store
        self._fuse = fuse

    def _burn(self) -> None:
        if self._fuse is not None:
            self._fuse = max(0, self._fuse - 1)
            if not self._fuse:
                raise Killed

    @contextmanager
    def write(self) -> Iterator[Tx]:
        self._burn()
        with self._store.write() as tx:
            yield tx
        self._burn()

    def read(self) -> AbstractContextManager[Tx]:
        if self._fuse == 0:
            raise Killed
        return self._store.read()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Meanwhile:
    """One conversation. ACCEPTED: the words that were acknowledged, in order; WAITED: those that were queued."""

    def __init__(self, folder: Path, calls: Sequence[Call]) -> None:
        self.store = Store.in_memory()
        self.home = Settings(home=str(folder), model="fake:one")
        self.calls = list(calls)
        self.numbers = count()
        self.accepted: list[str] = []
        self.waited: list[str] = []
        self.cancels, self.cancels_before = 0, dict[str, int]()
        self.removed: set[str] = set()
        self.ticks = count(NOW)
        house = House(self.store, self.home, {"FORKWOOD_LOCAL_SERVERS": ""}, "cli", clock=lambda: next(self.ticks))
        house.known_model = lambda name: name  # type: ignore[method-assign]
        self.person = Runtime(house)
        self.person.new(title="t", model=None)

    def new_id(self) -> Id:
        return make_id(NOW, os.urandom(10))

    async def drive(self, fuse: int | None = None) -> None:
        """Another process drives what is left, until nothing is; with a FUSE it may be killed."""
        engine = Engine(
            Supplies(
                store=cast("Store", Mortal(self.store, fuse)), clock=lambda: next(self.ticks), new_id=self.new_id,
                open_model=lambda _: Planned(self), drivers=Path(self.home.home) / "drivers",
                settings=lambda: self.home, tools={"look": FakeTool("look")}, chance=lambda: 0.0,
            )
        )  # fmt: skip
        try:
            while left := self.person.left():
                async for _ in engine.drive(left):
                    pass
        except Killed:
            if engine._driver is not None:
                engine._driver.close()
        else:
            await engine.close()

    def do(self, what: str) -> None:
        """One thing that a person does."""
        match what:
            case "send" | "steer":
                self._say(steer=what == "steer")
            case "cancel":
                for run in self.active()[:1]:
                    self.person.cancel(run)
                    self.cancels += 1
            case "resume":
                stopped = [run.id for run in self.person.runs() if run.status in {"cancelled", "failed"}]
                for run in stopped[:1]:
                    self.person.resume(run)
            case "remove":
                for one in self.person.queue()[:1]:
                    self.person.queue_remove(one.id)
                    self.removed.add(one.text)

    def active(self) -> list[Id]:
        return [run.id for run in self.person.runs() if run.status in ACTIVE]

    def _say(self, *, steer: bool) -> None:
        words = f"m{next(self.numbers)}"
        try:
            started = self.person.send(words, steer=steer)
        except (Conflict, LimitExceeded):
            return  # nothing to steer, or too many wait: it was not accepted
        self.accepted.append(words)
        if started.queued and not steer:
            self.waited.append(words)
            self.cancels_before[words] = self.cancels

    # What must hold

    def check(self) -> None:
        """Nothing that was acknowledged is lost or said twice, and the order is kept."""
        said = [node.text for node in self.person.tree() if node.role == "user"]
        in_queue = {one.text: one for one in self.person.queue()}
        for words in self.accepted:
            places = said.count(words) + (words in in_queue) + (words in self.removed)
            assert places == 1, f"{words} stands at {places} places"
        self._check_order()
        active = set(self.active())
        cancelled = {event.run for event in self.person.log() if event.kind == "cancel.asked"}
        for one in in_queue.values():
            waits_for = active if one.state == "waiting" else {one.behind} - active | cancelled
            assert one.behind in waits_for, "only a run at work is waited for, and only a cancelled one holds"
        self._check_steers()
        self._check_prompts()
        with self.store.read() as tx:
            assert runs.differing(tx) == []

    def _check_order(self) -> None:
        """What waited comes in its order on every path; only what followed a cancelled run came before what its cancel
        held."""
        cancelled = {run.id for run in self.person.runs() if run.status == "cancelled"}
        moved = [event for event in self.person.log() if event.kind == "queue.moved" and event.node]
        words = {node.id: node.text for node in self.person.tree()}
        ahead = {words[event.node or ""] for event in moved if event.payload["behind"] in cancelled}
        for branch in self.person.branches():
            met = [entry.node.text for entry in self.person.path(branch.leaf) if entry.node.text in self.waited]
            for came, later in combinations(met, 2):
                if self.waited.index(came) > self.waited.index(later):
                    assert came in ahead, f"{came} waited behind {later}"
                    assert self.cancels_before[came] > self.cancels_before[later], "no cancel lies between them"

    def _check_steers(self) -> None:
        words = {node.id: node.text for node in self.person.tree()}
        by_run: dict[Id | None, list[str]] = {}
        for event in self.person.log():
            if event.kind == "steer.taken":
                by_run.setdefault(event.run, []).append(words[event.node or ""])
        for taken in by_run.values():
            assert taken == sorted(taken, key=self.accepted.index), "steers are taken in their order"

    def _check_prompts(self) -> None:
        """A reply stands behind what it was asked with: nothing came in between."""
        for node in self.person.tree():
            recipe = self.person.why(node.id).recipe if node.role == "assistant" else None
            assert recipe is None or recipe["place"] == node.at


class Planned(FakeModel):
    """Plays the next of the world's calls; when none is left it replies."""

    def __init__(self, world: Meanwhile) -> None:
        super().__init__()
        self.world = world

    async def stream(self, request: bytes, attempt: Try) -> AsyncIterator[Delta | Reply]:
        deeds, end = self.world.calls.pop(0) if self.world.calls else ((), "reply")
        for deed in deeds:
            self.world.do(deed)
        if end == "fail":
            raise ProviderFailed("auth", "no", status=401)
        if end == "retry":
            raise ProviderFailed("overloaded", "later", status=503, retry_after=0.0)
        yield text("w")
        self.script = [calling("look") if end == "tool" else reply("word")]
        async for item in super().stream(request, attempt):
            yield item
