"""What a turn is made from: sealed once, rebuilt from its recipe, refused where it does not hold."""

from __future__ import annotations

import dataclasses
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed
from forkwood.domain.message import Attachment
from forkwood.domain.settings import Parameters, Settings
from forkwood.engine.prepare import digest_of, fresh
from forkwood.engine.showing import Engine
from forkwood.store import blobs, conversations, manifests
from tests.domain.paths import node, path
from tests.engine.stage import FakeModel, FakeTool, Stage, calling, reply, results

NOTES = b"one\ntwo"
PNG = b"\x89PNG\r\n\x1a\n"


def attached(stage: Stage, name: str, mime: str, content: bytes) -> Attachment:
    with stage.store.write() as tx:
        blob = blobs.put(tx, content)
    return Attachment(blob=blob, media="file", name=name, mime=mime, size=len(content))


def recipe(stage: Stage, run: str) -> dict[str, Any]:
    started = [event.payload for event in stage.events(run) if event.kind == "turn.started"][-1]
    found: dict[str, Any] = started["recipe"]
    return found


async def test_the_recipe_has_both_digests_and_what_the_prompt_was_made_from(tmp_path: Path) -> None:
    model = FakeModel(reply("Hello."))
    stage = Stage(tmp_path, model)
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    made = recipe(stage, run)
    prompt = model.prompts[0]
    assert made["prompt_digest"] == wire.digest(prompt)
    assert made["request_digest"] == sha256(model.encode(prompt, {})).hexdigest()
    first = stage.nodes()[0]
    assert (made["place"], made["first_entry"], made["form"], made["tools_withdrawn"]) == (first.id, first.id, 2, False)
    assert list(made["fresh"]) == [first.id] and made["manifest"] == stage.run(run).manifest


async def test_the_manifest_seals_the_conversation_as_it_is(tmp_path: Path) -> None:
    model = FakeModel(reply("Hello."))
    stage = Stage(tmp_path, model, tools=[FakeTool("look"), FakeTool("find")])
    with stage.store.write() as tx:
        conversations.write_setting(tx, stage.conversation, "system", "Be brief.")
        conversations.write_setting(tx, stage.conversation, "params", Parameters(temperature=0.5))
        conversations.write_setting(tx, stage.conversation, "tools_off", ["find"])
        conversations.write_setting(tx, stage.conversation, "approvals", "allow-all")
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    digest = stage.run(run).manifest
    assert digest is not None
    with stage.store.read() as tx:
        sealed = manifests.get(tx, digest)
    assert (sealed.system, sealed.parameters.temperature, sealed.policy.mode) == ("Be brief.", 0.5, "allow-all")
    assert [tool.spec.name for tool in sealed.tools] == ["look"] and sealed.tools_off == ("find",)
    assert (sealed.binding, sealed.traits, sealed.door) == (model.binding, model.traits, "cli")
    prompt = model.prompts[0]
    assert (prompt.system, [tool.name for tool in prompt.tools]) == ("Be brief.", ["look"])


async def test_a_run_is_sealed_with_the_rounds_that_are_set(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("Hello.")))
    stage.engine = Engine(dataclasses.replace(stage.engine._supplies, settings=lambda: Settings(home="/h", rounds=7)))
    stage.say("Hi")
    await stage.drive(run := stage.open())
    (sealed,) = [event.payload for event in stage.events(run) if event.kind == "run.sealed"]
    with stage.store.read() as tx:
        assert manifests.get(tx, sealed["manifest"]).limits.rounds_max == sealed["rounds_max"] == 7


@pytest.mark.parametrize(("tools", "offered"), [(False, []), (None, ["look"]), (True, ["look"])])
async def test_a_model_that_calls_no_tools_is_offered_none(
    tmp_path: Path, tools: bool | None, offered: list[str]
) -> None:
    model = FakeModel(reply("Hello."))
    model.traits = replace(model.traits, tools=tools)
    await Stage(tmp_path, model, tools=[FakeTool("look")]).answer()
    assert [tool.name for tool in model.prompts[0].tools] == offered


async def test_the_programs_system_prompt_holds_where_the_conversation_has_none(tmp_path: Path) -> None:
    model = FakeModel(reply("one"), reply("two"))
    stage = Stage(tmp_path, model)
    supplies = stage.engine._supplies
    stage.engine._supplies = type(supplies)(
        **{name: getattr(supplies, name) for name in supplies.__slots__}
        | {"settings": lambda: replace(supplies.settings(), system="From the settings.")}
    )
    await stage.answer()
    with stage.store.write() as tx:
        conversations.write_setting(tx, stage.conversation, "system", "")
    await stage.answer()
    assert [prompt.system for prompt in model.prompts] == ["From the settings.", None]


