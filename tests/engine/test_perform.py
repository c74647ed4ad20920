"""Calling the model and using tools: tries, keys, stops, and the moment before an effect."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed
from forkwood.domain.message import Text, ToolCall
from forkwood.domain.model import Reply
from forkwood.domain.settings import Parameters
from forkwood.domain.watch import EventSeen
from forkwood.store import conversations, holding, runs
from forkwood.store.opening import open_store
from tests.engine.stage import (
    NOW,
    WHO,
    FakeModel,
    FakeTool,
    Scrap,
    Stage,
    calling,
    failed,
    reply,
    results,
    text,
)


def tries(stage: Stage, run: str) -> list[dict[str, Any]]:
    return [event.payload for event in stage.events(run) if event.kind == "try.failed"]


async def test_a_failure_before_the_reply_is_tried_again_each_try_an_event(tmp_path: Path) -> None:
    model = FakeModel([failed(503, "unavailable")], [failed(429, "rate_limit", retry_after=0.001)], reply("Hello."))
    stage = Stage(tmp_path, model)
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert (result.status, result.text) == ("done", "Hello.")
    assert [(one["number"], one["reason"], one["wait_ms"]) for one in tries(stage, run)] == [
        (1, "unavailable", 250),
        (2, "rate_limit", 1),
    ]
    assert [(one.turn, one.number) for one in model.attempts] == [(0, 1), (0, 2), (0, 3)]


async def test_after_all_tries_the_run_fails_with_the_providers_words(tmp_path: Path) -> None:
    busy: list[list[Scrap]] = [[failed(503, "overloaded", retry_after=0.0)] for _ in range(limits.tries_max)]
    model = FakeModel(*busy)
    stage = Stage(tmp_path, model)
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert (result.status, result.node, len(model.attempts)) == ("failed", None, limits.tries_max)
    assert result.error == {
        "kind": "provider", "reason": "overloaded", "message": "said 503", "hint": "wait", "status": 503,
    }  # fmt: skip
    assert stage.path() == ["user: Hi"]
    assert stage.run(run).error == result.error


@pytest.mark.parametrize("status", [401, 403, 429])
async def test_panelot_81_a_refused_key_gives_way_to_the_next_at_once(tmp_path: Path, status: int) -> None:
    model = FakeModel([failed(status, "auth")], [failed(status, "auth")], reply("Hello."), keys=3)
    stage = Stage(tmp_path, model)
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert result.status == "done"
    assert [(one["wait_ms"], one["next_key"]) for one in tries(stage, run)] == [(0, True), (0, True)]


async def test_with_no_key_left_a_refusal_is_told(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel([failed(401, "auth")], [failed(401, "auth")], keys=2))
    result = await stage.answer()
    assert result.status == "failed" and result.error is not None and result.error["reason"] == "auth"


async def test_keys_do_not_use_up_the_tries(tmp_path: Path) -> None:
    refused: list[list[Scrap]] = [[failed(401, "auth")] for _ in range(limits.tries_max + 1)]
    model = FakeModel(*refused, [failed(503, "unavailable", retry_after=0.0)], reply("Hello."), keys=9)
    assert (await Stage(tmp_path, model).answer()).status == "done"


@pytest.mark.parametrize("reason", ["cut", "error", "stalled", "refused"])
async def test_a_partial_reply_is_kept_and_the_run_fails(tmp_path: Path, reason: Any) -> None:
    broken = Reply(parts=(Text(text="Once"),), partial=reason, error="broke off")
    stage = Stage(tmp_path, FakeModel([text("Once"), broken]))
    result = await stage.answer()
    assert (result.status, result.text) == ("failed", "Once")
    assert result.error is not None and (result.error["reason"], result.error["message"]) == (reason, "broke off")
    assert stage.nodes()[-1].partial_reason == reason and stage.nodes()[-1].id == result.node
    assert stage.path() == ["user: Hi", "assistant: Once"]


async def test_a_reply_at_its_length_is_done_and_marked(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel([Reply(parts=(Text(text="Once"),), partial="length", finish="length")]))
    result = await stage.answer()
    assert (result.status, result.error, stage.nodes()[-1].partial_reason) == ("done", None, "length")


async def test_a_failure_in_mid_reply_is_a_partial_reply_never_a_second_try(tmp_path: Path) -> None:
    model = FakeModel([text("Once"), failed(503, "unavailable")], reply("never"))
    stage = Stage(tmp_path, model)
    result = await stage.answer()
    assert (result.status, result.text, len(model.attempts)) == ("failed", "Once", 1)


async def test_panelot_77_a_stream_without_an_end_is_cut(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel([text("Once")]))
    result = await stage.answer()
    assert result.error is not None and result.error["reason"] == "cut"


async def test_a_model_that_cannot_be_opened_fails_the_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.say("Hi")
    (result,) = results(await stage.drive(stage.open("fake:none")))
    assert result.status == "failed" and result.error is not None
    assert (result.error["reason"], result.error["hint"]) == ("not_found", "try fake:one")


async def test_panelot_82_a_cancel_while_it_waits_to_try_again_ends_it_at_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel([failed(503, "unavailable", retry_after=29.0)]))
    stage.say("Hi")
    run = stage.open()
    async for item in stage.engine.drive([run]):
        if isinstance(item, EventSeen) and item.kind == "try.failed":
            stage.engine.cancel(run, WHO)
    assert stage.run(run).status == "cancelled"


async def test_a_cancel_from_another_process_is_seen_while_it_streams(tmp_path: Path) -> None:
    stage = Stage(tmp_path, store=open_store(tmp_path / "home", now_ms=NOW))
    elsewhere = open_store(tmp_path / "home", now_ms=NOW)

    def asked() -> None:
        with elsewhere.write() as tx:
            runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)

    stage.models["fake:one"] = FakeModel([text("Once"), asked, asyncio.Event()])
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert (result.status, result.text) == ("cancelled", "Once")


async def test_a_driver_that_lost_its_run_commits_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    def taken() -> None:
        with stage.store.write() as tx:
            holding.hold(tx, run, "somebody else", NOW)

    stage.models["fake:one"] = FakeModel([text("Once"), taken, *reply("stale")[1:]], reply("fresh"))
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert (result.status, result.text) == ("done", "fresh"), "nobody of that name lives: it is taken over again"
    assert "assistant: stale" not in [f"{node.role}: {node.text}" for node in stage.nodes()]


async def test_what_was_set_and_not_sent_is_told_once_at_the_first_reply_of_a_run(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Done."), reply("Again.")), tools=[FakeTool("look")])
    with stage.store.write() as tx:
        conversations.write_setting(tx, stage.conversation, "params", Parameters(context=9_000))
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    told = [event.payload["text"] for event in stage.events(run) if event.kind == "notice.given"]
    assert told == ["context was not sent"]


async def test_a_mistake_of_the_program_ends_the_run_and_keeps_what_came(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel([text("Once"), ValueError("unforeseen")]))
    result = await stage.answer()
    assert (result.status, result.text) == ("failed", "Once")
    assert result.error is not None
    assert result.error["message"] == "Forkwood made a mistake (ValueError: unforeseen)"
    assert stage.nodes()[-1].partial_reason == "error"


async def test_a_mistake_before_the_reply_is_told_by_its_place_and_is_not_run_into_again(tmp_path: Path) -> None:
    model = FakeModel([RecursionError("too deep")], reply("never"))
    stage = Stage(tmp_path, model)
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert result.status == "failed" and result.error is not None
    assert (result.error["kind"], result.error["where"][:9]) == ("defect", "stage.py:")
    assert results(await stage.drive(run)) == [result] and len(model.attempts) == 1


async def test_a_reply_that_cannot_be_kept_leaves_its_words(tmp_path: Path, monkeypatch: Any) -> None:
    far_too_long = ToolCall(call="a", name="t", arguments={"x": "far too long"})
    stage = Stage(tmp_path, FakeModel([text("Once"), Reply(parts=(Text(text="Once"), far_too_long), finish="stop")]))
    stage.say("Hi")
    run = stage.open()
    monkeypatch.setattr(limits, "message_bytes_max", 10)
    (result,) = results(await stage.drive(run))
    assert (result.status, result.text) == ("failed", "Once")
    assert result.error is not None and "over the limit of 10" in result.error["message"]


@pytest.mark.parametrize(
    ("message", "tools", "hint"),
    [
        ("this model does not support Tools", ["look", "find"], "wait; 'forkwood set tools -look,-find' sends this"),
        ("this model does not support tools", [], "wait"),
        ("too long", ["look"], "wait"),
    ],
)
async def test_a_server_that_takes_no_tools_is_told_of_with_the_way_out(
    tmp_path: Path, message: str, tools: list[str], hint: str
) -> None:
    failure = ProviderFailed("invalid_request", message, hint="wait", status=400)
    stage = Stage(tmp_path, FakeModel([failure]), tools=[FakeTool(name) for name in tools])
    error = (await stage.answer()).error
    assert error is not None and error["hint"].startswith(hint) and ("set tools" in error["hint"]) == (hint != "wait")
