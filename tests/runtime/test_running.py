"""Runs through the door: driven to a result, several beside each other, resumed, cancelled, found when abandoned."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forkwood.domain.errors import Conflict, NotFound
from forkwood.domain.response import Started
from forkwood.domain.settings import Settings
from forkwood.domain.watch import DeltaSeen, EventSeen, Result, Seen
from forkwood.runtime import Runtime
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, heard, said, script, texts


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    return runtime


def test_a_reply_comes_in_deltas_and_ends_in_a_result(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "hello there", "chunk": 4, "usage": {"input": 9, "output": 3}})
    sent = runtime.send("hi", models=[model])
    seen = heard(runtime, sent)
    assert "".join(one.text for one in seen if isinstance(one, DeltaSeen)) == "hello there"
    kinds = [one.kind for one in seen if isinstance(one, EventSeen)]
    assert kinds == ["run.driven", "run.sealed", "turn.started", "reply.kept", "run.ended"]
    result = seen[-1]
    assert isinstance(result, Result)
    assert (result.status, result.text, result.usage.input, result.usage.output) == ("done", "hello there", 9, 3)
    assert texts(runtime) == ["hi", "hello there"]
    usage = runtime.conversation().usage
    assert (usage.turns, usage.input, usage.output) == (1, 9, 3)


def test_several_models_answer_as_siblings_and_the_first_ones_result_is_last(runtime: Runtime, tmp_path: Path) -> None:
    one = script(tmp_path, {"text": "one", "delay_ms": 30}, name="one.json")
    two = script(tmp_path, {"text": "two"}, name="two.json")
    seen = heard(runtime, runtime.send("who?", models=[one, two]))
    assert [item.text for item in seen if isinstance(item, Result)] == ["two", "one"]
    assert texts(runtime) == ["who?", "one"], "the head follows the model named first"
    [entry] = runtime.path()[1:]
    assert (entry.siblings.count, {node.text for node in runtime.tree()[1:]}) == (2, {"one", "two"})


def test_a_late_reply_never_pulls_the_view_back(runtime: Runtime, tmp_path: Path) -> None:
    [first] = said(runtime, "q1")
    sent = runtime.send("a by hand", role="assistant")
    late = runtime.retry(first, models=[script(tmp_path, {"text": "late"})])
    runtime.switch(sent.node.id)
    answered(runtime, late)
    assert texts(runtime) == ["q1", "a by hand"]


@pytest.mark.parametrize(
    ("reply", "status", "partial"),
    [
        ({"text": "so far", "finish": "cut"}, "failed", "cut"),
        ({"text": "so far", "finish": "length"}, "done", "length"),
        ({"text": "so far", "fail": {"status": 500, "times": 9, "after_chars": 3}}, "failed", "error"),
    ],
)
def test_s6_s7_what_came_of_a_broken_reply_is_kept_and_marked(
    runtime: Runtime, tmp_path: Path, reply: dict[str, object], status: str, partial: str
) -> None:
    result = answered(runtime, runtime.send("hi", models=[script(tmp_path, reply)]))
    assert result.status == status
    entry = runtime.path()[-1]
    assert entry.node.text == "so far"[: len(entry.node.text)] != ""
    assert (entry.node.partial, entry.node.partial_reason) == (True, partial)
    assert [notice.what for notice in entry.notices] == ["partial"]


def test_a_partial_reply_is_resumed_by_a_new_run_at_its_tip(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "so far", "finish": "cut"}, {"text": "and on"})
    sent = runtime.send("hi", models=[model])
    answered(runtime, sent)
    again = runtime.resume(sent.runs[0])
    assert again.runs != sent.runs
    answered(runtime, again)
    assert texts(runtime)[:2] == ["hi", "so far"]
    assert len(texts(runtime)) == 3
    runtime.undo()
    assert texts(runtime) == ["hi", "so far"]


@pytest.mark.parametrize("how", ["failed", "cancelled"])
def test_a_run_that_ended_before_any_word_is_resumed_too(runtime: Runtime, tmp_path: Path, how: str) -> None:
    model = script(tmp_path, {"text": "yes", "fail": {"status": 401, "times": 1}})
    sent = runtime.send("hi", models=[model])
    if how == "failed":
        assert answered(runtime, sent).status == "failed"
    else:
        assert runtime.cancel(sent.runs[0]).status == "cancelled"
    again = runtime.resume(sent.runs[0])
    assert (len(again.runs), again.node.id) == (1, sent.node.id)
    assert again.runs != sent.runs
    assert [run.status for run in runtime.runs()] == ["queued", how]


def test_a_whole_reply_has_nothing_to_resume(runtime: Runtime, tmp_path: Path) -> None:
    sent = runtime.send("hi", models=[script(tmp_path, {"text": "yes"})])
    answered(runtime, sent)
    with pytest.raises(Conflict, match="its reply is whole") as refused:
        runtime.resume(sent.runs[0][-8:])
    assert "retry" in refused.value.hint
    with pytest.raises(NotFound, match="no run is named"):
        runtime.resume("beefbeef")


def test_without_a_name_the_newest_run_here_that_can_go_on_is_meant(runtime: Runtime, tmp_path: Path) -> None:
    done, open_ = script(tmp_path, {"text": "yes"}, name="1.json"), script(tmp_path, {"text": "no"}, name="2.json")
    sent = runtime.send("hi", models=[open_])
    here = runtime.conversation().id
    answered(runtime, runtime.retry(sent.node.id, models=[done]))
    runtime.new(title="other")
    for verb in (runtime.resume, runtime.cancel):
        with pytest.raises(NotFound, match="no run is in such a state here"):
            verb()
    assert runtime.resume(conversation=here).runs == sent.runs, "the newest is done: there is nothing to go on with"
    assert runtime.cancel(conversation=here, key="k").id == sent.runs[0]
    again = runtime.resume(conversation=here, key="r")
    assert again.runs != sent.runs, "what was cancelled goes on in a new run"
    assert runtime.cancel(conversation=here, key="k").id == sent.runs[0], "the same again is about the same run"
    assert runtime.resume(conversation=here, key="r") == again


def test_who_goes_on_drives_what_was_left_beside_too(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "yes"})
    left = runtime.send("hi", models=[model])
    newer = runtime.retry(left.node.id, models=[model])
    there = runtime.send("elsewhere", conversation=runtime.new(title="other").id, models=[model])
    assert runtime.going_on(newer.runs) == (*newer.runs, *left.runs)
    assert runtime.going_on(there.runs) == there.runs
    answered(runtime, left)
    assert runtime.going_on(newer.runs) == newer.runs


def test_a_failure_before_any_word_keeps_the_message_and_says_why(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "yes", "fail": {"status": 401, "times": 9}})
    result = answered(runtime, runtime.send("hi", models=[model]))
    assert (result.status, result.node) == ("failed", None)
    assert result.error is not None
    assert (result.error["kind"], result.error["reason"]) == ("provider", "auth")
    assert texts(runtime) == ["hi"]


def test_a_failed_try_is_repeated_and_told(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "yes", "fail": {"status": 503, "times": 2, "retry_after": 0}})
    seen = heard(runtime, runtime.send("hi", models=[model]))
    assert [one.kind for one in seen if isinstance(one, EventSeen)].count("try.failed") == 2
    assert texts(runtime) == ["hi", "yes"]


def test_a_model_that_is_gone_fails_the_run_and_loses_nothing(runtime: Runtime, tmp_path: Path) -> None:
    sent = runtime.send("hi", models=[script(tmp_path, {"text": "yes"}, name="missing.json")])
    (tmp_path / "missing.json").unlink()
    result = answered(runtime, sent)
    assert result.status == "failed"
    assert result.error is not None
    assert "missing.json" in result.error["message"]
    assert texts(runtime) == ["hi"]


def test_cancel_ends_a_run_that_nobody_drives(runtime: Runtime) -> None:
    sent = runtime.send("hi")
    assert runtime.cancel(sent.runs[0][-6:], key="k").status == "cancelled"
    assert runtime.cancel(sent.runs[0][-6:], key="k").status == "cancelled"
    assert runtime.send("again").runs


def test_cancelling_the_listener_keeps_what_came(runtime: Runtime, tmp_path: Path) -> None:
    sent = runtime.send("hi", models=[script(tmp_path, {"text": "one two three", "chunk": 4, "pause_ms": 60_000})])

    async def hear_a_little(started: Started) -> None:
        begun = asyncio.Event()

        async def listen() -> None:
            async for seen in runtime.drive(started.runs):
                if isinstance(seen, DeltaSeen):
                    begun.set()

        task = asyncio.ensure_future(listen())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(hear_a_little(sent))
    assert [run.status for run in runtime.runs()] == ["cancelled"]
    entry = runtime.path()[-1]
    assert (entry.node.text, entry.node.partial_reason) == ("one ", "cancelled")


def settled(runtime: Runtime, conversation: str | None = None, *, key: str | None = None) -> list[Seen]:
    """All that comes while what was left in a conversation is driven."""

    async def all_of_it() -> list[Seen]:
        return [seen async for seen in runtime.settle(conversation, key=key)]

    return asyncio.run(all_of_it())


def test_what_was_left_is_driven_before_the_next_send_one_run_after_the_other(runtime: Runtime, tmp_path: Path) -> None:
    one, two = script(tmp_path, {"text": "one"}, name="1.json"), script(tmp_path, {"text": "two"}, name="2.json")
    left = runtime.send("hi", models=[one, two])
    assert runtime.left() == list(left.runs)
    assert runtime.left(runtime.conversation().id[-6:]) == list(left.runs)
    seen = settled(runtime)
    runs_seen = [item.run for item in seen if isinstance(item, DeltaSeen | Result)]
    assert runs_seen == [left.runs[0]] * 2 + [left.runs[1]] * 2
    assert (runtime.left(), settled(runtime)) == ([], [])
    answered(runtime, runtime.send("and now?", models=[two]))
    assert texts(runtime) == ["hi", "one", "and now?", "two"]


def test_a_repeat_is_answered_from_its_receipt_and_settles_nothing_first(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "yes"})
    left = runtime.send("hi", models=[model], key="k")
    assert settled(runtime, key="k") == []
    assert runtime.send("hi", models=[model], key="k") == left
    assert [item.run for item in settled(runtime, key="another") if isinstance(item, Result)] == list(left.runs)


def test_driving_says_nothing_of_runs_that_were_left_beside(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "yes"})
    left = runtime.send("hi", models=[model])
    retried = runtime.retry(left.node.id, models=[model])
    assert {item.run for item in heard(runtime, retried)} == set(retried.runs)
    assert runtime.left() == list(left.runs)


def test_another_conversations_left_run_is_no_business_here(runtime: Runtime, tmp_path: Path) -> None:
    there = runtime.conversation().id
    runtime.send("hi", models=[script(tmp_path, {"text": "yes"})])
    runtime.new(title="other")
    assert (runtime.left(), settled(runtime), len(runtime.left(there))) == ([], [], 1)


def test_asking_who_drives_makes_no_driver(runtime: Runtime) -> None:
    runtime.send("hi")
    assert len(runtime.left()) == 1
    assert not (Path(runtime.house.settings.home) / "drivers").exists()


def test_a_repeated_send_prints_the_run_as_it_stands_by_then(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "yes"})
    first = answered(runtime, runtime.send("hi", models=[model], key="k"))
    again = answered(runtime, runtime.send("hi", models=[model], key="k"))
    assert again == first
    assert texts(runtime) == ["hi", "yes"]


def resumed(runtime: Runtime) -> str:
    """What `resume` goes on with where it is told no run; the new one is driven."""
    answered(runtime, runtime.resume())
    return str([event for event in runtime.log() if event.kind == "run.resumed"][-1].payload["resumes"])


def test_without_a_name_the_newest_is_resumed_that_nobody_went_on_from(runtime: Runtime, tmp_path: Path) -> None:
    refusing = script(tmp_path, {"text": "x", "fail": {"status": 401, "times": 9}})
    failed = runtime.send("one", models=[refusing])
    answered(runtime, failed)
    assert resumed(runtime) == failed.runs[0]
    assert resumed(runtime) == runtime.runs()[1].id != failed.runs[0]


def test_a_reply_that_was_cut_is_gone_on_with_until_something_follows_it(runtime: Runtime, tmp_path: Path) -> None:
    cut = script(tmp_path, {"text": "and so", "finish": "length"}, name="cut.json")
    whole = script(tmp_path, {"text": "yes"}, name="whole.json")
    first = runtime.send("two", models=[cut])
    answered(runtime, first)
    assert runtime.partial(first.runs) == set(first.runs)
    assert resumed(runtime) == first.runs[0]
    assert resumed(runtime) == runtime.runs()[1].id != first.runs[0]
    assert texts(runtime) == ["two", "and so", "and so", "and so"]
    last = runtime.send("three", models=[whole])
    answered(runtime, last)
    assert runtime.partial(last.runs) == set()
    with pytest.raises(NotFound):
        runtime.resume()
    with pytest.raises(Conflict):
        runtime.resume(last.runs[0])
