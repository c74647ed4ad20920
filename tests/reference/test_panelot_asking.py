"""What panelot promised of approvals, interactions and its policy, tried here: the same, or our own rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.errors import Conflict, StoreUnusable
from forkwood.domain.policy import Grant, Policy, judge
from forkwood.domain.prompt import ToolSpec
from forkwood.domain.settings import Settings
from forkwood.domain.tool import ToolSealed
from tests.runtime.askers import Asking, Writer, calls, driven
from tests.runtime.doors import answered, script

QUESTION = {"questions": [{"text": "Which?"}]}


def sealed(name: str = "edit", effect: Any = "write", **fields: Any) -> ToolSealed:
    spec = ToolSpec(name=name, description=name, schema={"type": "object"})
    return ToolSealed(spec=spec, effect=effect, after_crash="doubt", **fields)


def granted(tool: str = "edit") -> Grant:
    return Grant(id="g", tool=tool, scope="conversation", of="c")


@pytest.fixture
def house(home: Path) -> Iterator[Asking]:
    made = Asking(home, Writer("edit"), Writer("ask_user", effect="read", after_crash="again", question=True))
    yield made
    made.close()


def test_panelot_39_reply_approval_and_waiting_are_one_commit(
    house: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = house.door()
    sent = runtime.send("Do it", models=[script(tmp_path, calls("edit"), {"text": "So."})])
    with monkeypatch.context() as patched:

        def full(*_: object) -> None:
            raise StoreUnusable("the disk is full")

        patched.setattr("forkwood.engine.asking.opened", full)
        with pytest.raises(StoreUnusable):
            answered(runtime, sent)
    kinds = {event.kind for event in runtime.log(after=0)}
    assert not kinds & {"reply.kept", "interaction.opened"} and len(runtime.path()) == 1
    assert driven(runtime, sent.runs[0]).status == "waiting"
    assert len(runtime.pending()) == 1 and runtime.path()[1].node.role == "assistant"


def test_panelot_44_questions_keep_the_same_rules(house: Asking, tmp_path: Path) -> None:
    runtime = house.door()
    asks = calls("ask_user", **QUESTION)
    sent = runtime.send("Hi", models=[script(tmp_path, asks, {"text": "So."})])
    assert answered(runtime, sent).status == "waiting"
    (asked,) = runtime.pending()
    given = house.door().answer(asked.id, ["the first"], key="k")
    before = len(list(runtime.log(after=0)))
    assert runtime.answer(asked.id, ["the", "first"]) == given == runtime.answer(asked.id, ["the first"], key="k")
    assert len(list(runtime.log(after=0))) == before, "the same again adds nothing"
    with pytest.raises(Conflict, match="by another word already: the first"):
        runtime.answer(asked.id, ["the second"])
    assert driven(runtime, asked.run).status == "done"
    with pytest.raises(Conflict):
        runtime.resume(asked.run)


def test_panelot_45_an_answer_stands_when_what_follows_fails(house: Asking, tmp_path: Path) -> None:
    runtime = house.door()
    broken = {"fail": {"status": 400, "times": 99}}
    sent = runtime.send("Do it", models=[script(tmp_path, calls("edit"), broken)])
    assert answered(runtime, sent).status == "waiting"
    (asked,) = runtime.pending()
    given = runtime.answer(asked.id, ["allow"], key="k")
    assert driven(runtime, asked.run).status == "failed"
    assert runtime.answer(asked.id, ["allow"], key="k") == given == runtime.interaction(asked.id)
    assert len(house.tools["edit"].used) == 1


@pytest.mark.parametrize("mode", ["ask", "allow-edits", "allow-all"])
def test_panelot_70_reads_pass_and_nothing_lifts_a_denial(mode: Any) -> None:
    assert judge(Policy(mode=mode), sealed(effect="read")) == "allow"
    denied = Policy(mode=mode, denied=("edit",), grants=(granted(),))
    assert judge(denied, sealed()) == judge(denied, sealed(effect="read")) == "deny"


def test_panelot_71_what_a_call_holds_is_shown_and_not_guessed_at(house: Asking, tmp_path: Path) -> None:
    runtime = house.door()
    secret = {"card": "4111 1111 1111 1111", "password": "p"}
    sent = runtime.send("Do it", models=[script(tmp_path, calls("edit", **secret), {"text": "So."})])
    assert answered(runtime, sent).status == "waiting"
    (asked,) = runtime.pending()
    assert asked.call is not None and asked.call.arguments == secret
    runtime.answer(asked.id, ["allow"], remember="conversation")
    assert driven(runtime, asked.run).status == "done"


def test_panelot_72_a_grant_lifts_what_asks_and_no_denial() -> None:
    assert judge(Policy(grants=(granted(),)), sealed()) == "allow"
    assert judge(Policy(grants=(granted(),)), sealed(asks_first=True, effect="read")) == "allow"
    assert judge(Policy(mode="allow-all", denied=("edit",), grants=(granted(),)), sealed()) == "deny"


@pytest.mark.parametrize("near", ["Edit", "edit.", "edit ", "edi", "edits", "*", "ed*", "еdit"])
def test_panelot_73_a_tool_is_matched_by_its_whole_name(near: str) -> None:
    assert judge(Policy(grants=(granted(near),)), sealed()) == "ask"
    assert judge(Policy(mode="allow-all", denied=(near,)), sealed()) == "allow"


def test_panelot_74_a_read_that_asks_first_is_asked_and_not_denied() -> None:
    assert judge(Policy(), sealed(effect="read", asks_first=True)) == "ask"
    assert judge(Policy(mode="allow-edits"), sealed(effect="read", asks_first=True)) == "ask"
    assert judge(Policy(), sealed(effect="read")) == "allow"


def test_panelot_76_no_rule_comes_with_the_program() -> None:
    assert Settings(home="/nowhere").deny == ()
    assert judge(Policy(), sealed(effect="execute")) == "ask"
