"""A cancel from another process: it is seen at the next beat, whatever its driver waits for, and nothing dangles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.model import Model
from forkwood.engine.showing import Engine
from forkwood.store.opening import open_store
from tests.engine.stage import NOW, WHO, FakeModel, FakeTool, Stage, calling, failed, reply, text


class Scene:
    """A run that is driven here and waits for ever, and an engine that another process would have."""

    def __init__(self, folder: Path, model: FakeModel, *tools: FakeTool) -> None:
        self.stage = Stage(folder, model, store=open_store(folder / "home", now_ms=NOW), tools=tools)
        self.other: Engine = self.stage.another(open_store(folder / "home", now_ms=NOW))
        self.stage.say("Hi")
        self.run = self.stage.open()

    async def cancelled(self, begun: asyncio.Event) -> None:
        """Drive until BEGUN, let the other one cancel, and see the driver end."""
        self.stage.engine.start(self.run)
        task = self.stage.engine._tasks[self.run]
        await begun.wait()
        self.other.cancel(self.run, WHO)
        assert self.stage.run(self.run).status == "running", "it is the driver's to end"
        await asyncio.wait({task})
        assert self.stage.run(self.run).status == "cancelled"
        assert self.stage.kinds(self.run)[-1] == "run.ended"

    def outcomes(self) -> list[str]:
        return [event.payload["outcome"] for event in self.stage.events(self.run) if event.kind == "call.settled"]


def ever(begun: asyncio.Event) -> Callable[[], Any]:
    """Something that begins and never ends."""

    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    return wait


def test_a_beat_is_kept_often_enough() -> None:
    assert 2 * limits.draft_ms <= 500, "it acts within half a second"


async def test_windie_64_77_while_a_reply_streams(tmp_path: Path) -> None:
    begun = asyncio.Event()
    scene = Scene(tmp_path, FakeModel([text("Once"), begun.set, asyncio.Event()]))
    await scene.cancelled(begun)
    assert scene.stage.path() == ["user: Hi", "assistant: Once"]
    assert scene.stage.nodes()[-1].partial_reason == "cancelled"
    kinds = scene.stage.kinds(scene.run)
    assert kinds.index("cancel.asked") < kinds.index("reply.kept"), "what came late changes nothing of it"


async def test_before_the_first_word(tmp_path: Path) -> None:
    begun = asyncio.Event()
    scene = Scene(tmp_path, FakeModel([begun.set, asyncio.Event()]))
    await scene.cancelled(begun)
    assert scene.stage.path() == ["user: Hi"]


@pytest.mark.parametrize(
    ("effect", "after_crash", "outcome"),
    [("read", "again", "cancelled"), ("write", "journal", "unknown"), ("execute", "doubt", "unknown")],
)
async def test_while_a_tool_works(tmp_path: Path, effect: str, after_crash: str, outcome: str) -> None:
    begun = asyncio.Event()
    tool = FakeTool("work", ever(begun), effect=effect, after_crash=after_crash)
    scene = Scene(tmp_path, FakeModel(calling("work", "work"), reply("never")), tool)
    with scene.stage.store.write() as tx:
        tx.run("UPDATE conversation SET approvals = 'allow-all'")
    await scene.cancelled(begun)
    assert scene.outcomes()[0] == outcome and len(scene.outcomes()) == 2
    assert [node.role for node in scene.stage.nodes()] == ["user", "assistant", "tool"], "no call is left dangling"


async def test_while_a_try_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()

    scene = Scene(tmp_path, FakeModel([failed(429, "rate_limit", retry_after=29)], [text("never")]))

    def an_hour(*_: object) -> float:
        begun.set()
        return 3_600.0

    monkeypatch.setattr("forkwood.engine.trying.wait_before", an_hour)
    await scene.cancelled(begun)
    assert scene.stage.path() == ["user: Hi"] and "try.failed" in scene.stage.kinds(scene.run)


async def test_while_its_model_is_looked_for(tmp_path: Path) -> None:
    begun = asyncio.Event()
    scene = Scene(tmp_path, FakeModel())

    async def found(_: str) -> Model:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    scene.stage.open_model = found  # type: ignore[assignment,method-assign]
    scene.stage.engine = scene.stage.another()
    await scene.cancelled(begun)
    assert scene.stage.path() == ["user: Hi"]


async def test_windie_63_a_run_has_one_driver_at_a_time_and_the_next_one_begins_where_it_let_go(tmp_path: Path) -> None:
    begun = asyncio.Event()
    scene = Scene(tmp_path, FakeModel([text("Once"), begun.set, asyncio.Event()], reply("Again.")))
    assert scene.stage.engine.start(scene.run)
    await begun.wait()
    assert not scene.other.start(scene.run), "it is claimed"
    await scene.stage.engine.close()
    assert scene.other.start(scene.run)
    await asyncio.wait({scene.other._tasks[scene.run]})
    driven = [event.payload for event in scene.stage.events(scene.run) if event.kind == "run.driven"]
    assert [one["number"] for one in driven] == [1, 2] and driven[0]["driver"] != driven[1]["driver"]
    assert scene.stage.path() == ["user: Hi", "assistant: Again."]
