"""Accounts: every prompt is rebuilt and proved, after hides and edits too; what was altered is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain.act import NodesHidden
from forkwood.domain.errors import Refused
from forkwood.domain.message import Text, Thinking
from forkwood.domain.model import Reply, Usage
from forkwood.domain.response import Why
from forkwood.domain.run_event import Recipe
from forkwood.domain.tree import Spot
from forkwood.engine import account
from forkwood.store import log, manifests, marks, names
from forkwood.store.db import Tx
from tests.engine.stage import NOW, WHO, FakeModel, Stage, calling, reply, text
from tests.engine.test_recover import dies_in_mid_reply


def why(stage: Stage, number: int) -> Why:
    """The account of the conversation's node NUMBER, counted from 0."""
    node = stage.nodes()[number]
    with stage.store.read() as tx:
        return account.why(tx, names.node(tx, node.id))


async def talked(tmp_path: Path, turns: int = 3) -> Stage:
    """Nodes: user 0, reply 1, user 2, reply 3 …"""
    stage = Stage(tmp_path, FakeModel(*(reply(f"reply {number}") for number in range(turns))))
    for number in range(turns):
        await stage.answer(f"question {number}")
    return stage


def hide(stage: Stage, number: int) -> None:
    seq = stage.nodes()[number].seq
    with stage.store.write() as tx:
        event = log.write(tx, NodesHidden(effects=()), who=WHO, now_ms=NOW)
        marks.hide(tx, [seq], event)


def alter(stage: Stage, number: int, words: str) -> None:
    """What the house never does."""
    seq = stage.nodes()[number].seq
    with stage.store.write() as tx:
        tx.run("DROP TRIGGER IF EXISTS node_is_forever")
        tx.run("UPDATE node SET parts = ? WHERE seq = ?", (wire.text((Text(text=words),)), seq))


async def test_every_reply_is_proved_and_stays_so_after_hides_and_edits(tmp_path: Path) -> None:
    stage = await talked(tmp_path)
    hide(stage, 0)
    stage.say("another first question", at=Spot(0))
    for number in (1, 3, 5):
        found = why(stage, number)
        assert (found.verified, found.reason) == (True, None)
        assert found.usage is not None and found.usage["input"] == 10
        assert found.cost == 12.0 and found.prompt is not None
        assert found.left_out == ()
    assert [len(why(stage, number).entries) for number in (1, 3, 5)] == [1, 3, 5]


async def test_what_was_hidden_then_is_named_and_not_among_the_entries(tmp_path: Path) -> None:
    stage = await talked(tmp_path, 2)
    hide(stage, 0)
    stage.models["fake:one"].script.append(reply("reply 2"))
    await stage.answer("question 2")
    found = why(stage, 5)
    first = stage.nodes()[0].id
    assert found.verified is True
    assert [(one.id, one.reason) for one in found.left_out] == [(first, "hidden")]
    assert first not in found.entries


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4])
async def test_an_altered_entry_is_found_and_named(tmp_path: Path, number: int) -> None:
    stage = await talked(tmp_path)
    alter(stage, number, "forged")
    found = why(stage, 5)
    assert (found.verified, found.reason) == (False, f"first differing entry: {stage.nodes()[number].id}")


async def test_what_a_message_said_when_it_was_first_sent_counts(tmp_path: Path) -> None:
    """Altered between two runs it was recorded by both: that the second one saw it so proves nothing."""
    stage = await talked(tmp_path, 1)
    hide(stage, 1)  # with no reply in sight the next recipe records the path from its beginning
    alter(stage, 0, "forged")
    stage.models["fake:one"].script += [reply("reply 1"), reply("reply 2")]
    await stage.answer("question 1")
    await stage.answer("question 2")
    altered = stage.nodes()[0].id
    assert recipe_of(stage, 1).fresh[altered] != recipe_of(stage, 3).fresh[altered]
    assert why(stage, 3).verified is True
    alter(stage, 2, "forged later")
    for number in (3, 5):
        assert why(stage, number).reason == f"first differing entry: {altered}"


