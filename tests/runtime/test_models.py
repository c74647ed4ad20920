"""Models through the door: what can be reached, who answers here and why, which is meant from now on."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import Misused, NotFound
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, door


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home)))
    runtime.new(title="t")
    return runtime


def test_with_nothing_set_the_embedded_model_answers_and_says_why(runtime: Runtime) -> None:
    found = runtime.answering()
    assert found.model == "embedded:smollm2"
    assert "no server" in found.why
    [row] = runtime.models()
    assert (row.name, row.context, row.default, row.tools) == ("embedded:smollm2", 8192, True, False)


def test_the_conversations_own_model_counts_first(runtime: Runtime) -> None:
    runtime.set("model", "scripted:/a.json")
    assert runtime.answering().model == "scripted:/a.json"


def test_the_default_is_written_into_the_configuration(runtime: Runtime) -> None:
    assert runtime.models_use("scripted:/b.json") == "scripted:/b.json"
    assert 'model = "scripted:/b.json"' in (Path(runtime.house.settings.home) / "config.toml").read_text()
    assert runtime.answering().model == "scripted:/b.json"
    assert runtime.config_get("model") == "scripted:/b.json"


def test_another_default_answers_from_now_on_in_the_same_process(runtime: Runtime) -> None:
    assert runtime.answering().model == "embedded:smollm2"
    runtime.models_use("scripted:/b.json")
    assert runtime.answering().model == "scripted:/b.json"
    runtime.config_set("model", "scripted:/c.json")
    assert runtime.answering().model == "scripted:/c.json"
    [run] = runtime.send("hi").runs
    assert next(one for one in runtime.runs() if one.id == run).model == "scripted:/c.json"


async def test_what_asks_the_network_can_be_used_inside_a_loop(runtime: Runtime) -> None:
    assert [row.name for row in runtime.models()] == ["embedded:smollm2"]
    assert runtime.answering().model == "embedded:smollm2"
    with pytest.raises(NotFound):
        runtime.set("model", "nobody:knows")
    assert len(runtime.send("hi").runs) == 1


def test_a_script_is_kept_by_its_whole_path(runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert runtime.set("model", "scripted:a.json").conversation.model == f"scripted:{tmp_path}/a.json"


@pytest.mark.parametrize("name", ["nobody:knows", "just-a-name"])
def test_a_model_nobody_knows_lists_what_is_reachable_and_stores_nothing(runtime: Runtime, name: str) -> None:
    with pytest.raises(NotFound) as refused:
        runtime.send("hi", models=[name])
    assert "embedded:smollm2" in str(refused.value.facts["candidates"])
    assert runtime.path() == []


def test_a_key_is_kept_for_a_known_provider_alone(runtime: Runtime) -> None:
    reference = runtime.models_key("openai", "sk-test-0123456789")
    assert "sk-test" not in reference
    assert runtime.house.settings.providers["openai"].keys == (reference,), "it is used from now on"
    with pytest.raises(Misused, match="no provider is called 'nobody'"):
        runtime.models_key("nobody", "sk-test-0123456789")
    with pytest.raises(Misused, match="empty"):
        runtime.models_key("openai", " ")


def test_a_provider_is_looked_for_before_a_key_is(runtime: Runtime) -> None:
    runtime.check_provider("openai")
    with pytest.raises(Misused, match="no provider is called 'nobody'") as refused:
        runtime.check_provider("nobody")
    assert "openai" in refused.value.hint


def test_a_default_that_nobody_knows_is_not_written(runtime: Runtime) -> None:
    with pytest.raises(NotFound):
        runtime.config_set("model", "zzz")
    assert runtime.config_get("model") is None
