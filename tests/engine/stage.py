"""A stage for the engine: a real store, a model and tools that do what a test says, a clock and names that repeat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from forkwood import wire
from forkwood.domain.act import Who
from forkwood.domain.conversation import ConversationSettings
from forkwood.domain.errors import ProviderFailed
from forkwood.domain.event import Event
from forkwood.domain.ids import Id, make_id
from forkwood.domain.message import Origin, Part, Role, Text, ToolCall
from forkwood.domain.model import Binding, Delta, Price, Reply, Traits, Try, Usage
from forkwood.domain.prompt import Prompt, ToolSpec
from forkwood.domain.run import Run
from forkwood.domain.run_event import SteerAsked
from forkwood.domain.settings import Parameters, Settings
from forkwood.domain.tool import Occasion, ToolOutcome, ToolSealed
from forkwood.domain.tree import ROOT, Node, Spot
from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen
from forkwood.engine.grip import Grip
from forkwood.engine.live import Feed
from forkwood.engine.showing import Engine
from forkwood.engine.supplies import Supplies
from forkwood.store import append, conversations, holding, log, nodes, queue, runs, walk
from forkwood.store.db import Store

NOW = 1_790_000_000_000
WHO = Who(by="user", via="cli")
USAGE = Usage(input=10, output=2)

Scrap: TypeAlias = "Delta | Reply | Exception | Callable[[], object] | asyncio.Event"
"""What a model does next: say, end, fail, call something, or wait."""


def text(words: str, index: int = 0) -> Delta:
    return Delta(index=index, kind="text", text=words)


def reply(words: str, **fields: Any) -> list[Scrap]:
    """A whole reply, said in one delta."""
    return [text(words), Reply(parts=(Text(text=words),), usage=USAGE, finish="stop", **fields)]


def calling(*names: str, words: str = "") -> list[Scrap]:
    """A reply that calls tools by name; the call ids are a, b, c …"""
    calls = tuple(ToolCall(call=chr(97 + at), name=name, arguments={}) for at, name in enumerate(names))
    return [Reply(parts=((Text(text=words),) if words else ()) + calls, usage=USAGE, finish="tool_calls")]


class FakeModel:
    """Plays its SCRIPT, one list of scraps a call; keeps what it was asked."""

    def __init__(self, *script: list[Scrap], keys: int = 1, name: str = "fake:one") -> None:
        self.script = list(script)
        self.name = name
        self.binding = Binding(provider="fake", dialect="chat", origin="https://fake.example", model="fake-1")
        self.traits = Traits(tools=True, images=False, price=Price(input=1_000_000, output=1_000_000))
        self.keys_left = keys - 1
        self.prompts: list[Prompt] = []
        self.attempts: list[Try] = []
        self.closed = 0

    def encode(self, prompt: Prompt, images: Mapping[str, bytes]) -> bytes:
        return wire.canonical([prompt, sorted(images)])

    def unsent(self, wanted: Parameters) -> tuple[str, ...]:
        return () if wanted.context is None else ("context was not sent",)

    async def stream(self, request: bytes, attempt: Try) -> AsyncIterator[Delta | Reply]:
        self.prompts.append(wire.decode(request, tuple[Prompt, list[str]])[0])
        self.attempts.append(attempt)
        try:
            for scrap in self.script.pop(0):
                if isinstance(scrap, Exception):
                    raise scrap
                if isinstance(scrap, asyncio.Event):
                    await scrap.wait()
                elif isinstance(scrap, Delta | Reply):
                    yield scrap
                else:
                    scrap()
        finally:
            self.closed += 1

    def next_key(self) -> bool:
        self.keys_left -= 1
        return self.keys_left >= 0


class FakeTool:
    """A tool that is USED by giving OUTCOME, or by what a function gives."""

    def __init__(self, name: str, use: Callable[[], Any] = lambda: "ok", **sealed: Any) -> None:
        spec = ToolSpec(name=name, description=name, schema={"type": "object"})
        self.sealed = ToolSealed(**{"spec": spec, "effect": "read", "after_crash": "again", **sealed})
        self._use = use
        self.used: list[str] = []
        self.found: ToolOutcome | None = None

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:
        self.used.append(call.call)
        given = self._use()
        if asyncio.iscoroutine(given):
            given = await given
        return ToolOutcome(outcome="ok", parts=(Text(text=str(given)),))

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:
        return self.found


class Stage:
    """One conversation in a real store, and an engine whose models are handed in by name."""

    def __init__(
        self, folder: Path, *models: FakeModel, store: Store | None = None, tools: Sequence[FakeTool] = ()
    ) -> None:
        self.store = store or Store.in_memory()
        self.models = {model.name: model for model in models}
        self.tools = {tool.sealed.spec.name: tool for tool in tools}
        self.folder = folder
        self.ticks, self.draws = count(NOW), count(1)
        self.engine = self.another()
        with self.store.write() as tx:
            found = tx.value("SELECT seq FROM conversation")
            self.conversation = found or conversations.create(
                tx, self.new_id(), NOW, title="t", titled_by="rule", settings=ConversationSettings()
            )

    def new_id(self) -> Id:
        return make_id(NOW, next(self.draws).to_bytes(10, "big"))

    def another(self, store: Store | None = None) -> Engine:
        """An engine of its own, as another process would have."""
        return Engine(
            Supplies(
                store=store or self.store,
                clock=lambda: next(self.ticks),
                new_id=self.new_id,
                open_model=self.open_model,
                drivers=self.folder / "drivers",
                settings=lambda: Settings(home=str(self.folder)),
                tools=self.tools,
                chance=lambda: 0.0,
            )
        )

    def open_model(self, name: str) -> FakeModel:
        if name not in self.models:
            raise ProviderFailed("not_found", f"no model {name}", hint="try fake:one")
        return self.models[name]

    def say(self, words: str, role: Role = "user", at: Spot | None = None, *parts: Part) -> Spot:
        """Append a message at the head, or at a place; the head moves behind it."""
        with self.store.write() as tx:
            at = conversations.head(tx, self.conversation) if at is None else at
            origin = Origin(by="user", via="cli")
            seq = append.add_message(
                tx, id=self.new_id(), conversation=self.conversation, at=at, role=role,
                parts=(Text(text=words), *parts), origin=origin, now_ms=NOW,
            )  # fmt: skip
            conversations.move_head(tx, self.conversation, Spot(seq), NOW)
            return Spot(seq)

    def open(self, model: str = "fake:one", at: Spot | None = None, *, leads: bool = True) -> Id:
        """A run at the head, or at a place."""
        run = self.new_id()
        with self.store.write() as tx:
            at = conversations.head(tx, self.conversation) if at is None else at
            runs.open(
                tx, id=run, conversation=self.conversation, place=at, model=model, leads=leads, who=WHO, now_ms=NOW
            )
        return run

    async def drive(self, *wanted: Id, engine: Engine | None = None) -> list[Seen]:
        """Everything that is seen until the runs stop moving."""
        return [item async for item in (engine or self.engine).drive(wanted)]

    async def answer(self, words: str = "Hi") -> Result:
        """Say WORDS, drive a run that answers, and give its result."""
        self.say(words)
        return results(await self.drive(self.open()))[-1]

    def head(self) -> Spot:
        with self.store.read() as tx:
            return conversations.head(tx, self.conversation)

    def path(self, at: Spot | None = None) -> list[str]:
        """What the path to the head (or a place) says, as `role: text`."""
        with self.store.read() as tx:
            spot = conversations.head(tx, self.conversation) if at is None else at
            rows = nodes.rows(tx, [entry.node for entry in walk.light_entries(tx, spot)]) if spot != ROOT else []
            return [f"{row.role}: {row.text}" for row in rows]

    def nodes(self) -> list[Node]:
        with self.store.read() as tx:
            return nodes.of_conversation(tx, self.conversation)

    def run(self, run: Id) -> Run:
        with self.store.read() as tx:
            return runs.row(tx, run)

    def events(self, run: Id) -> list[Event]:
        with self.store.read() as tx:
            return log.events_of_run(tx, run, after=0)

    def kinds(self, run: Id) -> list[str]:
        return [event.kind for event in self.events(run)]


def results(seen: Sequence[Seen]) -> list[Result]:
    return [item for item in seen if isinstance(item, Result)]


def deltas(seen: Sequence[Seen]) -> list[str]:
    return [item.text for item in seen if isinstance(item, DeltaSeen)]


def kinds(seen: Sequence[Seen]) -> list[str]:
    return [item.kind for item in seen if isinstance(item, EventSeen)]


def gripped(stage: Stage) -> Grip:
    """A run that its test drives by hand."""
    stage.say("Hi")
    run = stage.open()
    with stage.store.write() as tx:
        held = holding.hold(tx, run, "me", NOW)
    grip = Grip(stage.engine._supplies, held, Feed(stage.store, run))
    grip.begin_draft()
    return grip


def later(stage: Stage, run: Id, *words: str, models: Sequence[str] = (), steers: bool = False) -> list[Id]:
    """Let WORDS wait behind RUN, or steer it; their names."""
    names = []
    with stage.store.write() as tx:
        for word in words:
            names.append(stage.new_id())
            queue.add(
                tx, id=names[-1], conversation=stage.conversation, behind=run, steers=steers,
                parts=(Text(text=word),), models=models, who=Who(by="user", via="web"), now_ms=NOW,
            )  # fmt: skip
            if steers:
                runs.add(tx, run, SteerAsked(queued=names[-1]), who=WHO, now_ms=NOW)
    return names


def failed(status: int | None, reason: Any, **fields: Any) -> Exception:
    return ProviderFailed(reason, f"said {status}", hint="wait", status=status, **fields)
