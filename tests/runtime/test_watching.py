"""watch: everything behind a number, whoever does it, and what begins while one watches."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forkwood import wire
from forkwood.domain.errors import Misused, NotFound
from forkwood.domain.watch import DeltaSeen, EventSeen
from forkwood.runtime import Runtime
from tests.runtime.doors import door, said, script

Told = list[DeltaSeen | EventSeen]


@pytest.fixture
def runtime() -> Runtime:
    made = door()
    made.new(title="Lisbon")
    return made


def watched(runtime: Runtime, until: str, after: int | None = 0, **where: str) -> Told:
    """What is told up to the first event of that kind."""

    async def watch() -> Told:
        found: Told = []
        async for item in runtime.watch(after, **where):
            found.append(item)
            if isinstance(item, EventSeen) and item.kind == until:
                break
        return found

    return asyncio.run(watch())


def kinds(told: Told) -> list[str]:
    return [item.kind for item in told if isinstance(item, EventSeen)]


def test_windie_58_59_it_is_the_log_of_all_conversations_from_a_number_on(runtime: Runtime) -> None:
    said(runtime, "one", "two", "three")
    runtime.new(title="Porto")
    logged = list(runtime.log())
    told = watched(runtime, "conversation.created", after=1)
    assert [item.seq for item in told if isinstance(item, EventSeen)] == [event.seq for event in logged[1:]]
    assert told[-1] == EventSeen(**{name: getattr(logged[-1], name) for name in logged[-1].__struct_fields__})


def test_windie_97_without_a_number_only_what_is_new_and_runs_that_begin(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "Sardines, grilled.", "chunk": 4, "pause_ms": 5})

    async def both() -> Told:
        found: Told = []

        async def watch() -> None:
            async for item in runtime.watch(None):
                found.append(item)
                if isinstance(item, EventSeen) and item.kind == "run.ended":
                    return

        watching = asyncio.ensure_future(watch())
        await asyncio.sleep(0)
        started = runtime.send("What do I eat?", models=[model])
        async for _ in runtime.drive(started.runs):
            pass
        await watching
        return found

    told = asyncio.run(both())
    types = [wire.plain(item)["type"] for item in told]
    assert types == ["event" if isinstance(item, EventSeen) else "delta" for item in told]
    assert kinds(told) == [event.kind for event in runtime.log(after=1)]
    assert "".join(item.text for item in told if isinstance(item, DeltaSeen)) == "Sardines, grilled."


def test_a_conversation_or_a_run_alone(runtime: Runtime, tmp_path: Path) -> None:
    first = runtime.conversation().id
    runtime.new(title="Porto")
    said(runtime, "elsewhere")
    run = runtime.send("Hi", models=[script(tmp_path, {"text": "Hello"})]).runs[0]
    assert kinds(watched(runtime, "conversation.created", conversation=first)) == ["conversation.created"]
    runtime.cancel(run)
    assert kinds(watched(runtime, "never", run=run[-8:])) == ["run.opened", "cancel.asked", "run.ended"]


def test_what_cannot_be_watched_is_said(runtime: Runtime) -> None:
    with pytest.raises(Misused):
        watched(runtime, "never", after=-1)
    with pytest.raises(NotFound):
        watched(runtime, "never", run="abcd1234")
    with pytest.raises(NotFound):
        watched(runtime, "never", conversation="abcd1234")


def test_behind_the_last_few_events_begins_who_wants_to_see_a_little_of_what_was(runtime: Runtime) -> None:
    here = runtime.conversation().id
    said(runtime, "one", "two", "three")
    numbers = [event.seq for event in runtime.log(conversation=here)]
    runtime.new(title="Porto")
    assert runtime.behind_last(2, conversation=here) == numbers[-3]
    assert runtime.behind_last(2) == numbers[-2]
    assert runtime.behind_last(len(numbers), conversation=here) == runtime.behind_last(99) == 0
    with pytest.raises(NotFound):
        runtime.behind_last(2, conversation="beefbeef")
