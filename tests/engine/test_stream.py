"""The one stream: every event once and in order, whoever does it; deltas whole where they are told at all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.event import NoticeGiven
from forkwood.domain.ids import Id
from forkwood.domain.message import Text, Thinking
from forkwood.domain.model import Delta, Reply
from forkwood.domain.watch import DeltaSeen, EventSeen
from forkwood.engine.stream import Stream
from forkwood.store import drafts, log
from forkwood.store.opening import open_store
from tests.engine.stage import NOW, USAGE, WHO, FakeModel, Scrap, Stage, calling, deltas, kinds, reply, text

Told = Sequence[DeltaSeen | EventSeen]


def nobody(_: Id) -> None:
    """Nothing is driven here."""


def numbers(told: Told) -> list[int]:
    return [item.seq for item in told if isinstance(item, EventSeen)]


def noted(stage: Stage, count: int) -> None:
    with stage.store.write() as tx:
        for at in range(count):
            log.write(tx, NoticeGiven(what="reply", text=str(at)), who=WHO, now_ms=NOW)


async def gathered(stage: Stage, until: asyncio.Event, after: int = 0) -> list[DeltaSeen | EventSeen]:
    """What the engine of STAGE tells until the run is over."""
    found: list[DeltaSeen | EventSeen] = []
    async for item in stage.engine.stream(after):
        found.append(item)
        until.set()
        if isinstance(item, EventSeen) and item.kind == "run.ended":
            return found
    return found


def test_thousands_of_events_are_told_once_and_in_order_a_stretch_at_a_time(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    noted(stage, 1_234)
    stream, found = Stream(stage.store, nobody, after=0), list[int]()
    while told := stream.look():
        assert len(told) <= limits.watch_events_max == 500
        found += numbers(told)
        if len(found) < 2_000:
            noted(stage, 100)  # while the watcher is busy with what came before
    assert found == list(range(1, found[-1] + 1)) and len(found) > 2_000


def test_who_says_after_n_gets_what_is_behind_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    noted(stage, 5)
    stream = Stream(stage.store, nobody, after=3)
    assert (numbers(stream.look()), stream.look()) == ([4, 5], [])
    assert Stream(stage.store, nobody, after=99).look() == []


async def test_deltas_ride_beside_the_events_and_make_the_reply(tmp_path: Path) -> None:
    script: list[Scrap] = [Delta(index=0, kind="thinking", text="hm"), text("Hel", 1), text("lo", 1)]
    said = Reply(parts=(Thinking(text="hm"), Text(text="Hello")), usage=USAGE, finish="stop")
    stage = Stage(tmp_path, FakeModel([*script, said]))
    stage.say("Hi")
    begun = asyncio.Event()
    watching = asyncio.ensure_future(gathered(stage, begun))
    run = stage.open()
    await begun.wait()
    await stage.drive(run)
    told = await watching
    assert numbers(told) == [event.seq for event in stage.events(run)]
    assert "".join(deltas(told)) in {"hmHello", ""}
    at = [index for index, item in enumerate(told) if isinstance(item, DeltaSeen)]
    order = [item.kind for item in told if isinstance(item, EventSeen)]
    assert all(order.index("turn.started") < index for index in at)


async def test_who_comes_in_mid_reply_gets_it_whole(tmp_path: Path) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()
    stage = Stage(tmp_path, FakeModel([text("Hel"), text("lo"), begun.set, gate, text("."), *reply("Hello.")[1:]]))
    stage.say("Hi")
    run = stage.open()
    stage.engine.start(run)
    await begun.wait()
    watching = asyncio.ensure_future(gathered(stage, gate, after=stage.events(run)[-1].seq))
    told = await watching
    assert deltas(told) == ["Hello", "."], "what had come is one delta, and the rest was told before its event"
    assert kinds(told) == ["reply.kept", "run.ended"]


async def test_what_another_process_hears_is_told_from_its_drafts(tmp_path: Path) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()
    script = [text("Hello"), begun.set, gate, text(", you."), *reply("Hello, you.")[1:]]
    stage = Stage(tmp_path, FakeModel(script), store=open_store(tmp_path / "home", now_ms=NOW))
    stage.say("Hi")
    run = stage.open()
    stage.engine.start(run)
    await begun.wait()
    stage.engine._grips[run].save_draft()
    stream = Stream(open_store(tmp_path / "home", now_ms=NOW), nobody, after=0, run=run)
    assert deltas(stream.look()) == ["Hello"] and stream.look() == [] and not stream.over
    gate.set()
    await asyncio.wait({stage.engine._tasks[run]})
    told = stream.look()
    assert (deltas(told), kinds(told), stream.over) == ([", you."], ["reply.kept", "run.ended"], True)


async def test_a_reply_that_came_between_two_looks_is_told_by_its_event_alone(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("Hello.")))
    stage.say("Hi")
    run = stage.open()
    stream = Stream(stage.store, nobody, after=0)
    stream.look()
    await stage.drive(run)
    assert deltas(stream.look()) == []


def test_a_reply_that_is_asked_for_again_is_told_from_its_beginning(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel())
    stage.say("Hi")
    run = stage.open()
    stream = Stream(stage.store, nobody, after=0)

    def drafted(number: int, words: str) -> None:
        with stage.store.write() as tx:
            drafts.append(tx, run, 1, number, [text(words)])

    drafted(0, "one")
    drafted(1, " two")
    assert deltas(stream.look()) == ["one two"]
    with stage.store.write() as tx:
        drafts.clear(tx, run)
        payload = log.payload_of("reply.interrupted", '{"turn":1}')
        log.write(tx, payload, who=WHO, now_ms=NOW, conversation=stage.conversation, run=run)
    drafted(0, "anew")
    assert deltas(stream.look()) == ["anew"]


async def test_a_cancelled_reply_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    gate = asyncio.Event()
    stage = Stage(tmp_path, FakeModel([text("Once"), gate]))
    stage.say("Hi")
    run = stage.open()
    begun = asyncio.Event()
    watching = asyncio.ensure_future(gathered(stage, begun))
    stage.engine.start(run)
    await begun.wait()
    stage.engine.cancel(run, WHO)
    assert "".join(deltas(await watching)) in {"Once", ""}
    assert stage.run(run).status == "cancelled"


async def test_only_one_conversation_or_one_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("A"), reply("B")))
    stage.say("Hi")
    first, second = stage.open(), stage.open()
    await stage.drive(first, second)
    noted(stage, 1)
    one = [item async for item in stage.engine.stream(0, run=first)]
    assert numbers(one) == [event.seq for event in stage.events(first)], "it ended with the run"
    here = Stream(stage.store, nobody, after=0, conversation=stage.conversation).look()
    assert numbers(here) == sorted(event.seq for run in (first, second) for event in stage.events(run))


async def test_a_run_over_many_stretches_is_told_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "watch_events_max", 2)
    stage = Stage(tmp_path, FakeModel(calling("nothing"), reply("Done.")))
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    told = [item async for item in stage.engine.stream(0, run=run)]
    assert numbers(told) == [event.seq for event in stage.events(run)]


async def test_closing_the_engine_ends_the_watch(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    watching = asyncio.ensure_future(gathered(stage, asyncio.Event()))
    await asyncio.sleep(0)
    await stage.engine.close()
    assert await watching == []
