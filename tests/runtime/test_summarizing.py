"""summarize: a summary of all but the newest exchange, because a person wants one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.errors import Conflict, LimitExceeded, ProviderFailed, Refused
from forkwood.domain.message import Text
from forkwood.domain.model import Reply, Try
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.store import book_checks, summaries
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, said, script

SUM = {"match": "Write a summary", "text": "They baked bread.", "usage": {"input": 40, "output": 5}}


@pytest.fixture
def runtime(home: Path, tmp_path: Path) -> Runtime:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home)))
    runtime.new(title="t", model=script(tmp_path, SUM, {"text": "Good."}))
    return runtime


def replies(runtime: Runtime, tmp_path: Path, *given: dict[str, Any]) -> None:
    runtime.set("model", script(tmp_path, *given, name="other.json"))


def kept(runtime: Runtime) -> int:
    with runtime.house.store.read() as tx:
        return int(tx.value("SELECT count(*) FROM summary"))


def test_it_stands_for_all_but_the_newest_exchange_and_prompts_use_it(runtime: Runtime) -> None:
    ids = said(runtime, "about bread", "flour", "and water", "some")
    made = runtime.summarize()
    assert (made.text, made.covers, made.model) == ("They baked bread.", tuple(ids[:2]), runtime.conversation().model)
    assert made.usage is not None and (made.usage.input, made.usage.output) == (40, 5)
    reply = answered(runtime, runtime.send("how long?")).node
    assert reply is not None
    why = runtime.why(reply)
    assert why.summary is not None
    assert (why.summary.id, why.summary.covers, why.summary.text) == (made.summary, tuple(ids[:2]), made.text)
    assert why.verified is True and "about bread" not in str(why.prompt) and "and water" in str(why.prompt)
    assert [entry.node.text for entry in runtime.path()][:4] == ["about bread", "flour", "and water", "some"]


def test_it_is_an_event_and_what_it_took_is_counted(runtime: Runtime) -> None:
    said(runtime, "q1", "a1", "q2", "a2")
    made = runtime.summarize()
    (event,) = [event for event in runtime.log() if event.kind == "summary.made"]
    assert (event.by, event.via, event.run, event.payload["summary"]) == ("user", "cli", None, made.summary)
    usage = runtime.conversation().usage
    assert (usage.turns, usage.input, usage.output) == (0, 40, 5)
    with runtime.house.store.read() as tx:
        assert list(book_checks.counts(tx)) == []


def test_with_a_key_it_is_made_once(runtime: Runtime, tmp_path: Path) -> None:
    said(runtime, "q1", "a1", "q2", "a2")
    first = runtime.summarize(key="k")
    (tmp_path / "script.json").unlink()
    assert runtime.summarize(key="k") == first
    assert kept(runtime) == 1
    with pytest.raises(Conflict, match="was used for another command"):
        runtime.summarize("@~2", key="k")


def test_another_path_and_another_model_can_be_named(runtime: Runtime, tmp_path: Path) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2", "q3", "a3")
    other = script(tmp_path, {"text": "Otherwise."}, name="other.json")
    made = runtime.summarize(ids[3], model=other)
    assert (made.covers, made.text, made.model) == (tuple(ids[:2]), "Otherwise.", other)


def test_each_is_made_of_the_one_before_and_all_since(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(runtime, "q1", "a1", "q2", "a2")
    runtime.summarize()
    said(runtime, "q3", "a3")
    asked: list[bytes] = []
    model = runtime.house._models[runtime.conversation().model or ""]
    stream = model.stream

    def heard(request: bytes, attempt: Try) -> object:
        asked.append(request)
        return stream(request, attempt)

    monkeypatch.setattr(model, "stream", heard)
    made = runtime.summarize()
    assert len(made.covers) == 4
    text = asked[0].decode()
    assert "They baked bread." in text and "q2" in text and "a2" in text
    assert "q1" not in text and "q3" not in text


def test_made_again_it_is_made_of_the_originals_and_the_newer_one_counts(runtime: Runtime, tmp_path: Path) -> None:
    said(runtime, "q1", "a1", "q2", "a2")
    runtime.summarize()
    replies(runtime, tmp_path, {"match": "q1", "text": "Better."}, {"text": "?"})
    made = runtime.summarize()
    assert (made.text, kept(runtime)) == ("Better.", 2)
    reply = answered(runtime, runtime.send("go on")).node
    found = runtime.why(reply or "").summary
    assert found is not None and found.text == "Better."


@pytest.mark.parametrize("words", [[], ["q1"], ["q1", "a1"]])
def test_where_nothing_stands_before_the_newest_exchange_it_is_refused(runtime: Runtime, words: list[str]) -> None:
    said(runtime, *words)
    with pytest.raises(Refused, match="nothing before the newest exchange"):
        runtime.summarize()


def test_what_is_no_summary_is_told_and_counted(runtime: Runtime, tmp_path: Path) -> None:
    said(runtime, "q1", "a1", "q2", "a2")
    replies(runtime, tmp_path, {"text": " ", "usage": {"input": 9, "output": 1}})
    with pytest.raises(ProviderFailed, match="gave no summary"):
        runtime.summarize(key="k")
    assert runtime.conversation().usage.input == 9 and kept(runtime) == 0
    with runtime.house.store.read() as tx:
        assert list(book_checks.counts(tx)) == []
    runtime.set("model", script(tmp_path, {"text": "Now."}, name="third.json"))
    assert runtime.summarize(key="k").text == "Now.", "what failed leaves no receipt"


def test_a_provider_that_fails_is_told(runtime: Runtime, tmp_path: Path) -> None:
    said(runtime, "q1", "a1", "q2", "a2")
    replies(runtime, tmp_path, {"text": "never", "fail": {"status": 500, "times": 9}})
    with pytest.raises(ProviderFailed, match="status 500"):
        runtime.summarize()


def test_what_the_model_cannot_be_asked_about_at_once_is_refused_before_anything_is_sent(runtime: Runtime) -> None:
    said(runtime, "much " * 2_000, "a1", "q2", "a2")
    runtime.set("context", "1000")
    with pytest.raises(LimitExceeded, match="what is to be summarised") as caught:
        runtime.summarize()
    assert (caught.value.facts["bound"], caught.value.facts["context"]) == (750, 1_000)
    assert "--model" in caught.value.hint
    assert runtime.conversation().usage.input == 0


def test_of_what_was_purged_meanwhile_no_summary_is_kept(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")

    async def meanwhile(_: object) -> Reply:
        runtime.purge([ids[0]])
        return Reply(parts=(Text(text="q1 was said"),))

    monkeypatch.setattr("forkwood.engine.leaving.heard", meanwhile)
    with pytest.raises(Conflict, match="purged meanwhile"):
        runtime.summarize()
    assert kept(runtime) == 0


def test_a_purge_takes_the_summary_and_what_its_receipt_says(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    made = runtime.summarize(key="k")
    runtime.purge([ids[1]])
    with runtime.house.store.read() as tx:
        assert not summaries.is_kept(tx, made.summary)
    again = runtime.summarize(key="k")
    assert (again.text, again.covers) == ("", made.covers)


def test_a_summary_holds_no_secret(home: Path, tmp_path: Path) -> None:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home)))
    runtime.house.environ = {**runtime.house.environ, "MY_API_KEY": "sk-0123456789abcdef"}
    runtime.new(title="t", model=script(tmp_path, {"text": "the key is sk-0123456789abcdef"}))
    said(runtime, "q1", "a1", "q2", "a2")
    assert "0123456789abcdef" not in runtime.summarize().text


def test_what_a_failure_quotes_goes_with_what_it_quotes(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = said(runtime, "marzipan", "a1", "q2", "a2")

    async def quoting(_: object) -> Reply:
        return Reply(parts=(), partial="error", error="no answer to: marzipan")

    monkeypatch.setattr("forkwood.engine.leaving.heard", quoting)
    with pytest.raises(ProviderFailed, match="marzipan"):
        runtime.summarize()
    assert "marzipan" in str([event.payload for event in runtime.log()])
    runtime.purge([ids[0]])
    assert "marzipan" not in str([event.payload for event in runtime.log()])