async def test_what_cannot_be_proved_says_why(tmp_path: Path) -> None:
    stage = await talked(tmp_path, 2)
    recipe = recipe_of(stage, 3)
    with stage.store.read() as tx:
        assert verdict(tx, replace(recipe, form=99)) == (None, "form unknown")
        assert verdict(tx, replace(recipe, manifest="0" * 64)) == (None, "manifest missing")
    with stage.store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("UPDATE node SET parts = '[]', purged = 1 WHERE role = 'user'")
        tx.run("DELETE FROM purging")
    assert (why(stage, 3).verified, why(stage, 3).reason) == (None, "purged")
    assert {one.reason for one in why(stage, 3).left_out} == {"purged"}


async def test_a_reply_whose_manifest_was_purged_is_neither_proved_nor_called_altered(tmp_path: Path) -> None:
    stage = await talked(tmp_path, 2)
    sealed = recipe_of(stage, 3).manifest
    with stage.store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("UPDATE manifest SET body = ? WHERE digest = ?", (manifests.HUSK, sealed))
        tx.run("DELETE FROM purging")
    found = why(stage, 3)
    assert (found.verified, found.reason, found.manifest) == (None, "purged", None)


def verdict(tx: Tx, recipe: Recipe) -> tuple[bool | None, str | None]:
    return account.verdict(tx, recipe, account.path_of(tx, recipe))[:2]


def recipe_of(stage: Stage, number: int) -> Recipe:
    return wire.decode(wire.encode(why(stage, number).recipe), Recipe)


async def test_what_changed_outside_the_entries_is_said(tmp_path: Path) -> None:
    stage = await talked(tmp_path, 1)
    recipe, first = replace(recipe_of(stage, 1), prompt_digest="0" * 64), stage.nodes()[0].id
    with stage.store.read() as tx:
        assert verdict(tx, recipe) == (False, "no entry differs: the settings, the marks or the rules do")
        unrecorded = replace(recipe, fresh={})
        verified, reason = verdict(tx, unrecorded)
    assert verified is False and reason is not None and first in reason


async def test_each_turn_of_a_run_has_its_own_account(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(calling("t", words="I look."), reply("Done.")))
    await stage.answer()
    assert [(why(stage, number).turn, why(stage, number).verified) for number in (1, 2, 3)] == [
        (1, True),
        (1, True),
        (2, True),
    ]
    assert len(why(stage, 3).entries) == 3


async def test_an_interrupted_reply_has_the_account_of_its_first_call(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FakeModel(reply("Hello.")))
    stage.say("Hi")
    run = dies_in_mid_reply(stage, text("Hel"))
    await stage.drive(run)
    found = why(stage, 1)
    assert (found.turn, found.usage, found.verified) == (1, None, None), "its recipe was made up by the test"
    assert why(stage, 2).verified is True


async def test_what_no_model_said_has_no_account(tmp_path: Path) -> None:
    stage = await talked(tmp_path, 1)
    with pytest.raises(Refused):
        why(stage, 0)


async def test_a_reply_whose_turn_is_not_in_this_log_says_so(tmp_path: Path) -> None:
    stage = await talked(tmp_path, 1)
    seq = stage.nodes()[1].seq
    with stage.store.write() as tx:
        tx.run("DROP TRIGGER node_is_forever")
        tx.run("UPDATE node SET run = ? WHERE seq = ?", (bytes(16), seq))
    assert (why(stage, 1).verified, why(stage, 1).reason) == (None, "the log has no turn of this reply")


async def test_thinking_that_does_not_go_back_is_named(tmp_path: Path) -> None:
    thoughtful = Reply(parts=(Thinking(text="hm"), Text(text="Hi")), usage=Usage(), finish="stop")
    stage = Stage(tmp_path, FakeModel([thoughtful], reply("again")))
    await stage.answer()
    await stage.answer()
    (left,) = why(stage, 3).left_out
    assert left.id == stage.nodes()[1].id and "thinking" in left.reason


async def test_a_rebuilt_prompt_is_the_one_that_was_sent(tmp_path: Path) -> None:
    stage = await talked(tmp_path)
    model = stage.models["fake:one"]
    for number, prompt in zip((1, 3, 5), model.prompts, strict=True):
        assert why(stage, number).prompt == prompt
