"""Drift: what a run was sealed with against what is there now.

Of a tool it costs that tool's calls; of the provider, and where the manifest does not hold, the run ends before
anything is carried out, and retry works from the same place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.prompt import ToolSpec
from forkwood.engine import account
from forkwood.store import conversations
from tests.engine.stage import FakeModel, FakeTool, Stage, calling, reply, results
from tests.engine.test_use import approve

Body = dict[str, Any]


def waiting(folder: Path) -> tuple[Stage, list[FakeTool]]:
    """A stage whose model calls `edit`, a write that asks."""
    made = [FakeTool(name, effect="write", after_crash="journal") for name in ("edit", "other")]
    return Stage(folder, FakeModel(calling("edit"), reply("Done."), reply("Anew.")), tools=made), made


async def left_waiting(stage: Stage) -> str:
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "waiting"
    await stage.engine.close()
    return run


def altered(stage: Stage, run: str, change: Callable[[str], str]) -> None:
    """Change the body of the run's manifest by hand."""
    digest = stage.run(run).manifest
    with stage.store.write() as tx:
        body = tx.value("SELECT body FROM manifest WHERE digest = ?", (digest,))
        new = change(body)
        tx.run("DROP TRIGGER manifest_is_forever")
        tx.run("UPDATE manifest SET body = ?", (new,))
    assert new != body


def field(**fields: Any) -> Callable[[str], str]:
    return lambda body: json.dumps({**json.loads(body), **fields}, separators=(",", ":"), sort_keys=True)


def inside(name: str, **fields: Any) -> Callable[[str], str]:
    return lambda body: field(**{name: {**json.loads(body)[name], **fields}})(body)


def tool(**fields: Any) -> Callable[[str], str]:
    def change(body: str) -> str:
        first, *others = json.loads(body)["tools"]
        return field(tools=[{**first, **fields}, *others])(body)

    return change


def nested(depth: int) -> Any:
    value: Any = "SECRET"
    for _ in range(depth):
        value = [value]
    return value


TAMPERED: dict[str, Callable[[str], str]] = {
    "another model": field(model="fake:two"),
    "another origin": inside("binding", origin="https://elsewhere.example"),
    "another key": inside("binding", credentials=["env:OTHER"]),
    "a price": inside("traits", price={"input": 0.0, "output": 0.0}),
    "a parameter": field(parameters={"temperature": 1.0}),
    "the system prompt": field(system="SECRET"),
    "the profile": field(profile="other"),
    "an effect": tool(effect="read"),
    "a description": tool(spec={"name": "edit", "description": "SECRET", "schema": {"type": "object"}}),
    "a schema": tool(spec={"name": "edit", "description": "edit", "schema": {}}),
    "no tools": field(tools=[]),
    "a switch": field(tools_off=["other"]),
    "the mode": inside("policy", mode="allow-all"),
    "a grant": inside("policy", grants=[{"id": "1" * 32, "tool": "edit", "scope": "run", "of": "1" * 32}]),
    "the door": field(door="mcp"),
    "the client": field(client="other"),
    "a limit": inside("limits", rounds_max=1_000),
    "its version": field(version=2),
    "a blank": lambda body: f"{body} ",
    "the order": lambda body: json.dumps(dict(reversed(json.loads(body).items()))),
    "a field more": field(more=True),
    "a field less": lambda body: json.dumps({key: one for key, one in json.loads(body).items() if key != "door"}),
    "another shape": lambda _: '["SECRET"]',
    "another kind": field(tools={"SECRET": 1}, system=7),
}
BOUNDLESS: dict[str, tuple[str, Callable[[str], str]]] = {
    "too large": ("manifest_bytes_max", lambda body: body + " " * limits.manifest_bytes_max),
    "too deep": ("manifest_depth_max", field(project=nested(limits.manifest_depth_max))),
    "deeper than can be read": ("manifest_depth_max", lambda _: "[" * 900 + "]" * 900),
    "too many tools": ("tools_max", field(tools=[{}] * (limits.tools_max + 1))),
    "a tool too long": ("tool_bytes_max", field(tools=[{"spec": "SECRET" * limits.tool_bytes_max}])),
    "a system prompt too long": ("system_bytes_max", field(system="SECRET" * limits.system_bytes_max)),
}


@pytest.mark.parametrize("what", TAMPERED)
async def test_panelot_55_64_tampering_at_any_level_is_seen_before_anything_is_carried_out(
    tmp_path: Path, what: str
) -> None:
    stage, (edit, _) = waiting(tmp_path)
    run = await left_waiting(stage)
    altered(stage, run, TAMPERED[what])
    approve(stage, run, "allow")
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, edit.used) == ("failed", [])
    assert result.error is not None and result.error["kind"] == "conflict" and "retry" in result.error["hint"]
    assert "SECRET" not in str(result.error)
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert settled["outcome"] == "interrupted"
    assert [one.role for one in stage.nodes()] == ["user", "assistant", "tool"]
    await assert_why_says_so(stage)
    assert (await retried(stage)).status == "done"


