"""Taking over after a death: what came is kept beside what is asked for again."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import Conflict
from forkwood.domain.model import Delta
from forkwood.domain.run_event import TurnStarted
from forkwood.engine.recover import take_over
from forkwood.store import book_checks, drafts, entries, holding
from tests.domain.happened import turn
from tests.engine.stage import NOW, WHO, FakeModel, Stage, reply, results, text


def dies_in_mid_reply(stage: Stage, *came: Delta) -> str:
    """A run whose driver has died, and what had come of its reply."""
    run = stage.open()
    with stage.store.write() as tx:
        held = holding.hold(tx, run, "dead", NOW)
        started = turn()
        assert isinstance(started, TurnStarted)
        holding.append(tx, held, started, now_ms=NOW)
        if came:
            drafts.append(tx, run, 1, 0, came)
    return run


async def test_the_reply_is_asked_for_again_beside_what_came(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("Hello.")))
    place = stage.say("Hi")
    run = dies_in_mid_reply(stage, text("Hel"), Delta(index=1, kind="tool_call", text='{"a'))
    (result,) = results(await stage.drive(run))
    assert (result.status, result.text) == ("done", "Hello.")
    assert stage.path() == ["user: Hi", "assistant: Hello."]
    assert [(node.text, node.partial_reason) for node in stage.nodes()[1:]] == [
        ("Hel", "interrupted"),
        ("Hello.", None),
    ]
    with stage.store.read() as tx:
        assert len(entries.siblings(tx, place)) == 2
        assert entries.entries(tx, place)[0].notices == ()
        assert drafts.parts(tx, run) == ()
    assert stage.kinds(run)[3:7] == ["run.driven", "notice.given", "reply.interrupted", "run.sealed"]


async def test_nothing_came_nothing_is_kept(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("Hello.")))
    stage.say("Hi")
    run = dies_in_mid_reply(stage)
    await stage.drive(run)
    assert [node.text for node in stage.nodes()] == ["Hi", "Hello."]
    assert "reply.interrupted" in stage.kinds(run)


async def test_a_run_that_was_to_be_cancelled_is_not_asked_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.say("Hi")
    run = dies_in_mid_reply(stage, text("Hel"))
    assert stage.engine.cancel(run, WHO).status == "cancelled"
    assert stage.path() == ["user: Hi", "assistant: Hel"]
    assert stage.nodes()[-1].partial_reason == "cancelled"
    with stage.store.read() as tx:
        assert [problem.message for problem in book_checks.counts(tx)] == [], "a kept reply is a turn that counts"


async def test_a_run_that_is_over_is_not_taken(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("Hello.")))
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    with pytest.raises(Conflict), stage.store.write() as tx:
        take_over(tx, stage.engine._supplies, run, "late")


async def test_each_take_over_raises_the_number(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    run = stage.open()
    for number in (1, 2, 3):
        with stage.store.write() as tx:
            assert take_over(tx, stage.engine._supplies, run, f"d{number}").number == number
