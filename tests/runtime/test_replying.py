"""Who replies: those named, else the conversation's model as it is when the act is done, else the default."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded, NotFound
from forkwood.runtime import Runtime, replying
from forkwood.runtime.acts import OpenAct
from forkwood.runtime.replying import Replying
from tests.runtime.doors import door, script, texts


@pytest.fixture
def runtime() -> Runtime:
    runtime = door()
    runtime.new(title="t")
    return runtime


def test_those_named_count_before_the_conversations_and_that_before_the_default(
    runtime: Runtime, tmp_path: Path
) -> None:
    one = script(tmp_path, {"text": "a"})
    assert replying.found(runtime.house, 1, ()) == Replying(default="scripted:/nowhere.json")
    runtime.set("model", "scripted:/own.json")
    assert replying.found(runtime.house, 1, ()) == Replying(default="scripted:/own.json")
    assert replying.found(runtime.house, 1, [one]) == Replying(named=(one,))


def test_a_script_that_is_not_there_is_refused_before_anything_is_kept(runtime: Runtime, tmp_path: Path) -> None:
    missing = f"scripted:{tmp_path}/missing.json"
    with pytest.raises(NotFound, match="There is no script"):
        runtime.send("hi", models=[missing])
    assert (texts(runtime), runtime.runs()) == ([], [])


def test_as_many_models_as_one_message_takes(runtime: Runtime, tmp_path: Path) -> None:
    models = [script(tmp_path, {"text": "a"})] * limits.models_of_one_message_max
    assert len(replying.found(runtime.house, 1, models).named) == limits.models_of_one_message_max
    with pytest.raises(LimitExceeded):
        replying.found(runtime.house, 1, [*models, models[0]])
    with pytest.raises(NotFound):
        replying.found(runtime.house, 1, ["nosuch:model"])


def test_a_model_that_is_set_meanwhile_is_the_one_that_replies(runtime: Runtime) -> None:
    before = replying.found(runtime.house, 1, ())
    runtime.set("model", "scripted:/own.json")
    with runtime.house.store.read() as tx:
        act = OpenAct(tx, runtime.house, 1)
        assert replying.chosen(act, before) == ("scripted:/own.json",)
        assert replying.chosen(act, Replying(named=("scripted:/a.json",))) == ("scripted:/a.json",)
        with pytest.raises(Conflict, match="meanwhile"):
            replying.chosen(act, None)
