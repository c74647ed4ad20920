"""Promises 84 and 85 of an earlier program: what fails before a reply is kept leaves nothing said twice or halved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.errors import StoreUnusable
from forkwood.store import append
from tests.engine.stage import FakeModel, Stage, deltas, failed, reply, results


async def test_windie_84_what_is_tried_again_is_told_each_time_and_said_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel([failed(503, "unavailable")], [failed(529, "overloaded")], reply("Hello.")))
    stage.say("Hi")
    run = stage.open()
    seen = await stage.drive(run)
    assert (results(seen)[0].status, deltas(seen)) == ("done", ["Hello."])
    assert [kind for kind in stage.kinds(run) if kind in {"try.failed", "reply.kept"}] == [
        "try.failed",
        "try.failed",
        "reply.kept",
    ]
    assert [f"{node.role}: {node.text}" for node in stage.nodes()] == ["user: Hi", "assistant: Hello."]


async def test_windie_85_a_reply_that_cannot_be_saved_is_told_and_leaves_what_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path, FakeModel(reply("Hello."), reply("Hello again.")))
    stage.say("Hi")
    run = stage.open()
    head = stage.head()
    with monkeypatch.context() as patched:

        def full(*_: Any, **__: Any) -> int:
            raise StoreUnusable("the disk is full", hint="make room")

        patched.setattr(append, "add_message", full)
        with pytest.raises(StoreUnusable, match="the disk is full"):
            await stage.drive(run)
    assert (stage.path(), stage.head(), len(stage.nodes())) == (["user: Hi"], head, 1)
    assert "reply.kept" not in stage.kinds(run) and stage.run(run).status == "running"
    assert results(await stage.drive(run))[0].text == "Hello again."
    assert stage.path() == ["user: Hi", "assistant: Hello again."]
