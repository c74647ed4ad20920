"""What comes after a turn or a run: steering messages, the queue, and what becomes of both at every kind of end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.ids import Id
from forkwood.domain.message import Text
from forkwood.domain.queued import Queued
from forkwood.domain.tree import Spot
from forkwood.domain.watch import EventSeen
from forkwood.engine.showing import Engine
from forkwood.store import conversations, holding, purge, queue, runs
from tests.engine.stage import NOW, WHO, FakeModel, FakeTool, Stage, calling, failed, later, reply, results, text


def waiting(stage: Stage) -> list[Queued]:
    with stage.store.read() as tx:
        return queue.listed(tx, stage.conversation)


def states(stage: Stage) -> list[tuple[str, str]]:
    return [(one.text, one.state) for one in waiting(stage)]


def begun(stage: Stage, *script: list[object], tools: Sequence[FakeTool] = ()) -> Id:
    """A run at the first message, its model's SCRIPT handed in."""
    stage.models = {"fake:one": FakeModel(*script)}  # type: ignore[arg-type]
    stage.tools |= {tool.sealed.spec.name: tool for tool in tools}
    stage.say("Hi")
    return stage.open()


async def test_windie_57_94_what_waits_is_sent_in_its_order_each_behind_the_reply_before(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage, reply("1"), reply("2"), reply("3"))  # type: ignore[arg-type]
    first, second = later(stage, run, "a", "b")
    seen = await stage.drive(run)
    assert stage.path() == ["user: Hi", "assistant: 1", "user: a", "assistant: 2", "user: b", "assistant: 3"]
    assert [(one.text, one.status) for one in results(seen)] == [("2", "done"), ("3", "done"), ("1", "done")]
    assert results(seen)[-1].run == run, "its own Result is the last"
    assert waiting(stage) == []
    with stage.store.read() as tx:
        assert [(queue.row(tx, one).state, queue.row(tx, one).parts) for one in (first, second)] == [("sent", ())] * 2
        assert [queue.row(tx, one).behind for one in (first, second)] == [run, results(seen)[0].run]
        assert len(queue.row(tx, first).runs) == 1
    assert [(node.origin.by, node.origin.via) for node in stage.nodes() if node.text in "ab"] == [("user", "web")] * 2


async def test_panelot_36_59_steers_come_before_the_next_turn_in_the_order_they_were_accepted(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    now = FakeTool("now", lambda: later(stage, run, "left", "right", steers=True))
    run: Id = begun(stage, calling("now"), reply("turned"), tools=[now])  # type: ignore[arg-type]
    before = stage.head()
    seen = await stage.drive(run)
    assert [node.text for node in stage.nodes()][-3:] == ["left", "right", "turned"]
    assert len(results(seen)) == 1
    taken = [one for one in seen if isinstance(one, EventSeen) and one.kind == "steer.taken"]
    assert len({one.node for one in taken}) == 2 and all(one.by == "user" for one in taken)
    assert stage.head() != before and stage.path()[-1] == "assistant: turned", "the head came along"
    assert (waiting(stage), stage.run(run).turns) == ([], 2)
    said = stage.models["fake:one"].prompts[-1]
    assert "left" in str(said) and "right" in str(said)


async def test_a_steer_during_the_last_reply_comes_first_behind_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    script = [[lambda: later(stage, run, "b"), lambda: later(stage, run, "s", "t", steers=True), *reply("1")]]
    run: Id = begun(stage, *script, reply("2"), reply("3"), reply("4"))  # type: ignore[arg-type]
    await stage.drive(run)
    assert stage.path()[2::2] == ["user: s", "user: t", "user: b"]


async def test_a_steer_while_a_turn_is_tried_again_stays_behind_that_turn(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    script = [[lambda: later(stage, run, "s", steers=True), failed(503, "overloaded", retry_after=0.0)], reply("1")]
    run: Id = begun(stage, *script, reply("2"))  # type: ignore[arg-type]
    await stage.drive(run)
    assert stage.path() == ["user: Hi", "assistant: 1", "user: s", "assistant: 2"]


@pytest.mark.parametrize("how", ["error", "cancel"])
async def test_panelot_59_no_steer_is_lost_when_the_run_fails_or_is_cancelled(tmp_path: Path, how: str) -> None:
    stage = Stage(tmp_path)
    end = failed(401, "auth") if how == "error" else (lambda: stage.engine.cancel(run, WHO))
    script = [[lambda: later(stage, run, "b"), lambda: later(stage, run, "s", steers=True), end, text("x")]]
    run: Id = begun(stage, *script, reply("2"), reply("3"))  # type: ignore[arg-type]
    await stage.drive(run)
    if how == "error":
        assert [one for one in stage.path() if one.startswith("user")] == ["user: Hi", "user: s", "user: b"]
        assert waiting(stage) == []
    else:
        assert stage.run(run).status == "cancelled"
        assert states(stage) == [("s", "held"), ("b", "held")]
        assert not any(one.steers for one in waiting(stage))


async def test_what_is_said_after_a_cancel_comes_when_the_run_is_over_before_what_was_held(tmp_path: Path) -> None:
    """Also where the driver has not seen the cancel yet; what was said before it comes behind that."""
    stage = Stage(tmp_path)

    def said_late() -> None:
        later(stage, run, "before")
        stage.engine.cancel(run, WHO)
        assert states(stage) == [("before", "held")]
        later(stage, run, "after")

    run: Id = begun(stage, [text("Half"), said_late, text("x")], reply("2"), reply("3"))  # type: ignore[arg-type]
    await stage.drive(run)
    assert stage.run(run).status == "cancelled" and waiting(stage) == []
    assert [one for one in stage.path() if one.startswith("user")] == ["user: Hi", "user: after", "user: before"]


async def test_a_cancel_after_what_was_said_after_a_cancel_holds_that_too(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage)
    with stage.store.write() as tx:
        holding.hold(tx, run, "d" * 32, NOW)
        assert runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
    later(stage, run, "after")
    assert states(stage) == [("after", "waiting")]
    with stage.store.write() as tx:
        assert not runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
    assert states(stage) == [("after", "held")]


async def test_panelot_60_a_cancel_beside_a_steer_lets_no_model_be_called(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage)
    later(stage, run, "s", steers=True)
    with stage.store.write() as tx:
        runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
    await stage.drive(run)
    assert (stage.run(run).status, states(stage)) == ("cancelled", [("s", "held")])
    assert stage.models["fake:one"].prompts == []


async def test_a_failed_head_never_blocks_the_rest(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage, reply("1"), [failed(401, "auth")], reply("3"))  # type: ignore[arg-type]
    later(stage, run, "a", "b")
    seen = await stage.drive(run)
    assert stage.path() == ["user: Hi", "assistant: 1", "user: a", "user: b", "assistant: 3"]
    assert [one.status for one in results(seen)] == ["failed", "done", "done"]


async def test_one_that_cannot_be_sent_is_held_with_a_notice_and_the_next_one_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage, reply("1"), reply("2"))  # type: ignore[arg-type]
    long, _ = later(stage, run, "too much", "b")
    with stage.store.write() as tx:
        queue.write_parts(tx, long, tuple(Text(text="x") for _ in range(limits.parts_max + 1)))
    await stage.drive(run)
    assert stage.path() == ["user: Hi", "assistant: 1", "user: b", "assistant: 2"]
    assert [(one.id, one.state) for one in waiting(stage)] == [(long, "held")]
    [notice] = [event for event in stage.events(run) if event.kind == "notice.given"]
    assert (notice.payload["what"], "could not be sent" in notice.payload["text"]) == ("queue", True)
    assert notice.node == stage.nodes()[1].id, "at the tip it was to follow"


async def test_a_steer_that_cannot_stand_there_is_held_and_the_turn_goes_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage, reply("1"))  # type: ignore[arg-type]
    [name] = later(stage, run, "s", steers=True)
    with stage.store.write() as tx:
        queue.write_parts(tx, name, tuple(Text(text="x") for _ in range(limits.parts_max + 1)))
    await stage.drive(run)
    assert stage.path() == ["user: Hi", "assistant: 1"]
    assert [one.state for one in waiting(stage)] == ["held"]
    assert stage.kinds(run).count("steer.withdrawn") == 1


