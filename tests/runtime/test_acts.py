"""The frame of verbs: one key, one deed; a key with another body is refused; what was refused leaves no receipt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, NotFound, StoreUnusable
from forkwood.domain.settings import Provider, Settings
from forkwood.runtime import Runtime
from forkwood.runtime.acts import Acting
from tests.runtime.doors import door, said, texts


@pytest.fixture
def runtime() -> Runtime:
    runtime = door()
    runtime.new(title="t")
    return runtime


def test_pain_38_the_same_key_twice_is_one_message_and_one_run(runtime: Runtime) -> None:
    first = runtime.send("hello", key="k")
    again = runtime.send("hello", key="k")
    assert again == first
    assert texts(runtime) == ["hello"]
    assert len(runtime.runs()) == 1


def test_a_key_used_for_other_words_is_refused(runtime: Runtime) -> None:
    runtime.send("hello", key="k", run=False)
    with pytest.raises(Conflict, match="used for another command") as refused:
        runtime.send("goodbye", key="k", run=False)
    assert refused.value.facts == {"key": "k", "verb": "send"}
    with pytest.raises(Conflict):
        runtime.undo(key="k")
    assert texts(runtime) == ["hello"]


def test_the_head_in_an_argument_stays_the_word_it_was(runtime: Runtime) -> None:
    said(runtime, "q1", "a1")
    first = runtime.hide("@", key="k")
    assert runtime.hide("@", key="k") == first


def test_what_was_refused_leaves_no_receipt(runtime: Runtime) -> None:
    with pytest.raises(NotFound):
        runtime.switch("beefbeef", key="k")
    [node] = said(runtime, "q1")
    assert runtime.label(node, "free again", key="k").head == node


def test_a_key_has_bounds(runtime: Runtime) -> None:
    with pytest.raises(Misused):
        runtime.undo(key=" ")
    runtime.send("hello", key="k" * limits.key_characters_max, run=False)
    with pytest.raises(LimitExceeded):
        runtime.undo(key="k" * (limits.key_characters_max + 1))


def test_a_keyed_command_is_answered_where_its_model_is_gone_since(runtime: Runtime) -> None:
    there = Settings(home="/nowhere", providers={"mine": Provider(url="http://127.0.0.1:9/v1")})
    runtime.house.settings = there
    verbs: list[Callable[[], object]] = [
        lambda: runtime.new(model="mine:one", key="new").id,
        lambda: runtime.set("model", "mine:two", key="set").conversation.id,
        lambda: runtime.send("hello", models=["mine:three"], key="send"),
        lambda: runtime.retry("@", models=["mine:three"], key="retry"),
    ]
    first = [verb() for verb in verbs]
    runtime.house.settings = Settings(home="/nowhere")
    assert [verb() for verb in verbs] == first
    with pytest.raises(NotFound, match="Nobody knows"):
        runtime.set("model", "mine:two")


def test_a_keyed_send_is_answered_where_its_file_is_gone_since(runtime: Runtime, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("hello")
    first = runtime.send("look", attach=[note], run=False, key="k")
    assert runtime.send("look", attach=[note], run=False, key="k") == first
    note.unlink()
    assert runtime.send("look", attach=[note], run=False, key="k") == first
    with pytest.raises(Conflict, match="used for another command"):
        runtime.send("look again", attach=[note], run=False, key="k")
    with pytest.raises(Conflict, match="cannot be told") as unknown:
        runtime.send("look", attach=[tmp_path / "other.txt"], run=False, key="k")
    assert "put the file back" in unknown.value.hint
    note.write_text("other words")
    with pytest.raises(Conflict, match="used for another command"):
        runtime.send("look", attach=[note], run=False, key="k")


def test_cancel_has_its_receipt_in_its_own_transaction(runtime: Runtime) -> None:
    [run] = runtime.send("hello").runs
    for key in ("", "k" * (limits.key_characters_max + 1)):
        with pytest.raises((Misused, LimitExceeded)):
            runtime.cancel(run, key=key)
    assert runtime.runs()[0].status == "queued", "what was refused did nothing"
    assert runtime.cancel(run, key="k").status == "cancelled"
    assert runtime.cancel(run, key="k").status == "cancelled"
    with pytest.raises(Conflict):
        runtime.cancel(run[-8:], key="k")


def test_an_act_that_fails_half_way_did_nothing(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    before = len(list(runtime.log())), len(runtime.tree()), runtime.conversation()

    def fails(*_: object, **__: object) -> None:
        raise OSError("the power went")

    monkeypatch.setattr("forkwood.runtime.talking.carry", fails)
    with pytest.raises(OSError, match="the power went"):
        runtime.edit(ids[0], "q1'", keep=True)
    assert (len(list(runtime.log())), len(runtime.tree()), runtime.conversation()) == before


class Phased(Acting):
    """A verb of two transactions."""

    def begin(self, key: str | None) -> int | str:
        return self._begun("count", {"to": 2}, int, lambda _: "begun", key=key)

    def end(self, key: str | None, response: int) -> int:
        return self._ended("count", {"to": 2}, int, lambda _: response, key=key)


def test_a_verb_of_several_transactions_is_answered_from_its_receipt_only_once_it_has_ended(runtime: Runtime) -> None:
    phased = Phased(runtime.house)
    assert [phased.begin("k"), phased.begin("k")] == ["begun", "begun"], "whoever sends it again may end it"
    with pytest.raises(Conflict, match="used for another command"):
        runtime.undo(key="k")
    assert [phased.end("k", 1), phased.end("k", 2), phased.begin("k")] == [1, 1, 1], "one of them ends it"
    assert [phased.begin(None), phased.end(None, 3)] == ["begun", 3]


def test_what_was_given_up_is_taken_back_with_its_receipt(runtime: Runtime) -> None:
    phased, undone = Phased(runtime.house), list[str]()
    phased.begin("k")
    phased._given_up(lambda _: undone.append("undone"), key="k")
    assert undone == ["undone"]
    runtime.send("free again", key="k", run=False)
    with pytest.raises(Conflict):
        phased.end("k", 1)


@pytest.mark.parametrize("attached", [False, True])
def test_a_receipt_that_cannot_be_read_is_damage_to_the_store(
    runtime: Runtime, tmp_path: Path, *, attached: bool
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("a")
    files = [file] if attached else []
    runtime.send("once", run=False, attach=files, key="k")
    with runtime.house.store.write() as tx:
        tx.run("DROP TRIGGER receipt_is_final")
        tx.run("UPDATE receipt SET response = '{}'")
    with pytest.raises(StoreUnusable) as caught:
        runtime.send("once", run=False, attach=files, key="k")
    assert caught.value.facts["reason"] == "corrupt"