async def test_a_manifest_is_sealed_before_the_first_turn_and_not_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("t"), reply("Done.")))
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    kinds = stage.kinds(run)
    assert kinds.count("run.sealed") == 1 and kinds.index("run.sealed") < kinds.index("turn.started")


@pytest.mark.parametrize("spoiled", ["binding", "body", "gone"])
async def test_a_run_whose_manifest_does_not_hold_ends_failed_its_calls_settled(tmp_path: Path, spoiled: str) -> None:
    tool = FakeTool("edit", effect="write", after_crash="journal")
    model = FakeModel(calling("t"), reply("never"))
    stage = Stage(tmp_path, model, tools=[tool])

    def spoil() -> None:
        if spoiled == "binding":
            model.binding = replace(model.binding, origin="https://elsewhere.example")
            return
        with stage.store.write() as tx:
            tx.run("DROP TRIGGER manifest_is_forever")
            if spoiled == "gone":
                tx.run("DELETE FROM manifest")
            else:
                tx.run("UPDATE manifest SET body = replace(body, 'fake-1', 'fake-2')")

    model.script[0].insert(0, spoil)
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert result.status == "failed" and result.error is not None
    assert result.error["kind"] == "conflict" and "retry" in result.error["hint"]
    assert [one.role for one in stage.nodes()] == ["user", "assistant", "tool"]


async def test_a_rotated_key_behind_the_same_reference_is_fine(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("t"), reply("Done."), keys=2))
    assert (await stage.answer()).status == "done"


async def test_what_a_model_cannot_be_sent_ends_the_run_before_anything_is_sent(tmp_path: Path) -> None:
    class Blind(FakeModel):
        def encode(self, prompt: Any, images: Any) -> bytes:
            raise ProviderFailed("capability", "it cannot see", hint="ask another")

    model = Blind()
    result = await Stage(tmp_path, model).answer()
    assert result.status == "failed" and result.error is not None and result.error["reason"] == "capability"
    assert model.attempts == []


async def test_attachments_are_shown_by_their_bytes(tmp_path: Path) -> None:
    model = FakeModel(reply("Seen."))
    model.traits = replace(model.traits, images=True)
    stage = Stage(tmp_path, model)
    notes, picture = attached(stage, "notes.txt", "text/plain", NOTES), attached(stage, "a.png", "image/png", PNG)
    stage.say("See", "user", None, notes, picture)
    await stage.drive(stage.open())
    parts = model.prompts[0].messages[0].parts
    assert [getattr(part, "text", "picture") for part in parts] == ["See", "notes.txt:\n```\none\ntwo\n```", "picture"]


async def test_a_path_at_its_limit_is_not_asked_for_a_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = FakeModel(reply("one"), reply("two"))
    stage = Stage(tmp_path, model)
    monkeypatch.setattr(limits, "path_entries_max", 2)
    assert (await stage.answer()).status == "done"
    monkeypatch.setattr(limits, "path_entries_max", 3)
    result = await stage.answer()
    assert result.status == "failed" and result.error is not None and result.error["limit"] == "path_entries_max"
    assert len(model.attempts) == 1


def test_fresh_digests_are_of_the_last_reply_and_what_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = path(("user", ("a",)), ("assistant", ("b",)), ("user", ("c",)), ("user", ("d",)))
    assert list(fresh(said)) == [node(2), node(3), node(4)]
    assert fresh(said)[node(3)] == digest_of(said[2]) != digest_of(said[3])
    assert list(fresh(said[:1])) == [node(1)] and fresh([]) == {}
    monkeypatch.setattr(limits, "recipe_fresh_max", 2)
    assert list(fresh(said)) == [node(3), node(4)]


async def test_nothing_of_a_sibling_branch_is_in_a_prompt(tmp_path: Path) -> None:
    model = FakeModel(reply("one"), reply("two"))
    stage = Stage(tmp_path, model)
    first = stage.say("Hi")
    stage.say("a secret of one branch")
    await stage.drive(stage.open())
    stage.say("the other branch", at=first)
    await stage.drive(stage.open())
    assert "secret" not in str(model.prompts[1]) and "other branch" in str(model.prompts[1])
