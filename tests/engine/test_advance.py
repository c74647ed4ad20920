"""Steps that reach nowhere: all that follow are done in one commit."""

from __future__ import annotations

from pathlib import Path

from forkwood.domain.plan import plan
from forkwood.domain.step import CallModel
from forkwood.engine.advance import advance, calls_in_turn
from forkwood.store import drafts, holding, runs
from tests.engine.stage import NOW, WHO, FakeModel, FakeTool, Stage, calling, text


async def test_a_cancel_settles_keeps_and_ends_in_one_transaction(tmp_path: Path) -> None:
    tools = [FakeTool("edit", effect="write", after_crash="journal"), FakeTool("test", effect="execute")]
    stage = Stage(tmp_path, FakeModel(calling("edit", "test")), tools=tools)
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    with stage.store.write() as tx:
        runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
        held = holding.hold(tx, run, "me", NOW)
        assert list(calls_in_turn(tx, held)) == ["a", "b"]
        over = advance(tx, stage.engine._supplies, held)
    assert over.state.ended is not None and plan(over.state) is None
    assert stage.run(run).status == "cancelled"
    results = stage.nodes()[-1].parts
    assert [(part.call, part.outcome) for part in results] == [("a", "cancelled"), ("b", "cancelled")]  # type: ignore[union-attr]


def test_what_needs_a_model_is_left(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run = stage.open()
    with stage.store.write() as tx:
        held = holding.hold(tx, run, "me", NOW)
        assert advance(tx, stage.engine._supplies, held) == held
    assert plan(held.state) == CallModel(turn=1)


async def test_the_head_moves_with_the_results_too(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("missing"), calling("missing"), *([calling("x")] * 9)))
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    last = stage.nodes()[-1]
    with stage.store.read() as tx:
        assert last.role == "tool" and runs.tip(tx, run).node == last.seq
    assert stage.head().node == last.seq


async def test_a_run_that_ends_without_a_reply_leaves_no_draft(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run = stage.open()
    with stage.store.write() as tx:
        held = holding.hold(tx, run, "me", NOW)
        drafts.append(tx, run, 1, 0, [text("Once")])
        runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
        advance(tx, stage.engine._supplies, holding.renew(tx, held))
        assert drafts.parts(tx, run) == ()
