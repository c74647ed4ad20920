"""What waits for a person, through the door: pending, answered by whoever is first, remembered, revoked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.errors import Conflict, ForkwoodError, Misused, NotFound, Refused
from forkwood.domain.interaction import Interaction
from forkwood.domain.message import ToolResult, Via
from forkwood.runtime import Runtime
from tests.runtime.askers import Asking, Writer, calls, driven
from tests.runtime.doors import answered, script


class Scene(Asking):
    """A house in which a scripted run stops at approvals."""

    def __init__(self, home: Path, folder: Path, **settings: Any) -> None:
        super().__init__(home, Writer("edit"), Writer("build", effect="execute", after_crash="doubt"), **settings)
        self.folder = folder
        self.first = self.door()

    def stop(self, *replies: dict[str, Any], name: str = "script.json") -> list[Interaction]:
        """Send something to a model that plays REPLIES; what waits then."""
        model = script(self.folder, *replies, {"text": "So."}, name=name)
        assert answered(self.first, self.first.send("Do it", models=[model])).status == "waiting"
        return self.first.pending()

    def used(self, tool: str = "edit") -> int:
        return len(self.tools[tool].used)

    def outcomes(self) -> list[str]:
        parts = [part for entry in self.first.path() for part in entry.node.parts]
        return [part.outcome for part in parts if isinstance(part, ToolResult)]


@pytest.fixture
def scene(home: Path, tmp_path: Path) -> Iterator[Scene]:
    made = Scene(home, tmp_path)
    yield made
    made.close()


def kinds(runtime: Runtime) -> list[str]:
    return [event.kind for event in runtime.log(after=0)]


def test_what_waits_is_known_to_every_process(scene: Scene) -> None:
    (asked,) = scene.stop(calls("edit", path="a"))
    other = scene.door()
    assert other.pending() == [asked] == other.pending(asked.conversation)
    assert (asked.kind, asked.status, asked.answers) == ("approval", "open", ("allow", "deny"))
    assert asked.call is not None and asked.call.shown == 'edit {\n  "path": "a"\n}'
    assert [run.status for run in other.runs()] == ["waiting"]


@pytest.mark.parametrize(("word", "used", "outcomes"), [("allow", 1, ["ok"]), ("deny", 0, ["denied"])])
def test_panelot_43_another_process_answers_and_the_run_goes_on_once(
    scene: Scene, word: str, used: int, outcomes: list[str]
) -> None:
    (asked,) = scene.stop(calls("edit", path="a"))
    scene.first.close()
    scene.doors.clear()
    scene.first = other = scene.door()
    given = other.answer(asked.id[-8:], [word])
    assert (given.status, given.answer, given.by, given.via) == ("answered", word, "user", "cli")
    assert other.pending() == []
    assert driven(other, asked.run).status == "done"
    with pytest.raises(Conflict):
        other.resume(asked.run)
    assert (scene.used(), scene.outcomes()) == (used, outcomes)


def test_panelot_41_42_the_first_answer_counts_and_the_same_again_is_fine(scene: Scene) -> None:
    (asked,) = scene.stop(calls("edit"))
    first, second = scene.first, scene.door("web")
    given = first.answer(asked.id, ["allow"])
    before = kinds(first)
    assert second.answer(asked.id, ["allow"]) == given
    assert kinds(first) == before, "nothing is added"
    with pytest.raises(Conflict, match="was answered by another word already: allow") as late:
        second.answer(asked.id, ["deny"])
    assert (late.value.facts["status"], late.value.facts["answer"]) == ("answered", "allow")
    with pytest.raises(Conflict, match="that yes was not remembered"):
        second.answer(asked.id, ["allow"], remember="run")
    assert first.interaction(asked.id) == given


def test_panelot_40_an_answer_its_grant_and_its_receipt_are_one(scene: Scene, monkeypatch: Any) -> None:
    (asked,) = scene.stop(calls("edit"))
    runtime = scene.first

    def broken(*_: Any, **__: Any) -> None:
        raise Refused("no receipt today")

    with monkeypatch.context() as patched:
        patched.setattr("forkwood.store.receipts.give", broken)
        with pytest.raises(Refused, match="no receipt today"):
            runtime.answer(asked.id, ["allow"], remember="run", key="k")
    assert runtime.pending() == [asked] and runtime.grants() == []
    given = runtime.answer(asked.id, ["allow"], remember="run", key="k")
    assert runtime.answer(asked.id, ["allow"], remember="run", key="k") == given
    assert len(runtime.grants()) == 1
    with pytest.raises(Conflict, match="was used for another command"):
        runtime.answer(asked.id, ["deny"], key="k")


WRONG: dict[str, tuple[tuple[str, ...], str | None, type[ForkwoodError]]] = {
    "no word of an approval": (("yes",), None, Misused),
    "a word of a doubt": (("done",), None, Misused),
    "a no is not remembered": (("deny",), "run", Misused),
    "no such scope": (("allow",), "for ever", Misused),
    "no project yet": (("allow",), "project", Refused),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer_is_refused_and_changes_nothing(scene: Scene, name: str) -> None:
    words, remember, error = WRONG[name]
    (asked,) = scene.stop(calls("edit"))
    before = kinds(scene.first)
    with pytest.raises(error):
        scene.first.answer(asked.id, words, remember=remember)
    assert (scene.first.pending(), kinds(scene.first)) == ([asked], before)


@pytest.mark.parametrize("via", ["mcp", "gateway"])
def test_only_people_answer(scene: Scene, via: Via) -> None:
    (asked,) = scene.stop(calls("edit"))
    door = scene.door(via)
    with pytest.raises(Refused, match="only people answer"):
        door.answer(asked.id, ["allow"])
    scene.first.answer(asked.id, ["allow"], remember="conversation")
    with pytest.raises(Refused, match="only people revoke"):
        door.revoke(scene.first.grants()[0].id)
    assert len(door.grants()) == 1


def test_windie_88_approvals_of_a_turn_are_asked_together_and_the_run_waits_for_all(scene: Scene) -> None:
    edit, build = scene.stop(calls("edit", "build"))
    scene.first.answer(edit.id, ["allow"])
    assert driven(scene.first, edit.run).status == "waiting"
    assert scene.first.pending() == [build]
    assert (scene.used(), scene.used("build")) == (1, 0)
    scene.first.answer(build.id, ["deny"])
    assert (driven(scene.first, edit.run).status, scene.outcomes()) == ("done", ["ok", "denied"])


def test_a_yes_for_the_conversation_covers_what_waits_of_that_tool_and_what_comes(scene: Scene) -> None:
    one, two, other = scene.stop(calls("edit", "edit", "build"), calls("edit"))
    given = scene.first.answer(one.id, ["allow"], remember="conversation")
    (grant,) = scene.first.grants()
    assert (grant.id, grant.tool, grant.scope, grant.of) == (given.grant, "edit", "conversation", one.conversation)
    assert scene.first.interaction(two.id).grant == grant.id
    assert scene.first.pending() == [other]
    scene.first.answer(other.id, ["allow"])
    assert (driven(scene.first, one.run).status, scene.used(), scene.used("build")) == ("done", 3, 1)
    again = scene.first.send("Once more", models=[script(scene.folder, calls("edit"), {"text": "So."}, name="2.json")])
    assert (answered(scene.first, again).status, scene.used()) == ("done", 4)
    copy = scene.first.fork("@")
    assert scene.first.grants(copy.id) == []


def test_a_yes_for_a_run_ends_with_the_run(scene: Scene) -> None:
    (asked,) = scene.stop(calls("edit"), calls("edit"))
    scene.first.answer(asked.id, ["allow"], remember="run")
    assert [one.of for one in scene.first.grants()] == [asked.run]
    assert (driven(scene.first, asked.run).status, scene.used()) == ("done", 2)
    assert scene.first.grants() == []
    assert len(scene.stop(calls("edit"), name="2.json")) == 1


def test_a_revoked_grant_asks_again_and_once(scene: Scene) -> None:
    (asked,) = scene.stop(calls("edit"))
    scene.first.answer(asked.id, ["allow"], remember="conversation")
    driven(scene.first, asked.run)
    (grant,) = scene.first.grants()
    ended = scene.first.revoke(grant.id[-8:], key="r")
    assert scene.first.revoke(grant.id[-8:], key="r") == ended == scene.first.revoke(grant.id)
    assert kinds(scene.first).count("grant.revoked") == 1
    assert scene.first.grants() == []
    assert len(scene.stop(calls("edit"), name="2.json")) == 1
    with pytest.raises(NotFound):
        scene.first.revoke("beef")


def test_panelot_46_an_answer_after_the_time_is_a_conflict(home: Path, tmp_path: Path) -> None:
    scene = Scene(home, tmp_path, approval_expiry_seconds=5.0)
    (asked,) = scene.stop(calls("edit"))
    scene.later(5_000)
    with pytest.raises(Conflict, match="has expired"):
        scene.first.answer(asked.id, ["allow"])
    assert scene.first.interaction(asked.id).status == "expired"
    assert (driven(scene.first, asked.run).status, scene.used(), scene.outcomes()) == ("done", 0, ["denied"])
    with pytest.raises(Conflict, match="has expired"):
        scene.first.answer(asked.id, ["deny"])
    scene.close()


def test_a_run_with_something_overdue_has_something_to_do(home: Path, tmp_path: Path) -> None:
    scene = Scene(home, tmp_path, approval_expiry_seconds=5.0)
    (asked,) = scene.stop(calls("edit"))
    assert scene.first.left() == []
    scene.later(5_000)
    assert scene.first.left() == [asked.run], "the next send drives it on"
    assert scene.first.pending() == []
    assert [run.status for run in scene.first.runs()] == ["running"]
    scene.close()


def test_what_was_withdrawn_cannot_be_answered(scene: Scene) -> None:
    (asked,) = scene.stop(calls("edit"))
    scene.first.cancel(asked.run)
    assert scene.first.pending() == []
    with pytest.raises(Conflict, match="was withdrawn: its run has ended"):
        scene.first.answer(asked.id, ["allow"])
    assert (scene.used(), scene.outcomes()) == (0, ["cancelled"])


def test_why_tells_what_was_asked_and_which_grants_let_calls_run(scene: Scene) -> None:
    (asked,) = scene.stop({**calls("edit"), "text": "First."}, {**calls("edit"), "text": "Second."})
    given = scene.first.answer(asked.id, ["allow"], remember="conversation")
    driven(scene.first, asked.run)
    replies = [entry.node.id for entry in scene.first.path() if entry.node.role == "assistant"]
    first, second, last = (scene.first.why(reply) for reply in replies)
    assert (first.interactions, first.grants) == ((given,), ())
    assert (second.interactions, [one.id for one in second.grants]) == ((), [given.grant])
    assert (last.interactions, last.grants) == ((), ())
    assert {first.verified, second.verified, last.verified} == {True}


def test_a_question_takes_a_text_for_each(home: Path, tmp_path: Path) -> None:
    scene = Asking(home, Writer("ask_user", effect="read", after_crash="again", question=True))
    runtime = scene.door()
    asks = calls("ask_user", questions=[{"text": "Which?", "options": ["a"]}, {"text": "Why?"}])
    sent = runtime.send("Hi", models=[script(tmp_path, asks, {"text": "So."})])
    assert answered(runtime, sent).status == "waiting"
    (asked,) = runtime.pending()
    with pytest.raises(Misused, match="1 of 2 questions are answered"):
        runtime.answer(asked.id, ["a"])
    for key in (None, "k"):
        with pytest.raises(Misused, match="not valid Unicode"):
            runtime.answer(asked.id, ["a", "half of a \ud83d pair"], key=key)
    assert runtime.answer(asked.id, ["a", "because of b"]).answer == ("a", "because of b")
    assert driven(runtime, asked.run).status == "done"
    results = runtime.path()[2].node.parts[0]
    assert isinstance(results, ToolResult) and results.outcome == "ok"
    assert results.parts[0].text == "Which?\na\n\nWhy?\nbecause of b"  # type: ignore[union-attr]
    scene.close()


def test_an_answer_that_holds_a_credential_is_kept_with_a_notice(home: Path, tmp_path: Path) -> None:
    scene = Asking(home, Writer("ask_user", effect="read", after_crash="again", question=True))
    runtime = scene.door()
    runtime.house.environ = {**runtime.house.environ, "MY_API_KEY": "a long secret value"}
    asks = calls("ask_user", questions=[{"text": "Which?"}])
    answered(runtime, runtime.send("Hi", models=[script(tmp_path, asks, {"text": "So."})]))
    (asked,) = runtime.pending()
    runtime.notices()
    assert runtime.answer(asked.id, ["a long secret value"]).answer == "a long secret value"
    assert runtime.notices() == ["the text holds the value of MY_API_KEY; it is kept and sent as it is"]
    scene.close()
