"""A run whose log is damaged: taking it over says so as a store does that cannot be used, and breaks nothing else."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from forkwood.domain.errors import StoreUnusable
from forkwood.engine import account
from forkwood.store.db import Store
from tests.engine.stage import WHO, FakeModel, FakeTool, Stage, calling, reply, results
from tests.engine.test_use import approve

DAMAGES = {
    "gone": "DELETE FROM event WHERE seq = ?1",
    "empty": "UPDATE event SET payload = '{}' WHERE seq = ?1",
    "a list": "UPDATE event SET payload = '[]' WHERE seq = ?1",
    "another kind": "UPDATE event SET kind = 'run.ended' WHERE seq = ?1",
    "an unknown kind": "UPDATE event SET kind = 'call.dreamt' WHERE seq = ?1",
    "twice": """INSERT INTO event (at_ms, kind, conversation, run, node, by, via, act, payload)
        SELECT at_ms, kind, conversation, run, node, by, via, act, payload FROM event WHERE seq = ?1""",
    "without its node": "UPDATE event SET node = NULL WHERE seq = ?1",
    "of another turn": "UPDATE event SET payload = json_set(payload, '$.turn', 77) WHERE seq = ?1",
    "of no run": "UPDATE event SET run = NULL WHERE seq = ?1",
}


async def waiting(folder: Path) -> tuple[Stage, str]:
    """A run that a person has said yes to, and that nobody drives."""
    tool = FakeTool("edit", effect="write", after_crash="journal")
    stage = Stage(folder, FakeModel(calling("edit"), reply("Done.")), tools=[tool])
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "waiting"
    approve(stage, run, "allow")
    await stage.engine.close()
    return stage, run


def damage(store: Store, sql: str, seq: int) -> None:
    with store.write() as tx:
        for trigger in ("event_is_forever", "event_stays", "event_is_new"):
            tx.run(f"DROP TRIGGER {trigger}")
        tx.run(sql, (seq,))


@pytest.mark.parametrize("how", DAMAGES)
async def test_whatever_happened_to_its_log_a_run_is_driven_or_refused(tmp_path: Path, how: str) -> None:
    sound, run = await waiting(tmp_path / "sound")
    for number, event in enumerate(sound.events(run)):
        stage, run = await waiting(tmp_path / str(number))
        damage(stage.store, DAMAGES[how], event.seq)
        engine = stage.another()
        with suppress(StoreUnusable):
            (result,) = results(await stage.drive(run, engine=engine))
            assert result.status in {"done", "failed", "waiting", "cancelled"}, event.kind
            assert result.error is None or result.error["kind"] != "defect", (event.kind, result.error)
        with suppress(StoreUnusable):
            assert engine.cancel(run, WHO).status != "running", event.kind
        await engine.close()


@pytest.mark.parametrize("how", DAMAGES)
async def test_why_of_its_reply_tells_what_it_can_or_names_the_damage(tmp_path: Path, how: str) -> None:
    sound, run = await waiting(tmp_path / "sound")
    for number, event in enumerate(sound.events(run)):
        stage, run = await waiting(tmp_path / str(number))
        (reply_node,) = [node.seq for node in stage.nodes() if node.role == "assistant"]
        damage(stage.store, DAMAGES[how], event.seq)
        with suppress(StoreUnusable), stage.store.read() as tx:
            assert account.why(tx, reply_node).run == run, event.kind
