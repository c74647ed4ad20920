"""What panelot promises of runs, and how it is held here: what belongs together is one commit, and ends are ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from forkwood.domain.event import KINDS
from forkwood.domain.ids import Id
from forkwood.domain.message import Attachment, ToolCall
from forkwood.domain.model import Reply
from forkwood.domain.run import RunState, apply
from forkwood.domain.run_event import CallStarted, CancelAsked, RunEnded, TurnStarted
from forkwood.store import conversations, drafts, log, manifests, runs
from forkwood.store.db import Tx
from tests.engine.stage import USAGE, FakeModel, FakeTool, Stage, calling, reply, results, text
from tests.engine.test_use import approve


def refusing(patch: pytest.MonkeyPatch, kind: str) -> None:
    """From now on the log takes no event of KIND."""
    write = log.write

    def refuses(tx: Tx, payload: Any, **fields: Any) -> int:
        if KINDS[type(payload)] == kind:
            raise RuntimeError("no room")
        return write(tx, payload, **fields)

    patch.setattr(log, "write", refuses)


def state(stage: Stage, run: Id) -> RunState:
    with stage.store.read() as tx:
        return runs.state(tx, run)


@pytest.mark.parametrize("status", ["done", "failed", "cancelled"])
def test_panelot_30_nothing_happens_to_a_run_that_is_over(status: str) -> None:
    over = apply(RunState(), RunEnded(status=status))  # type: ignore[arg-type]
    for event in (CancelAsked(), RunEnded(status="done"), CallStarted(call="a")):
        with pytest.raises(AssertionError):
            apply(over, event)


async def test_panelot_31_every_change_of_a_run_has_a_higher_number(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Done.")), tools=[FakeTool("look")])
    await stage.answer()
    with stage.store.read() as tx:
        (run,) = runs.listed(tx)
    numbers = [event.seq for event in stage.events(run.id)]
    assert numbers == sorted(set(numbers)) and len(numbers) > 6


async def test_panelot_32_a_call_begins_once_and_two_calls_never_share_an_id(tmp_path: Path) -> None:
    tool = FakeTool("look", effect="write", after_crash="journal")
    same = (ToolCall(call="same", name="look", arguments={}),) * 2
    stage = Stage(tmp_path, FakeModel([Reply(parts=same, usage=USAGE)], reply("Done.")), tools=[tool])
    with stage.store.write() as tx:
        tx.run("UPDATE conversation SET approvals = 'allow-all'")
    assert (await stage.answer()).status == "done"
    with stage.store.read() as tx:
        (run,) = runs.listed(tx)
    begun = [event.payload["call"] for event in stage.events(run.id) if event.kind == "call.started"]
    assert len(begun) == len(set(begun)) == 2 and begun == tool.used


def usage_and_draft(tx: Tx, stage: Stage, run: Id) -> tuple[int, int, bool]:
    row = conversations.row(tx, stage.conversation)
    return row.usage.turns, row.usage.input, drafts.parts(tx, run) == ()


async def test_panelot_33_34_a_reply_that_cannot_be_logged_leaves_no_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path, FakeModel([text("Hel"), *reply("Hello.")]))
    refusing(monkeypatch, "reply.kept")
    stage.say("Hi")
    head, run = stage.head(), stage.open()
    assert results(await stage.drive(run))[0].status == "failed"
    assert (stage.path(), stage.head(), stage.run(run).tip) == (["user: Hi"], head, stage.nodes()[0].id)
    with stage.store.read() as tx:
        assert usage_and_draft(tx, stage, run)[:2] == (0, 0)


async def test_panelot_33_34_results_that_cannot_be_logged_leave_no_node_and_are_kept_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = FakeTool("look")
    stage = Stage(tmp_path, FakeModel(calling("look", words="Let me see."), reply("Done.")), tools=[tool])
    stage.say("Hi")
    run = stage.open()
    with monkeypatch.context() as patch:
        refusing(patch, "results.kept")
        with pytest.raises(RuntimeError):
            await stage.drive(run)
    assert stage.path() == ["user: Hi", "assistant: Let me see."], "the reply was a unit of its own"
    assert stage.run(run).tip == stage.nodes()[-1].id
    assert results(await stage.drive(run))[0].status in {"done", "failed"}
    assert [node.role for node in stage.nodes()][:3] == ["user", "assistant", "tool"]


async def test_panelot_34_reply_usage_statistics_and_state_are_one_commit(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel([text("Hel"), *reply("Hello.")]))
    result = await stage.answer()
    row = stage.run(result.run)
    assert (row.usage.input, row.turns, row.tip) == (10, 1, result.node)
    with stage.store.read() as tx:
        assert usage_and_draft(tx, stage, result.run) == (1, 10, True)
    kept = next(event for event in stage.events(result.run) if event.kind == "reply.kept")
    assert (kept.node, kept.payload["usage"]["input"]) == (result.node, 10)


async def test_panelot_35_an_attachment_is_there_with_its_message_or_not_at_all(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    missing = Attachment(
        blob="0" * 64, media="file", name="a.txt", mime="text/plain", size=1, trust="trusted", source="user"
    )
    with pytest.raises(apsw.ConstraintError):
        stage.say("Look", "user", None, missing)
    assert stage.nodes() == []


async def test_panelot_63_a_call_that_failed_is_asked_for_anew(tmp_path: Path) -> None:
    def fails() -> str:
        raise ValueError("no such thing")

    tool = FakeTool("edit", fails, effect="write", after_crash="journal")
    stage = Stage(tmp_path, FakeModel(calling("edit"), calling("edit"), reply("Done.")), tools=[tool])
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "waiting"
    approve(stage, run, "allow")
    assert results(await stage.drive(run))[0].status == "waiting", "one yes is for one call, whatever came of it"
    assert tool.used == ["a"]


@pytest.mark.parametrize("refused", ["run.sealed", "turn.started"])
async def test_panelot_69_a_run_is_sealed_and_its_turn_announced_in_one_commit(
    tmp_path: Path, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = FakeModel(reply("never"))
    stage = Stage(tmp_path, model)
    refusing(monkeypatch, refused)
    result = await stage.answer()
    assert (result.status, model.prompts) == ("failed", [])
    with stage.store.read() as tx:
        assert tx.value("SELECT count(*) FROM manifest") == 0
    assert state(stage, result.run).manifest is None


async def test_panelot_69_what_a_turn_names_is_in_the_store_when_it_is_announced(tmp_path: Path) -> None:
    seen: list[bool] = []

    def look(stage: Callable[[], Stage]) -> Callable[[], None]:
        def now() -> None:
            with stage().store.read() as tx:
                (run,) = runs.listed(tx)
                assert run.manifest is not None
                seen.append(manifests.get(tx, run.manifest).model == "fake:one")

        return now

    stage = Stage(tmp_path, FakeModel([look(lambda: stage), *reply("Hello.")]))
    result = await stage.answer()
    started = next(event for event in stage.events(result.run) if event.kind == "turn.started")
    assert (seen, TurnStarted.__name__, started.payload["recipe"]["manifest"]) == (
        [True],
        "TurnStarted",
        stage.run(result.run).manifest,
    )
