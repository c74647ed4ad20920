"""Watching: events never missed and in order, deltas dropped only where nobody fetches them, across processes too."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.model import Delta
from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen
from forkwood.engine.live import Feed, Follower, Watcher, result, scrap
from forkwood.store import drafts, log
from forkwood.store.opening import open_store
from tests.engine.stage import NOW, WHO, FakeModel, Scrap, Stage, calling, deltas, kinds, reply, results, text

RUN = "1" * 32


def drained(watcher: Watcher) -> list[Seen]:
    return list(iter(watcher.take, None))


def event(seq: int) -> EventSeen:
    return EventSeen(
        seq=seq, at_ms=0, kind="cancel.asked", conversation=None, run=RUN, node=None, by="user", via="cli", payload={}
    )


def test_deltas_are_dropped_where_too_many_wait_and_events_never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "watch_deltas_max", 2)
    watcher = Watcher()
    for number in range(4):
        watcher.see(scrap(RUN, text(str(number))))
        watcher.see(event(number))
    assert deltas(drained(watcher)) == ["0", "1"]
    watcher.see(scrap(RUN, text("later")))
    for number in range(4):
        watcher.see(event(number))
    seen = drained(watcher)
    assert deltas(seen) == ["later"] and len(seen) == 5


async def test_a_watcher_rests_until_something_comes() -> None:
    watcher = Watcher()
    resting = asyncio.ensure_future(watcher.rest())
    await asyncio.sleep(0)
    assert not resting.done()
    watcher.see(event(1))
    await resting
    await watcher.rest()


async def test_who_comes_late_gets_the_reply_in_flight_whole(tmp_path: Path) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()
    stage = Stage(tmp_path, FakeModel([text("Hel"), text("lo"), begun.set, gate, text("."), *reply("Hello.")[1:]]))
    stage.say("Hi")
    run = stage.open()
    stage.engine.start(run)
    await begun.wait()
    late = asyncio.ensure_future(_all(stage, run))
    await asyncio.sleep(0)
    gate.set()
    seen = await late
    assert deltas(seen) == ["Hello", "."]
    assert kinds(seen) == stage.kinds(run)
    order = [item.kind if isinstance(item, EventSeen) else item.text for item in seen if not isinstance(item, Result)]
    assert order[-5:] == ["turn.started", "Hello", ".", "reply.kept", "run.ended"]


async def test_watchers_who_join_at_any_time_see_the_same_events(tmp_path: Path) -> None:
    watching: list[asyncio.Task[list[Seen]]] = []

    def join() -> None:
        watching.append(asyncio.ensure_future(_all(stage, run)))

    async def turn() -> None:
        await asyncio.sleep(0)

    stage = Stage(tmp_path)
    steps: list[Scrap] = [join, text("a"), join, text("b"), join, *reply("ab")[1:]]
    stage.models["fake:one"] = FakeModel([join, *calling("weather")], steps)
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    await turn()
    assert len(watching) == 4
    for task in watching:
        seen = await task
        assert kinds(seen) == stage.kinds(run)
        assert results(seen)[0].text == "ab"


async def _all(stage: Stage, run: str, after: int = 0) -> list[Seen]:
    return [item async for item in stage.engine.watch(run, after=after)]


async def test_a_run_of_another_process_is_followed_by_the_store(tmp_path: Path) -> None:
    gate = asyncio.Event()
    home = tmp_path / "home"
    stage = Stage(tmp_path, store=open_store(home, now_ms=NOW))
    stage.models["fake:one"] = FakeModel([text("x" * limits.draft_bytes), gate, *reply("Hello.")])
    stage.say("Hi")
    run = stage.open()
    driving = asyncio.ensure_future(stage.drive(run))
    other = stage.another(open_store(home, now_ms=NOW))
    seen: list[Seen] = []
    async for item in other.drive([run], after=0):
        seen.append(item)
        if isinstance(item, DeltaSeen):
            gate.set()
    assert kinds(seen) == stage.kinds(run)
    assert deltas(seen)[0] == "x" * limits.draft_bytes
    assert results(seen) == results(await driving)
    assert len({event.payload["driver"] for event in stage.events(run) if event.kind == "run.driven"}) == 1


async def test_who_follows_takes_over_when_the_driver_dies(tmp_path: Path) -> None:
    begun = asyncio.Event()
    home = tmp_path / "home"
    stage = Stage(tmp_path, store=open_store(home, now_ms=NOW))
    stage.models["fake:one"] = FakeModel([text("Once"), begun.set, asyncio.Event()], reply("Hello."))
    stage.say("Hi")
    run = stage.open()
    stage.engine.start(run)
    await begun.wait()
    other = stage.another(open_store(home, now_ms=NOW))
    following = asyncio.ensure_future(stage.drive(run, engine=other))
    await asyncio.sleep(0)
    await stage.engine.close()
    (found,) = results(await following)
    assert (found.status, found.text) == ("done", "Hello.")
    assert [node.text for node in stage.nodes() if node.partial] == ["Once"]


def test_a_follower_reads_nothing_while_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    stage = Stage(tmp_path, store=open_store(home, now_ms=NOW))
    stage.say("Hi")
    run = stage.open()
    looked: list[int] = []
    watcher = Watcher()
    follower = Follower(open_store(home, now_ms=NOW), run, watcher, 0)
    monkeypatch.setattr(follower, "_tell", lambda _: looked.append(1))
    assert follower.look() and follower.look()
    assert len(looked) == 1
    stage.say("more")
    assert follower.look() and len(looked) == 2


async def test_a_follower_looks_again_after_the_time_that_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    stage.say("Hi")
    slept: list[float] = []

    async def rest(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("forkwood.engine.live.asyncio.sleep", rest)
    await Follower(stage.store, stage.open(), Watcher(), 0).until(lambda: len(slept) == 2)
    assert slept == [limits.watch_ms / 1000] * 2


def test_a_reply_that_is_asked_for_again_is_followed_from_its_beginning(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.say("Hi")
    run, watcher = stage.open(), Watcher()
    follower = Follower(stage.store, run, watcher, after=0)
    with stage.store.write() as tx:
        for number, words in enumerate(("one", " two")):
            drafts.append(tx, run, 1, number, [text(words)])
    follower.look()
    with stage.store.write() as tx:
        drafts.clear(tx, run)
        again = log.payload_of("reply.interrupted", '{"turn":1}')
        log.write(tx, again, who=WHO, now_ms=NOW, conversation=stage.conversation, run=run)
        drafts.append(tx, run, 1, 0, [text("anew")])
    follower._version = -1  # as where another process has written
    follower.look()
    assert deltas(drained(watcher)) == ["one", " two", "anew"]


def test_a_feed_without_watchers_reads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(tmp_path)
    feed = Feed(stage.store, stage.open())
    monkeypatch.setattr(stage.store, "read", None)
    feed.catch_up()
    feed.delta(Delta(index=0, kind="text", text="a"))
    assert feed.flight == [text("a")]


async def test_the_result_is_of_the_last_reply(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("t", words="Let me see."), reply("Seen.")))
    stage.say("Hi")
    run = stage.open()
    with stage.store.read() as tx:
        assert (result(tx, run).status, result(tx, run).node) == ("queued", None)
    await stage.drive(run)
    last = stage.nodes()[-1].id
    with stage.store.read() as tx:
        assert (result(tx, run).text, result(tx, run).node) == ("Seen.", last)
    assert stage.engine.cancel(run, WHO).status == "done"
