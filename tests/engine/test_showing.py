"""Runs are shown to whoever drives or watches them: everything once, in order, their results at the end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forkwood.domain.errors import NotFound
from forkwood.domain.watch import DeltaSeen, EventSeen
from forkwood.store import drafts, entries, runs
from tests.engine.stage import (
    FakeModel,
    Stage,
    calling,
    reply,
    results,
    text,
)


async def test_windie_81_several_models_answer_as_siblings_and_the_first_ones_result_is_last(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("One.")), FakeModel(reply("Two."), name="fake:two"))
    place = stage.say("Hi")
    one, two = stage.open("fake:one"), stage.open("fake:two", leads=False)
    seen = await stage.drive(one, two)
    assert [(result.run, result.text) for result in results(seen)] == [(two, "Two."), (one, "One.")]
    assert stage.path() == ["user: Hi", "assistant: One."]
    with stage.store.read() as tx:
        assert len(entries.siblings(tx, place)) == 2


async def test_the_second_driver_of_a_process_follows_the_first(tmp_path: Path) -> None:
    gate = asyncio.Event()
    stage = Stage(tmp_path, FakeModel([text("Hel"), gate, text("lo."), *reply("Hello.")[1:]]))
    stage.say("Hi")
    run = stage.open()
    stage.engine.start(run)
    first = asyncio.ensure_future(stage.drive(run))
    second = asyncio.ensure_future(stage.drive(run))
    gate.set()
    one, two = await first, await second
    assert results(one) == results(two)
    assert len([event for event in stage.events(run) if event.kind == "run.driven"]) == 1


async def test_driving_a_run_that_is_over_gives_its_result(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("Hello.")))
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    (again,) = await stage.drive(run)
    assert results([again])[0].text == "Hello."


async def test_a_run_that_does_not_exist_is_named(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with pytest.raises(NotFound):
        await stage.drive("0" * 32)


async def test_a_watcher_after_n_misses_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("weather"), reply("Done.")))
    stage.say("Hi")
    run = stage.open()
    whole = await stage.drive(run)
    every = [event.seq for event in stage.events(run)]
    for after in every:
        seen = [item async for item in stage.engine.watch(run, after=after)]
        assert [item.seq for item in seen if isinstance(item, EventSeen)] == [seq for seq in every if seq > after]
    assert results(whole)[0] == results(seen)[0]


async def test_cancelling_the_task_that_drives_keeps_what_came(tmp_path: Path) -> None:
    """Ctrl-C."""
    stage = Stage(tmp_path)
    begun = asyncio.Event()
    stage.models["fake:one"] = FakeModel([text("Once upon"), begun.set, asyncio.Event()])
    stage.say("Hi")
    run = stage.open()
    driving = asyncio.ensure_future(stage.drive(run))
    await begun.wait()
    driving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await driving
    assert stage.run(run).status == "cancelled"
    assert stage.path() == ["user: Hi", "assistant: Once upon"]


async def test_leaving_the_iterator_leaves_the_run_at_work(tmp_path: Path) -> None:
    gate = asyncio.Event()
    stage = Stage(tmp_path, FakeModel([text("Hel"), gate, *reply("Hello.")]))
    stage.say("Hi")
    run = stage.open()
    driving = stage.engine.drive([run])
    async for _ in driving:
        break
    await driving.aclose()
    gate.set()
    assert results([item async for item in stage.engine.watch(run)])[0].text == "Hello."


def test_a_loop_that_ends_while_a_reply_is_heard_closes_everything_and_complains_of_nothing(tmp_path: Path) -> None:
    model = FakeModel([text("Hel"), text("lo"), asyncio.Event()])
    stage, told = Stage(tmp_path, model), list[str]()

    async def half_heard() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["message"]))
        stage.say("Hi")
        async for item in stage.engine.drive([stage.open()]):
            if isinstance(item, DeltaSeen):
                return  # the generator stays where it is, half heard

    asyncio.run(half_heard())
    assert (told, model.closed) == ([], 1)
    with stage.store.read() as tx:
        (run,) = runs.listed(tx)
        assert (run.status, [part.text for part in drafts.parts(tx, run.id)]) == ("running", ["Hello"])  # type: ignore[union-attr]
