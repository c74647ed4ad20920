"""Why: each reply's prompt is rebuilt from the books and proved, also after later hides and edits; damage is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from forkwood.domain.errors import Refused
from forkwood.domain.message import Text
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, said, script


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t", system="Be brief.")
    return runtime


def reply(runtime: Runtime, tmp_path: Path, text: str, **script_fields: object) -> str:
    """Say TEXT and hear an answer; the answer's id."""
    model = script(tmp_path, {"text": f"answer to {text}", **script_fields})
    node = answered(runtime, runtime.send(text, models=[model])).node
    assert node is not None
    return node


def test_a_reply_says_what_it_was_made_from(runtime: Runtime, tmp_path: Path) -> None:
    first = reply(runtime, tmp_path, "q1", usage={"input": 7, "output": 2})
    why = runtime.why(first)
    assert (why.verified, why.reason, why.turn, why.node) == (True, None, 1, first)
    assert why.manifest is not None
    assert why.manifest["system"] == "Be brief."
    assert why.prompt is not None
    assert [message.parts for message in why.prompt.messages] == [(Text(text="q1"),)]
    assert why.entries == (runtime.path()[0].node.id,)
    assert why.usage == {"input": 7, "output": 2, "cache_read": 0, "cache_write": 0, "reasoning": 0}
    assert why.prompt_digest is not None


@pytest.mark.parametrize("key", [None, "the third of May"])
def test_door_client_and_key_of_who_asked_are_told(runtime: Runtime, tmp_path: Path, key: str | None) -> None:
    runtime.house.settings = replace(runtime.house.settings, client="nightly")
    model = script(tmp_path, {"text": "yes"})
    sent = answered(runtime, runtime.send("q", models=[model], key=key)).node
    assert sent is not None
    again = answered(runtime, runtime.retry(sent, models=[model])).node
    assert again is not None
    runtime.send("by hand", role="assistant", run=False)
    made = runtime.path()[1].node.origin.run
    assert made is not None and runtime.clients([made, "f" * 32]) == {made: "nightly"}
    for node, known in ((sent, key), (again, None)):
        why = runtime.why(node)
        assert (why.door, why.client, why.key) == ("cli", "nightly", known)
        assert why.manifest is not None
        assert (why.manifest["door"], why.manifest["client"]) == ("cli", "nightly")
        assert "the third of May" not in str(why.manifest), "one manifest serves many runs"


def test_who_queued_a_message_asked_for_its_reply(runtime: Runtime, tmp_path: Path) -> None:
    model = script(tmp_path, {"text": "yes"})
    first = runtime.send("one", models=[model])
    runtime.house.settings = replace(runtime.house.settings, client="nightly")
    assert runtime.send("two", models=[model], key="k").queued
    answered(runtime, first)
    last = runtime.path()[-1].node
    why = runtime.why(last.id)
    assert (len(runtime.path()), why.client, why.key, why.verified) == (4, "nightly", "k", True)
    assert runtime.why(runtime.path()[1].node.id).client == "cli"


def test_every_reply_stays_proved_after_later_hides_edits_and_settings(runtime: Runtime, tmp_path: Path) -> None:
    replies = [reply(runtime, tmp_path, text) for text in ("q1", "q2", "q3")]
    ids = [entry.node.id for entry in runtime.path()]
    runtime.hide(ids[1])
    replies.append(reply(runtime, tmp_path, "q4"))
    runtime.edit(ids[0], "q1'", keep=True)
    replies.append(reply(runtime, tmp_path, "q5"))
    runtime.drop(ids[2])
    runtime.set("system", "Be long.")
    runtime.unhide(ids[1])
    replies.append(reply(runtime, tmp_path, "q6"))
    runtime.hide(ids[3])
    for node in replies:
        assert runtime.why(node).verified is True
    assert [(left.id, left.reason) for left in runtime.why(replies[3]).left_out] == [(ids[1], "hidden")]
    assert runtime.why(replies[5]).left_out == ()


def test_what_was_edited_away_is_in_no_later_prompt(runtime: Runtime, tmp_path: Path) -> None:
    reply(runtime, tmp_path, "the old words")
    ids = [entry.node.id for entry in runtime.path()]
    runtime.edit(ids[0], "the new words", keep=True)
    last = reply(runtime, tmp_path, "q2")
    why = runtime.why(last)
    assert why.prompt is not None
    spelled = str(why.prompt)
    assert "the new words" in spelled
    assert "'the old words'" not in spelled


def test_a_message_by_hand_has_no_prompt(runtime: Runtime) -> None:
    [node] = said(runtime, "q1")
    with pytest.raises(Refused, match="written by hand"):
        runtime.why(node)


def test_a_prompt_that_was_tampered_with_is_not_proved_and_the_entry_is_named(runtime: Runtime, tmp_path: Path) -> None:
    node = reply(runtime, tmp_path, "q1")
    question = runtime.path()[0].node.id
    with runtime.house.store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("""UPDATE node SET parts = '[{"kind":"text","text":"forged"}]' WHERE seq = 1""")
        tx.run("DELETE FROM purging")
    why = runtime.why(node)
    assert why.verified is False
    assert why.reason is not None
    assert question in why.reason


def test_a_manifest_that_was_tampered_with_is_not_proved(runtime: Runtime, tmp_path: Path) -> None:
    node = reply(runtime, tmp_path, "q1")
    with runtime.house.store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("UPDATE manifest SET body = replace(body, 'brief', 'rude')")
        tx.run("DELETE FROM purging")
    assert runtime.why(node).verified is False


def test_a_purged_prompt_cannot_be_proved_and_says_so(runtime: Runtime, tmp_path: Path) -> None:
    first = reply(runtime, tmp_path, "q1")
    second = reply(runtime, tmp_path, "q2")
    runtime.purge([runtime.path()[0].node.id])
    for node in (first, second):
        why = runtime.why(node)
        assert (why.verified, why.reason) == (None, "purged")
    assert runtime.why(second).left_out[0].reason == "purged"


def test_a_form_of_a_later_program_is_not_judged(runtime: Runtime, tmp_path: Path) -> None:
    node = reply(runtime, tmp_path, "q1")
    with runtime.house.store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("""UPDATE event SET payload = json_set(payload, '$.recipe.form', 99) WHERE kind = 'turn.started'""")
        tx.run("DELETE FROM purging")
    why = runtime.why(node)
    assert (why.verified, why.reason) == (None, "form unknown")
