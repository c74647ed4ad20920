"""Which memories a turn holds: those that its run was sealed with, until the manifest is sealed anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from forkwood.domain.conversation import ConversationSettings
from forkwood.domain.memory import Fact, Memory
from forkwood.domain.prompt import Prompt
from forkwood.engine import account
from forkwood.store import conversations, memories, names
from tests.engine.stage import NOW, WHO, FakeModel, FakeTool, Stage, calling, reply


def stated(stage: Stage, name: str, value: str) -> Memory:
    fact = Fact(name=name, value=value, via="cli")
    with stage.store.write() as tx:
        return memories.state_fact(tx, stage.new_id(), fact, who=WHO, now_ms=NOW)


def lost(stage: Stage) -> None:
    """Let the store lose what is remembered, as damage does."""
    with stage.store.write() as tx:
        trigger = tx.value("SELECT sql FROM sqlite_schema WHERE name = 'memory_stays'")
        tx.run("DROP TRIGGER memory_stays")
        tx.run("DELETE FROM memory")
        tx.run(trigger)


def notes(prompt: Prompt) -> list[str]:
    """The notes in PROMPT, without what is around them."""
    return [line for line in (prompt.system or "").splitlines()[1:] if not line.startswith("<")]


async def told(folder: Path, begin: Callable[[Stage], object], act: Callable[[Stage], object]) -> list[list[str]]:
    """The notes in both prompts of a run with one round, in which a tool lets ACT happen; each proved."""
    model = FakeModel(calling("act"), reply("So."))
    stage = Stage(folder, model)
    tool = FakeTool("act", lambda: act(stage) and "done")
    stage.tools["act"] = tool
    stage.engine = stage.another()
    begin(stage)
    assert (await stage.answer()).status == "done" and tool.used == ["a"]
    last = stage.nodes()[-1].id
    with stage.store.read() as tx:
        why = account.why(tx, names.node(tx, last))
        assert why.verified is True or why.reason == "purged"
    return [notes(prompt) for prompt in model.prompts]


async def test_what_is_accepted_while_a_run_is_at_work_is_for_the_next_one(tmp_path: Path) -> None:
    tea = lambda stage: stated(stage, "tea", "green")  # noqa: E731
    black = lambda stage: stated(stage, "tea", "black")  # noqa: E731
    assert await told(tmp_path, tea, black) == [["tea: green"]] * 2


async def test_a_manifest_that_is_sealed_anew_names_those_of_now(tmp_path: Path) -> None:
    def switch_too(stage: Stage) -> bool:
        stated(stage, "tea", "black")
        with stage.store.write() as tx:
            conversations.write_setting(tx, stage.conversation, "approvals", "allow-all")
        return True

    assert await told(tmp_path, lambda stage: stated(stage, "tea", "green"), switch_too) == [
        ["tea: green"],
        ["tea: black"],
    ]


async def test_what_is_purged_in_the_middle_of_a_run_is_in_no_later_turn(tmp_path: Path) -> None:
    def propose(stage: Stage) -> None:
        made = stated(stage, "tea", "green")
        stated(stage, "milk", "none")
        with stage.store.write() as tx:
            elsewhere = conversations.create(
                tx, stage.new_id(), NOW, title="u", titled_by="rule", settings=ConversationSettings()
            )
            tx.run("UPDATE memory SET conversation = ? WHERE id = ?", (elsewhere, bytes.fromhex(made.id)))

    def purge(stage: Stage) -> bool:
        with stage.store.write() as tx:
            tx.run("INSERT INTO purging VALUES (1)")
            memories.forget(tx, [], [2])
            tx.run("DELETE FROM purging")
        return True

    assert await told(tmp_path, propose, purge) == [["tea: green", "milk: none"], ["milk: none"]]


async def test_a_memory_that_is_lost_stops_no_run_and_is_named(tmp_path: Path) -> None:
    def lose(stage: Stage) -> bool:
        lost(stage)
        return True

    assert await told(tmp_path, lambda stage: stated(stage, "tea", "green"), lose) == [["tea: green"], []]


async def test_a_lost_memory_leaves_the_proof_open(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("So.")))
    memory = stated(stage, "tea", "green")
    await stage.answer()
    lost(stage)
    last = stage.nodes()[-1].id
    with stage.store.read() as tx:
        found = account.why(tx, names.node(tx, last))
    assert (found.verified, found.reason, found.memories) == (None, f"lost: there is no memory {memory.id}", ())
