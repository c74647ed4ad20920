"""Titles by the model: only where switched on, only over a title made by rule, and never at the price of a failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.message import Text
from forkwood.domain.model import Reply, Usage
from forkwood.domain.settings import Settings
from forkwood.domain.watch import EventSeen, Result
from forkwood.runtime import Runtime
from forkwood.store import book_checks
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, heard, script

REPLIES: list[dict[str, Any]] = [
    {"match": "Give this conversation a title", "text": '"Bread for beginners."\nmore'},
    {"text": "use flour"},
]


def opened(home: Path, *, by_model: bool) -> Runtime:
    settings = Settings(home=str(home), model="scripted:/nowhere.json", title_by_model=by_model)
    runtime = door(open_store(home, now_ms=NOON), settings)
    runtime.new()
    return runtime


@pytest.mark.parametrize(("by_model", "title"), [(True, "Bread for beginners"), (False, "how do I bake?")])
def test_a_better_title_where_switched_on(home: Path, tmp_path: Path, by_model: bool, title: str) -> None:
    runtime = opened(home, by_model=by_model)
    answered(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *REPLIES)]))
    assert runtime.conversation().title == title
    assert [event.kind for event in runtime.log()].count("conversation.titled") == int(by_model)


def test_a_persons_title_stays(home: Path, tmp_path: Path) -> None:
    runtime = opened(home, by_model=True)
    runtime.set("title", "mine")
    answered(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *REPLIES)]))
    assert runtime.conversation().title == "mine"


def test_a_title_that_a_person_gives_while_the_model_is_asked_stays(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = opened(home, by_model=True)
    asked: list[str] = []

    async def meanwhile(*_: object) -> Reply:
        asked.append(runtime.conversation().title)
        runtime.set("title", "mine")
        return Reply(parts=(Text(text="Bread for beginners"),), usage=Usage(input=30, output=4))

    monkeypatch.setattr("forkwood.runtime.titling.heard", meanwhile)
    answered(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *REPLIES)]))
    assert asked == ["how do I bake?"]
    assert (runtime.conversation().title, runtime.conversation().usage.turns) == ("mine", 1)
    titled = [event.payload for event in runtime.log() if event.kind == "conversation.titled"]
    assert [(one["before"], one["after"]) for one in titled] == [("mine", "mine")], (
        "what it took is written all the same"
    )


@pytest.mark.parametrize("which", [0, 1])
def test_a_title_made_of_what_is_purged_while_the_model_is_asked_is_not_given(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    """One of the two messages is enough: the title may hold the words of either."""
    runtime = opened(home, by_model=True)

    async def meanwhile(*_: object) -> Reply:
        runtime.purge([runtime.path()[which].node.id])
        return Reply(parts=(Text(text="Bread for beginners"),))

    monkeypatch.setattr("forkwood.runtime.titling.heard", meanwhile)
    answered(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *REPLIES)]))
    assert "Bread" not in runtime.conversation().title
    assert [entry.node.purged for entry in runtime.path(hidden=True)] == [which == 0, which == 1]


def test_a_failure_leaves_the_first_line_and_is_told_beside_the_reply(home: Path, tmp_path: Path) -> None:
    runtime = opened(home, by_model=True)
    replies = [{**REPLIES[0], "fail": {"status": 500, "times": 99}}, REPLIES[1]]
    seen = heard(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *replies)]))
    assert isinstance(seen[-1], Result) and seen[-1].status == "done", "the first run's result is the last item"
    assert isinstance(seen[-2], EventSeen) and seen[-2].kind == "notice.given"
    assert runtime.conversation().title == "how do I bake?"
    [notice] = runtime.path()[-1].notices
    assert "gave no title: scripted: status 500" in notice.text


def test_what_a_title_takes_is_counted_and_is_no_turn(home: Path, tmp_path: Path) -> None:
    runtime = opened(home, by_model=True)
    replies = [{**REPLIES[0], "usage": {"input": 30, "output": 4}}, {**REPLIES[1], "usage": {"input": 5, "output": 2}}]
    seen = heard(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *replies)]))
    assert isinstance(seen[-2], EventSeen) and seen[-2].payload["usage"]["input"] == 30
    usage = runtime.conversation().usage
    assert (usage.turns, usage.input, usage.output) == (1, 35, 6)
    with runtime.house.store.read() as tx:
        assert list(book_checks.counts(tx)) == []
    with runtime.house.store.write() as tx:
        book_checks.mend_counts(tx)
    assert runtime.conversation().usage == usage


def test_a_title_that_takes_too_long_is_given_up(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "title_seconds", 0.0)
    runtime = opened(home, by_model=True)
    result = answered(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *REPLIES)]))
    assert (result.status, runtime.conversation().title) == ("done", "how do I bake?")
    assert "gave no title within 0 seconds" in runtime.path()[-1].notices[0].text


def test_a_title_holds_no_secret(home: Path, tmp_path: Path) -> None:
    runtime = opened(home, by_model=True)
    runtime.house.environ = {**runtime.house.environ, "MY_TOKEN": "a-value-of-a-token"}
    replies = [{**REPLIES[0], "text": "On a-value-of-a-token"}, REPLIES[1]]
    answered(runtime, runtime.send("how do I bake?", models=[script(tmp_path, *replies)]))
    assert runtime.conversation().title == "On [secret]"