async def test_several_models_answer_and_the_rest_waits_for_the_first(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage, reply("1"), reply("a1"), reply("b1"))  # type: ignore[arg-type]
    stage.models["fake:two"] = FakeModel(reply("a2"), name="fake:two")
    later(stage, run, "a", models=("fake:two", "fake:one"))
    later(stage, run, "b", models=("fake:one",))
    await stage.drive(run)
    assert stage.path() == ["user: Hi", "assistant: 1", "user: a", "assistant: a2", "user: b", "assistant: b1"]
    assert sorted(node.text for node in stage.nodes()) == ["1", "Hi", "a", "a1", "a2", "b", "b1"]


@pytest.mark.parametrize("shut", ["closing", "trash"])
async def test_nothing_begins_where_nothing_may(tmp_path: Path, shut: str) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage, reply("1"))  # type: ignore[arg-type]
    later(stage, run, "a")
    with stage.store.write() as tx:
        if shut == "closing":
            purge.close(tx, stage.conversation)
        else:
            conversations.write_setting(tx, stage.conversation, "hidden", True)
    await stage.drive(run)
    assert (states(stage), stage.path()) == ([("a", "held")], ["user: Hi", "assistant: 1"])


async def test_a_head_that_has_gone_elsewhere_stays_there(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage, reply("1"), reply("2"))  # type: ignore[arg-type]
    later(stage, run, "a")
    elsewhere = stage.say("Or so", at=Spot(0))
    await stage.drive(run)
    assert stage.head() == elsewhere
    assert len(stage.nodes()) == 5


async def test_who_only_followed_the_run_does_not_drive_what_comes_behind_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage, reply("1"), reply("2"))  # type: ignore[arg-type]
    later(stage, run, "a")
    other: Engine = stage.another()
    seen = [item async for item in other.drive([run])]
    assert [one.text for one in results(seen)] == ["2", "1"]
    assert [item.text for item in results(await stage.drive(run))] == ["1"], "it was over: that is all there is to say"
    await other.close()


async def test_what_a_driver_that_died_had_opened_is_there_for_the_next(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run: Id = begun(stage, reply("1"), reply("2"))  # type: ignore[arg-type]
    later(stage, run, "a")
    async for item in stage.engine.drive([run]):
        if isinstance(item, EventSeen) and item.kind == "queue.moved":
            break
    await stage.engine.close()
    with stage.store.read() as tx:
        left = runs.active(tx, stage.conversation)
    assert len(left) <= 1
    stage.engine = stage.another()
    await stage.drive(*left)
    assert stage.path()[-1] == "assistant: 2"
