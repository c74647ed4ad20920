"""A world for the run machine: a log, a disk, a person, and an engine that can be killed at every commit and effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from forkwood.domain.message import PartialReason
from forkwood.domain.plan import plan, status_of
from forkwood.domain.run import RunState, apply, fold
from forkwood.domain.run_event import (
    AfterCrash,
    CallAsked,
    CallSettled,
    CallStarted,
    CancelAsked,
    EffectOfTool,
    InteractionClosed,
    InteractionOpened,
    Recipe,
    ReplyInterrupted,
    ReplyKept,
    ResultsKept,
    RunDriven,
    RunEnded,
    RunEvent,
    RunOpened,
    SteerTaken,
    TurnStarted,
    Verdict,
)
from forkwood.domain.step import Ask, CallModel, End, KeepResults, Settle, Step, TakeSteers, UseReads, UseTool

AFTER_CRASH: dict[EffectOfTool, AfterCrash] = {"read": "again", "write": "journal", "execute": "doubt"}
LAPS_MAX = 40


class Killed(Exception):
    """The process is gone."""


def call(name: str, effect: EffectOfTool, verdict: Verdict | Literal["question"] = "ask") -> CallAsked:
    return CallAsked(
        call=name,
        name=effect,
        effect=effect,
        verdict="allow" if verdict == "question" else verdict,
        after_crash=AFTER_CRASH[effect],
        question=verdict == "question",
    )


@dataclass
class Script:
    """What the model says turn by turn; the last turn has no calls. PARTIAL breaks the last reply off."""

    turns: Sequence[tuple[CallAsked, ...]]
    partial: PartialReason | None = None

    def calls(self) -> dict[str, CallAsked]:
        return {one.call: one for turn in self.turns for one in turn}


@dataclass
class World:
    """What outlives a process. CANCEL_AT: somebody asks for the end right behind that many commits."""

    script: Script
    cancel_at: int | None = None
    log: list[RunEvent] = field(default_factory=lambda: [RunOpened(place=None, model="m", leads=True)])
    effects: list[str] = field(default_factory=list)
    disk: set[str] = field(default_factory=set)
    commits: int = 0
    names: Iterator[int] = field(default_factory=count)

    def commit(self, *events: RunEvent) -> None:
        self.log.extend(events)
        self.commits += 1
        if self.commits == self.cancel_at and not isinstance(self.log[-1], RunEnded):
            self.log.append(CancelAsked())

    @property
    def ended(self) -> RunEnded | None:
        return self.log[-1] if isinstance(self.log[-1], RunEnded) else None


class Engine:
    """One process. It dies when its FUSE has burnt down: one tick before and one after each commit and effect."""

    def __init__(self, world: World, fuse: int | None) -> None:
        self.world = world
        self.fuse = fuse
        self.state = fold(world.log)
        self.seen = len(world.log)

    def drive(self) -> None:
        calling, turn = self.state.calling, self.state.turns + 1
        driven = RunDriven(driver="d", number=self.state.takeover + 1)
        self._commit(driven, *([ReplyInterrupted(turn=turn)] if calling else []))
        while (step := plan(self.state)) is not None:
            self._perform(step)

    def _perform(self, step: Step) -> None:
        match step:
            case CallModel(turn=turn, withdrawn=withdrawn):
                self._call_model(turn, withdrawn=withdrawn)
            case UseTool(call=asked, inspect=inspect):
                self._use_tool(asked, inspect=inspect)
            case UseReads(calls=calls):
                self._use_reads(calls)
            case TakeSteers(queued=queued):
                self._commit(*(SteerTaken(queued=one) for one in queued))
            case Ask(asks=asks):
                names = (f"i{next(self.world.names)}" for _ in asks)
                opened = zip(asks, names, strict=True)
                self._commit(*(InteractionOpened(interaction=name, sort=a.sort, call=a.call) for a, name in opened))
            case Settle(closings=closings, withdraw=withdraw):
                self._commit(*_withdrawn(withdraw), *closings)
            case KeepResults(turn=turn):
                self._commit(ResultsKept(turn=turn))
            case End(status=status, error=error, withdraw=withdraw):
                self._commit(*_withdrawn(withdraw), RunEnded(status=status, error=error))

    def _call_model(self, turn: int, *, withdrawn: bool) -> None:
        self._commit(TurnStarted(turn=turn, recipe=_recipe(withdrawn=withdrawn)))
        if self.state.stop:
            return
        self._effect(f"model {turn}")
        script = self.world.script
        calls, last = script.turns[turn - 1], turn == len(script.turns)
        partial = script.partial if last else None
        self._commit(ReplyKept(turn=turn, usage=None, cost=None, finish="stop", partial=partial, calls=calls))

    def _use_tool(self, asked: CallAsked, *, inspect: bool) -> None:
        if inspect and asked.call in self.world.disk:
            self._commit(CallSettled(call=asked.call, outcome="ok"))
            return
        self._commit(CallStarted(call=asked.call))
        if self.state.stop:
            return
        self._effect(asked.call)
        self._commit(CallSettled(call=asked.call, outcome="ok"))

    def _use_reads(self, calls: tuple[CallAsked, ...]) -> None:
        self._commit(*(CallStarted(call=one.call) for one in calls))
        if self.state.stop:
            return
        for one in calls:
            self._effect(one.call)
        self._commit(*(CallSettled(call=one.call, outcome="ok") for one in calls))

    def _effect(self, name: str) -> None:
        self._tick()
        self.world.effects.append(name)
        self.world.disk.add(name)
        self._tick()

    def _commit(self, *events: RunEvent) -> None:
        self._tick()
        self.world.commit(*events)
        self._tick()
        for event in self.world.log[self.seen :]:
            self.state = apply(self.state, event)
        self.seen = len(self.world.log)

    def _tick(self) -> None:
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse == 0:
                raise Killed


def play(world: World, fuses: Sequence[int], answers: Callable[[InteractionOpened], str]) -> World:
    """Drive WORLD to its end: killed once for each fuse, a person answering whatever waits."""
    left = iter(fuses)
    for _ in range(LAPS_MAX):
        try:
            Engine(world, next(left, None)).drive()
        except Killed:
            pass
        else:
            if not world.ended:
                answer(world, answers)
        if world.ended:
            return world
    raise AssertionError("it never ended")


def answer(world: World, answers: Callable[[InteractionOpened], str]) -> None:
    """A person answers everything that is open."""
    state = fold(world.log)
    assert status_of(state) == "waiting" and state.open_interactions, "waiting always has open interactions"
    opened: Mapping[str, InteractionOpened] = {one.interaction: one for one in state.asked}
    for name in state.open_interactions:
        closed = InteractionClosed(interaction=name, status="answered", answer=answers(opened[name]))
        world.commit(closed)
        if isinstance(world.log[-1], CancelAsked):
            return


def states(world: World) -> Iterator[RunState]:
    """The run after each of its events."""
    state = RunState()
    for event in world.log:
        state = apply(state, event)
        yield state


def _withdrawn(names: Sequence[str]) -> list[InteractionClosed]:
    return [InteractionClosed(interaction=name, status="withdrawn") for name in names]


def _recipe(*, withdrawn: bool) -> Recipe:
    return Recipe(
        place=None,
        log=0,
        manifest="",
        summary=None,
        first_entry=None,
        tools_withdrawn=withdrawn,
        form=1,
        prompt_digest="",
        request_digest="",
    )