@pytest.mark.parametrize("what", BOUNDLESS)
async def test_panelot_67_bounds_hold_before_a_stored_manifest_is_digested(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, change = BOUNDLESS[what]
    monkeypatch.setattr(limits, "system_bytes_max", min(limits.system_bytes_max, 16 * 1024))
    monkeypatch.setattr(limits, "tool_bytes_max", min(limits.tool_bytes_max, 16 * 1024))
    stage, (edit, _) = waiting(tmp_path)
    run = await left_waiting(stage)
    altered(stage, run, change)
    monkeypatch.setattr("forkwood.domain.manifest.sha256", None)  # calling it would break the test
    approve(stage, run, "allow")
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, edit.used) == ("failed", [])
    assert result.error is not None and (result.error["kind"], result.error["limit"]) == ("conflict", limit)
    assert "SECRET" not in str(result.error)
    await assert_why_says_so(stage)


async def assert_why_says_so(stage: Stage) -> None:
    """`why` of the reply neither believes what stands there nor breaks on it."""
    (made,) = [node for node in stage.nodes() if node.role == "assistant"]
    with stage.store.read() as tx:
        found = account.why(tx, made.seq)
    assert found.verified is False and found.reason and "SECRET" not in found.reason


async def retried(stage: Stage) -> Any:
    """Another run from the same place, as `retry` opens it."""
    model = stage.models["fake:one"]
    model.script = [reply("Anew.")]
    return results(await stage.drive(stage.open(at=None), engine=stage.another()))[-1]


async def test_panelot_66_a_rotated_key_is_fine_and_another_provider_is_not(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str, list[str]]] = [
        ({"credentials": ("env:KEY",)}, "done", ["a"]),
        ({"origin": "https://elsewhere.example"}, "failed", []),
        ({"dialect": "responses"}, "failed", []),
        ({"credentials": ("env:OTHER",)}, "failed", []),
        ({"model": "fake-2"}, "failed", []),
    ]
    for number, (change, status, used) in enumerate(cases):
        folder = tmp_path / str(number)
        stage, (edit, _) = waiting(folder)
        model = stage.models["fake:one"]
        model.binding = replace(model.binding, credentials=("env:KEY",))
        run = await left_waiting(stage)
        model.binding = replace(model.binding, **change)
        approve(stage, run, "allow")
        (result,) = results(await stage.drive(run, engine=stage.another()))
        assert (result.status, edit.used) == (status, used), change
        if status == "failed":
            assert result.error is not None and result.error["reason"] == "binding"
            assert (await retried(stage)).status == "done"


async def test_a_model_that_cannot_be_opened_now_is_none_that_has_changed(tmp_path: Path) -> None:
    stage, (edit, _) = waiting(tmp_path)
    run = await left_waiting(stage)
    approve(stage, run, "allow")
    gone = stage.models.pop("fake:one")
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, edit.used) == ("failed", ["a"]), "the yes counted; the reply behind it could not be had"
    stage.models["fake:one"] = gone
    assert (await retried(stage)).status == "done"


async def test_a_waiting_yes_survives_an_upgrade_that_changed_another_tool(tmp_path: Path) -> None:
    stage, (edit, other) = waiting(tmp_path)
    run = await left_waiting(stage)
    other.sealed = replace(other.sealed, spec=ToolSpec(name="other", description="better", schema={}))
    approve(stage, run, "allow")
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, edit.used) == ("done", ["a"])
    assert stage.kinds(run).count("run.sealed") == 2, "the next turn was made with the tools there are now"


@pytest.mark.parametrize(
    "change",
    [
        {"spec": ToolSpec(name="edit", description="better", schema={"type": "object"})},
        {"spec": ToolSpec(name="edit", description="edit", schema={"type": "object", "required": []})},
        {"effect": "execute"},
        {"after_crash": "doubt"},
        {"seconds_max": 1.0},
    ],
)
async def test_panelot_51_a_waiting_yes_is_for_the_tool_as_it_was(tmp_path: Path, change: dict[str, Any]) -> None:
    stage, (edit, _) = waiting(tmp_path)
    run = await left_waiting(stage)
    edit.sealed = replace(edit.sealed, **change)
    approve(stage, run, "allow")
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, edit.used) == ("done", [])
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert (settled["outcome"], settled["parts"][0]["text"]) == ("error", "changed since it was asked")


@pytest.mark.parametrize("what", ["tools", "tool", "system"])
async def test_what_is_out_of_bounds_is_not_sealed_and_nothing_is_sent(tmp_path: Path, what: str) -> None:
    model = FakeModel(reply("never"))
    many = [FakeTool(f"t{number}") for number in range(limits.tools_max + 1)]
    long = FakeTool("long")
    described = replace(long.sealed.spec, description="SECRET" * limits.tool_bytes_max)
    long.sealed = replace(long.sealed, spec=described)
    stage = Stage(tmp_path, model, tools={"tools": many, "tool": [long], "system": []}[what])
    if what == "system":
        with stage.store.write() as tx:
            conversations.write_setting(tx, stage.conversation, "system", "SECRET" * limits.system_bytes_max)
    result = await stage.answer()
    assert (result.status, model.prompts) == ("failed", [])
    assert result.error is not None and result.error["kind"] == "limit" and "SECRET" not in str(result.error)
    with stage.store.read() as tx:
        assert tx.value("SELECT count(*) FROM manifest") == 0
