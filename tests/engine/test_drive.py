"""Driving runs to their end: what is kept, which way the head goes, who drives."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import StoreUnusable
from forkwood.domain.ids import Id
from forkwood.domain.model import Reply
from forkwood.store import conversations
from forkwood.store.db import Store
from forkwood.store.opening import open_store
from tests.engine.stage import (
    NOW,
    USAGE,
    WHO,
    FakeModel,
    FakeTool,
    Stage,
    calling,
    deltas,
    kinds,
    reply,
    results,
    text,
)


async def test_a_run_keeps_its_reply_and_the_head_follows(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("Hello.")))
    stage.say("Hi")
    run = stage.open()
    seen = await stage.drive(run)
    assert deltas(seen) == ["Hello."]
    assert kinds(seen) == ["run.driven", "run.sealed", "turn.started", "reply.kept", "run.ended"]
    (result,) = results(seen)
    assert (result.status, result.text, result.usage, result.error) == ("done", "Hello.", USAGE, None)
    assert stage.path() == ["user: Hi", "assistant: Hello."]
    row = stage.run(run)
    assert (row.status, row.turns, row.tip, row.usage) == ("done", 1, result.node, USAGE)
    with stage.store.read() as tx:
        used = conversations.row(tx, stage.conversation).usage
    assert (used.turns, used.input, used.output, used.cost) == (1, 10, 2, 12.0)


async def test_a_head_that_went_elsewhere_is_not_pulled_back(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    first = stage.say("Hi")
    stage.models["fake:one"] = FakeModel([lambda: stage.say("meanwhile", at=first), *reply("Hello.")])
    await stage.drive(stage.open())
    assert stage.path() == ["user: Hi", "user: meanwhile"]


async def test_runs_are_driven_at_the_same_time(tmp_path: Path) -> None:
    gate = asyncio.Event()
    stage = Stage(tmp_path, FakeModel([gate, *reply("One.")]), FakeModel([gate.set, *reply("Two.")], name="fake:two"))
    stage.say("Hi")
    seen = await stage.drive(stage.open(), stage.open("fake:two", leads=False))
    assert {result.text for result in results(seen)} == {"One.", "Two."}


async def test_tools_that_nobody_offered_are_settled_as_errors_and_the_run_goes_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("weather", words="Let me see."), reply("I cannot.")))
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert (result.status, result.text) == ("done", "I cannot.")
    assert [node.role for node in stage.nodes()] == ["user", "assistant", "tool", "assistant"]
    outcome = stage.nodes()[2].parts[0]
    assert (outcome.call, outcome.outcome, outcome.parts[0].text) == ("a", "error", "there is no tool 'weather'")  # type: ignore[union-attr]
    assert stage.run(run).turns == 2


async def test_who_meets_a_run_whose_drivers_locks_were_removed_begins_no_effect_of_it_a_second_time(
    tmp_path: Path,
) -> None:
    taken: list[bool] = []

    def removed() -> str:
        shutil.rmtree(tmp_path / "drivers")
        return "ok"

    def met() -> str:
        taken.append(stage.another().start(run))
        return "ok"

    tools = [FakeTool("first", removed, effect="write"), FakeTool("second", met, effect="write", after_crash="journal")]
    stage = Stage(tmp_path, FakeModel(calling("first", "second"), reply("Done.")), tools=tools)
    with stage.store.write() as tx:
        conversations.write_setting(tx, stage.conversation, "approvals", "allow-all")
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "done"
    assert (taken, tools[1].used) == ([False], ["b"])


async def test_cancel_keeps_what_came_marked_partial(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    model = stage.models["fake:one"] = FakeModel(
        [text("Once upon"), lambda: stage.engine.cancel(run, WHO), asyncio.Event()]
    )
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert (result.status, result.text, result.error) == ("cancelled", "Once upon", None)
    assert stage.nodes()[-1].partial_reason == "cancelled"
    assert stage.kinds(run)[-3:] == ["reply.kept", "notice.given", "run.ended"]
    assert model.closed == 1


async def test_cancel_before_anything_came_appends_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.models["fake:one"] = FakeModel([lambda: stage.engine.cancel(run, WHO), asyncio.Event()])
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert (result.status, result.node, stage.run(run).turns) == ("cancelled", None, 0)
    assert "reply.kept" not in stage.kinds(run)
    assert stage.path() == ["user: Hi"]


async def test_closing_the_engine_lets_go_and_another_goes_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    begun = asyncio.Event()
    stage.models["fake:one"] = FakeModel([text("Once upon"), begun.set, asyncio.Event()], reply("Hello."))
    stage.say("Hi")
    run = stage.open()
    stage.engine.start(run)
    await begun.wait()
    await stage.engine.close()
    assert stage.run(run).status == "running"
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, result.text) == ("done", "Hello.")
    partial = [node for node in stage.nodes() if node.partial]
    assert [(node.text, node.partial_reason) for node in partial] == [("Once upon", "interrupted")]


async def test_nothing_of_a_run_is_kept_once_it_is_over_and_nothing_is_told_of_one_that_was_let_go(
    tmp_path: Path,
) -> None:
    begun, told = asyncio.Event(), list[dict[str, object]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, said: told.append(said))
    stage = Stage(tmp_path, FakeModel(reply("one"), reply("two"), [text("thr"), begun.set, asyncio.Event()]))
    for _ in range(2):
        await stage.answer()
    assert (stage.engine._tasks, stage.engine._grips) == ({}, {})
    stage.engine.start(stage.open())
    await begun.wait()
    await stage.engine.close()
    await asyncio.sleep(0)
    assert (stage.engine._tasks, stage.engine._grips, told) == ({}, {}, [])


async def test_a_run_nobody_drives_is_cancelled_here_and_now(tmp_path: Path) -> None:
    stage = Stage(tmp_path, tools=[FakeTool("edit", effect="write", after_crash="journal")])
    stage.models["fake:one"] = FakeModel(calling("edit"))
    stage.say("Hi")
    run = stage.open()
    (waiting,) = results(await stage.drive(run))
    assert waiting.status == "waiting"
    assert stage.another().cancel(run, WHO).status == "cancelled"
    assert stage.kinds(run)[-5:] == ["run.driven", "interaction.closed", "call.settled", "results.kept", "run.ended"]
    assert stage.run(stage.open()).status == "queued"
    assert stage.engine.cancel(stage.open(), WHO).status == "cancelled"


async def left_by_a_full_disk(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Id:
    """A run whose reply broke off when the disk was full; there is room again."""
    stage.say("Hi")
    run = stage.open()

    def write() -> None:
        raise StoreUnusable("the disk is full", hint="make room")

    with monkeypatch.context() as disk:
        stage.models["fake:one"] = FakeModel(
            [
                text("x" * limits.draft_bytes),
                lambda: disk.setattr(stage.store, "write", write),
                text("y" * limits.draft_bytes),
            ]
        )
        with pytest.raises(StoreUnusable):
            await stage.drive(run)
    return run


async def test_a_full_disk_lets_the_run_go_and_it_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(tmp_path)
    run = await left_by_a_full_disk(stage, monkeypatch)
    stage.models["fake:one"] = FakeModel(reply("Hello."))
    (result,) = results(await stage.drive(run))
    assert (result.status, result.text) == ("done", "Hello.")
    assert [node.text for node in stage.nodes() if node.partial] == ["x" * limits.draft_bytes]


async def test_a_run_that_a_full_disk_kept_is_let_go_of_at_the_next_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    run = await left_by_a_full_disk(stage, monkeypatch)
    stage.models["fake:one"] = FakeModel(reply("Elsewhere."), reply("Hello."))
    other = stage.another()
    assert not other.start(run), "its process lives, and the store could not be told that it drives no more"
    await stage.drive(stage.open())
    assert other.start(run)
    (result,) = results([item async for item in other.drive([run])])
    assert (result.status, result.text) == ("done", "Hello.")
    await other.close()


async def test_a_whole_reply_without_deltas_is_kept(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel([Reply(parts=(), finish="stop")]))
    result = await stage.answer()
    assert (result.status, result.node) == ("failed", None)
    assert result.error is not None and result.error["reason"] == "empty"


async def test_a_store_that_is_another_versions_now_is_told_once_and_nothing_is_left_untold(tmp_path: Path) -> None:
    stage = Stage(tmp_path, store=open_store(tmp_path / "home", now_ms=NOW))
    elsewhere = open_store(tmp_path / "home", now_ms=NOW)
    driving: list[Any] = []

    def migrate() -> None:
        driving.extend(stage.engine._tasks.values())
        migrated(elsewhere)

    stage.models["fake:one"] = FakeModel([text("Once"), migrate, asyncio.Event()])
    stage.say("Hi")
    with pytest.raises(StoreUnusable, match="is of version 99 now"):
        await stage.drive(stage.open())
    await stage.engine.close()
    assert [(task.done(), task._log_traceback) for task in driving] == [(True, False)]


async def test_who_has_waited_for_a_lock_in_vain_does_not_wait_for_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "busy_ms", 20)
    stage = Stage(tmp_path, store=open_store(tmp_path / "home", now_ms=NOW))
    elsewhere = open_store(tmp_path / "home", now_ms=NOW)._connection
    waits: list[int] = []

    def lock() -> None:
        elsewhere.execute("BEGIN IMMEDIATE")
        stage.store._connection.set_exec_trace(note)

    def note(_: object, sql: str, __: object) -> bool:
        if sql == "BEGIN IMMEDIATE":
            stage.store._connection.set_exec_trace(None)
            waits.append(stage.store._connection.pragma("busy_timeout"))
            stage.store._connection.set_exec_trace(note)
        return True

    stage.models["fake:one"] = FakeModel([text("x" * limits.draft_bytes), lock, text("y" * limits.draft_bytes)])
    stage.say("Hi")
    with pytest.raises(StoreUnusable, match="locked by another process"):
        await stage.drive(stage.open())
    assert waits == [20, 0]
    elsewhere.execute("ROLLBACK")
    stage.store._connection.set_exec_trace(None)
    assert stage.store._connection.pragma("busy_timeout") == 20
    await stage.engine.close()


def migrated(store: Store) -> None:
    """What a newer program does to the file."""
    store._connection.pragma("user_version", 99)
