"""What providers counted of earlier prompts: the newest count of the same model in the same conversation."""

from __future__ import annotations

from typing import Any

from forkwood.domain.act import Who
from forkwood.domain.budget import Counted
from forkwood.domain.conversation import ConversationSettings
from forkwood.domain.model import Usage
from forkwood.domain.run_event import Recipe, ReplyKept, RunEvent, TurnStarted
from forkwood.domain.tree import ROOT
from forkwood.store import conversations, counted, log, runs
from forkwood.store.db import Store, Tx

WHO = Who(by="user", via="cli")
RECIPE = Recipe(
    place=None, log=0, manifest="m", summary=None, first_entry=None, tools_withdrawn=False, form=1,
    prompt_digest="p", request_digest="r",
)  # fmt: skip


def started(estimate: int) -> RunEvent:
    return TurnStarted(turn=1, recipe=RECIPE, estimate=estimate)


def replied(reported: int | None, **fields: Any) -> RunEvent:
    usage = None if reported is None else Usage(input=reported, output=1)
    return ReplyKept(turn=1, usage=usage, cost=None, finish="stop", partial=None, **fields)


class World:
    """Conversations and runs that did what they are told."""

    def __init__(self, tx: Tx) -> None:
        self.tx = tx
        self.names = iter(f"{number:032x}" for number in range(1, 1_000))

    def conversation(self) -> int:
        return conversations.create(
            self.tx, next(self.names), 1, title="t", titled_by="rule", settings=ConversationSettings()
        )

    def run(self, conversation: int, *events: RunEvent, model: str = "m:1") -> None:
        run = next(self.names)
        runs.open(self.tx, id=run, conversation=conversation, place=ROOT, model=model, leads=True, who=WHO, now_ms=1)
        for event in events:
            log.write(self.tx, event, who=WHO, now_ms=1, conversation=conversation, run=run)


def test_the_newest_count_of_that_model_there_is_found() -> None:
    with Store.in_memory().write() as tx:
        world = World(tx)
        here, there = world.conversation(), world.conversation()
        assert counted.newest(tx, here, "m:1") is None
        world.run(here, started(100), replied(90), started(300), replied(330))
        world.run(there, started(7), replied(7))
        world.run(here, started(8), replied(8), model="m:2")
        assert counted.newest(tx, here, "m:1") == Counted(estimated=300, reported=330)
        assert counted.newest(tx, there, "m:2") is None


def test_what_was_not_counted_or_cut_says_nothing_and_the_one_before_does() -> None:
    with Store.in_memory().write() as tx:
        world = World(tx)
        here = world.conversation()
        world.run(here, started(300), replied(330))
        world.run(here, started(400), replied(None))
        world.run(here, started(9_000), replied(5, prompt_cut=True))
        world.run(here, started(500))
        world.run(here, started(0), replied(44))
        assert counted.newest(tx, here, "m:1") == Counted(estimated=300, reported=330)
