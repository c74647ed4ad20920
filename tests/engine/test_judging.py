"""Calls are judged by what holds now: mode, denials and grants of this moment, and the hash a yes is bound to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from forkwood.domain.interaction import Answer, Interaction
from forkwood.domain.message import ToolCall, ToolResult
from forkwood.domain.model import Reply
from forkwood.domain.policy import Grant
from forkwood.domain.run import fold
from forkwood.domain.run_event import InteractionOpened
from forkwood.domain.settings import Approvals, Settings
from forkwood.engine.judging import binding, is_bound
from forkwood.store import conversations, grants, interactions, runs
from tests.domain.happened import DRIVEN, OPENED, WRITE, asks
from tests.engine.stage import NOW, USAGE, WHO, FakeModel, FakeTool, Stage, calling, reply, results


def writer(name: str = "edit", **sealed: Any) -> FakeTool:
    return FakeTool(name, **{"effect": "write", "after_crash": "journal"} | sealed)


class Ruled(Stage):
    """A stage whose settings can be changed while it plays."""

    settings: Settings = Settings(home="/nowhere")

    def another(self, store: Any = None) -> Any:
        engine = super().another(store)
        engine._supplies = _with(engine._supplies, settings=lambda: self.settings)
        return engine

    async def begin(self) -> str:
        self.say("Hi")
        run = self.open()
        await self.drive(run)
        return run

    def pending(self) -> list[Interaction]:
        with self.store.read() as tx:
            return interactions.pending(tx)

    def answer_with(self, words: Answer, asked: Interaction | None = None) -> None:
        with self.store.write() as tx:
            asked = asked or interactions.pending(tx)[0]
            interactions.close(tx, asked, words, grant=None, who=WHO, now_ms=NOW)

    def grant(self, tool: str = "edit", **fields: Any) -> str:
        with self.store.write() as tx:
            of = conversations.row(tx, self.conversation).id
            given = Grant(**{"id": self.new_id(), "tool": tool, "scope": "conversation", "of": of} | fields)
            return grants.give(tx, given, conversation=self.conversation, who=WHO, now_ms=NOW)

    def revoke(self, grant: str) -> None:
        with self.store.write() as tx:
            grants.revoke(tx, grant, who=WHO, now_ms=NOW)

    def mode(self, mode: Approvals) -> None:
        with self.store.write() as tx:
            conversations.write_setting(tx, self.conversation, "approvals", mode)

    def outcomes(self) -> list[str]:
        parts = [part for node in self.nodes() for part in node.parts]
        return [part.outcome for part in parts if isinstance(part, ToolResult)]


def _with(supplies: Any, **changes: Any) -> Any:
    from dataclasses import replace as changed

    return changed(supplies, **changes)


class Meanwhile(Struct, frozen=True, kw_only=True):
    """What happens while a model replies, and what becomes of its call then."""

    do: Callable[[Ruled], object]
    status: str
    used: list[str]
    outcomes: list[str]


WHILE_IT_REPLIES = {
    "a grant is given": Meanwhile(do=lambda stage: stage.grant(), status="done", used=["a"], outcomes=["ok"]),
    "another tool is granted": Meanwhile(do=lambda stage: stage.grant("build"), status="waiting", used=[], outcomes=[]),
    "writes are allowed": Meanwhile(
        do=lambda stage: stage.mode("allow-edits"), status="done", used=["a"], outcomes=["ok"]
    ),
    "the tool is denied": Meanwhile(
        do=lambda stage: setattr(stage, "settings", replace(stage.settings, deny=("edit",))),
        status="done",
        used=[],
        outcomes=["denied"],
    ),
}


@pytest.mark.parametrize("name", WHILE_IT_REPLIES)
async def test_a_reply_is_judged_by_the_policy_of_the_moment_it_is_kept(tmp_path: Path, name: str) -> None:
    case, tool = WHILE_IT_REPLIES[name], writer()
    model = FakeModel(calling("edit"), reply("Done."))
    stage = Ruled(tmp_path, model, tools=[tool])
    model.script[0].insert(0, lambda: case.do(stage))
    run = await stage.begin()
    assert (stage.run(run).status, tool.used, stage.outcomes()) == (case.status, case.used, case.outcomes)
    assert stage.kinds(run).count("run.sealed") == 2, "the manifest says what it was judged by"


async def test_panelot_62_a_yes_is_bound_to_tool_schema_and_arguments(tmp_path: Path) -> None:
    tool = writer()
    stage = Ruled(tmp_path, FakeModel(calling("edit"), reply("So.")), tools=[tool])
    await stage.begin()
    (asked,) = stage.pending()
    assert asked.call is not None
    assert asked.call.hash == binding(tool.sealed, {}) != binding(tool.sealed, {"path": "a"})
    tool.sealed = replace(tool.sealed, spec=replace(tool.sealed.spec, schema={"type": "object", "title": "new"}))
    assert asked.call.hash != binding(tool.sealed, {})


@pytest.mark.parametrize(("changed", "used", "outcomes"), [("edit", [], ["error"]), ("other", ["a"], ["ok"])])
async def test_panelot_51_a_waiting_approval_survives_the_change_of_another_tool_and_not_of_its_own(
    tmp_path: Path, changed: str, used: list[str], outcomes: list[str]
) -> None:
    tools = {name: writer(name) for name in ("edit", "other")}
    stage = Ruled(tmp_path, FakeModel(calling("edit"), reply("So.")), tools=list(tools.values()))
    run = await stage.begin()
    await stage.engine.close()
    drifted = tools[changed]
    drifted.sealed = replace(drifted.sealed, spec=replace(drifted.sealed.spec, description="says more now"))
    stage.answer_with("allow")
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, tools["edit"].used, stage.outcomes()) == ("done", used, outcomes)
    assert stage.kinds(run).count("run.sealed") == 2


async def test_a_grant_revoked_between_asking_and_running_asks_again(tmp_path: Path) -> None:
    first, second = writer("edit"), writer("build")
    model = FakeModel(calling("edit", "build"), reply("So."))
    stage = Ruled(tmp_path, model, tools=[first, second])
    granted = stage.grant("build")
    run = await stage.begin()
    assert [one.call.name for one in stage.pending() if one.call] == ["edit"]
    stage.revoke(granted)
    stage.answer_with("allow")
    (result,) = results(await stage.drive(run))
    assert (result.status, first.used, second.used) == ("waiting", ["a"], [])
    (judged,) = [event.payload for event in stage.events(run) if event.kind == "call.judged"]
    assert (judged["call"], judged["verdict"], judged["granted"]) == ("b", "ask", None)
    (asked,) = stage.pending()
    assert asked.call is not None and asked.call.name == "build"
    stage.answer_with("allow")
    (result,) = results(await stage.drive(run))
    assert (result.status, second.used, stage.outcomes()) == ("done", ["b"], ["ok", "ok"])


async def test_a_rule_that_denies_beats_the_yes_that_came_before_it(tmp_path: Path) -> None:
    tool = writer()
    stage = Ruled(tmp_path, FakeModel(calling("edit"), reply("So.")), tools=[tool])
    run = await stage.begin()
    stage.answer_with("allow")
    stage.settings = replace(stage.settings, deny=("edit",))
    (result,) = results(await stage.drive(run))
    assert (result.status, tool.used, stage.outcomes()) == ("done", [], ["denied"])


async def test_a_yes_to_the_call_stands_whatever_grants_do(tmp_path: Path) -> None:
    tool = writer()
    stage = Ruled(tmp_path, FakeModel(calling("edit"), reply("So.")), tools=[tool])
    run = await stage.begin()
    stage.answer_with("allow")
    stage.revoke(stage.grant())
    (result,) = results(await stage.drive(run))
    assert (result.status, tool.used, "call.judged" in stage.kinds(run)) == ("done", ["a"], False)


async def test_another_grant_that_lets_a_call_run_is_told(tmp_path: Path) -> None:
    first, second = writer("edit"), writer("build")
    stage = Ruled(tmp_path, FakeModel(calling("edit", "build"), reply("So.")), tools=[first, second])
    before = stage.grant("build")
    run = await stage.begin()
    stage.revoke(before)
    after = stage.grant("build", scope="run", of=run)
    stage.answer_with("allow")
    (result,) = results(await stage.drive(run))
    (judged,) = [event.payload for event in stage.events(run) if event.kind == "call.judged"]
    assert (judged["verdict"], judged["granted"], result.status, second.used) == ("allow", after, "done", ["b"])


async def test_reads_pass_and_a_read_that_asks_is_never_denied_for_it(tmp_path: Path) -> None:
    look, search = FakeTool("look"), FakeTool("search", asks_first=True)
    stage = Ruled(tmp_path, FakeModel(calling("look", "search"), calling("search"), reply("So.")), tools=[look, search])
    run = await stage.begin()
    assert [one.call.name for one in stage.pending() if one.call] == ["search"]
    assert look.used == ["a"]
    stage.grant("search")
    stage.answer_with("allow")
    (result,) = results(await stage.drive(run))
    assert (result.status, search.used, stage.outcomes()) == ("done", ["b", "a"], ["ok", "ok", "ok"])


async def test_pain_35_what_is_shown_is_what_the_yes_is_bound_to(tmp_path: Path) -> None:
    call = ToolCall(call="a", name="edit", arguments={"path": "x", "text": "y\u202e"})
    model = FakeModel([Reply(parts=(call,), usage=USAGE, finish="tool_calls")], reply("So."))
    tool = writer()
    stage = Ruled(tmp_path, model, tools=[tool])
    run = await stage.begin()
    (asked,) = stage.pending()
    assert asked.call is not None and asked.call.hash == binding(tool.sealed, dict(call.arguments))  # type: ignore[arg-type]
    assert asked.call.shown == 'edit {\n  "path": "x",\n  "text": "y\\u202e"\n}'
    with stage.store.read() as tx:
        assert runs.row(tx, run).status == "waiting"


@pytest.mark.parametrize(
    ("hash_of", "arguments", "bound"),
    [("edit", {"a": 1}, True), ("edit", {"a": 2}, False), ("other", {"a": 1}, False), (None, {"a": 2}, True)],
)
def test_a_call_is_compared_with_what_was_asked_about(
    hash_of: str | None, arguments: dict[str, Any], bound: bool
) -> None:
    tool = writer().sealed
    asked_hash = None if hash_of is None else binding(writer(hash_of).sealed, {"a": 1})
    state = fold(
        [OPENED, DRIVEN, *asks(WRITE), InteractionOpened(interaction="i", sort="approval", call="b", hash=asked_hash)]
    )
    assert is_bound(state, "b", tool, arguments) is bound
    assert is_bound(fold([OPENED, DRIVEN, *asks(WRITE)]), "b", tool, arguments), "nobody was asked about it"
