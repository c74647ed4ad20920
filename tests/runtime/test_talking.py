"""Saying things: messages land at places, edits stand beside what they revise, runs begin where they should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, NotFound, Refused
from forkwood.domain.message import Attachment
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from tests.runtime.doors import door, said, script, texts


@pytest.fixture
def runtime() -> Runtime:
    runtime = door()
    runtime.new()
    return runtime


@pytest.mark.parametrize(("more", "end"), [(0, "x"), (1, "…")])
def test_a_title_by_rule_is_the_first_line_up_to_its_bound(runtime: Runtime, more: int, end: str) -> None:
    runtime.send("x" * (limits.rule_title_characters_max + more), run=False)
    title = runtime.conversation().title
    assert (len(title), title[-1]) == (limits.rule_title_characters_max, end)


def test_a_message_goes_to_the_head_and_is_answered_by_a_run(runtime: Runtime) -> None:
    sent = runtime.send("hello\nworld")
    assert (sent.node.role, sent.node.text, sent.node.origin.by, sent.node.origin.via) == (
        "user",
        "hello\nworld",
        "user",
        "cli",
    )
    assert runtime.conversation().head == sent.node.id
    assert runtime.conversation().title == "hello"
    [run] = runtime.runs()
    assert (run.id, run.start, run.status, run.model) == (
        sent.runs[0],
        sent.node.id,
        "queued",
        "scripted:/nowhere.json",
    )


def test_a_message_by_hand_runs_nothing(runtime: Runtime) -> None:
    assert runtime.send("by hand", role="assistant").runs == ()
    assert runtime.send("no run", run=False).runs == ()
    assert runtime.runs() == []


def test_several_models_answer_one_message_and_the_first_leads(runtime: Runtime, tmp_path: Path) -> None:
    both = [script(tmp_path, {"text": "yes"}, name=file) for file in ("a.json", "b.json")]
    sent = runtime.send("who?", models=both)
    assert [run.model for run in reversed(runtime.runs())] == both
    assert {run.start for run in runtime.runs()} == {sent.node.id}
    with pytest.raises(LimitExceeded):
        runtime.send("all?", at=sent.node.id, models=both[:1] * (limits.models_of_one_message_max + 1))


@pytest.mark.parametrize("words", [{"run": False}, {"role": "assistant"}])
def test_words_that_nobody_answers_do_not_wait_for_a_run(runtime: Runtime, words: dict[str, Any]) -> None:
    sent = runtime.send("one")
    with pytest.raises(Conflict, match="is at work here, and words that nobody answers") as refused:
        runtime.send("two", **words)
    assert refused.value.facts == {"run": sent.runs[0]}
    assert f"forkwood resume {sent.runs[0][-8:]}" in refused.value.hint
    assert (texts(runtime), runtime.queue()) == (["one"], [])


def test_an_edited_reply_needs_no_model_to_be_reached(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    runtime.house.settings = Settings(home="/nowhere")
    runtime.house.default_model = lambda: pytest.fail("a model was looked for")  # type: ignore[method-assign]
    assert runtime.edit(ids[1], "a1 by hand").runs == ()
    assert runtime.edit(ids[0], "q1'", run=False).runs == ()


def test_what_holds_a_credential_is_kept_as_typed_and_warned_of(runtime: Runtime, tmp_path: Path) -> None:
    secret = "a-value-of-a-token"
    runtime.house.environ = {**runtime.house.environ, "MY_TOKEN": secret, "SHORT_KEY": "ollama"}
    note = tmp_path / "note.txt"
    note.write_text(f"token={secret}")
    sent = runtime.send(f"use {secret} with ollama", attach=[note], run=False)
    assert sent.warnings == (
        "the text holds the value of MY_TOKEN; it is kept and sent as it is",
        "note.txt holds the value of MY_TOKEN; it is kept and sent as it is",
    )
    assert sent.node.text == f"use {secret} with ollama"
    assert runtime.edit(sent.node.id, f"{secret}!", run=False).warnings == sent.warnings[:1]
    assert runtime.edit("@", f"{secret}!", keep=True).warnings == sent.warnings[:1]
    assert runtime.send("nothing", run=False).warnings == ()


def test_windie_17_an_edit_is_a_sibling_and_nothing_below_the_old_one_changes(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    edited = runtime.edit(ids[0], "q1'", run=False)
    assert texts(runtime) == ["q1'"]
    assert texts(runtime, ids[3]) == ["q1", "a1", "q2", "a2"]
    assert (edited.replaced, edited.node.revises) == (ids[0], ids[0])
    [entry] = runtime.path()
    assert (entry.siblings.index, entry.siblings.count, entry.siblings.ids) == (2, 2, (ids[0], edited.node.id))


def test_an_edited_user_message_is_answered_unless_told_not_to(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    assert len(runtime.edit(ids[2], "q2'").runs) == 1
    assert runtime.edit(ids[2], "q2''", run=False).runs == ()
    assert runtime.edit(ids[1], "a1'").runs == ()


def test_keep_carries_what_followed_and_runs_nothing(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    kept = runtime.edit(ids[1], "a1'", keep=True)
    assert texts(runtime) == ["q1", "a1'", "q2", "a2"]
    assert kept.kept is not None
    assert kept.runs == ()
    path = runtime.path()
    assert [entry.graft for entry in path] == [None, None, kept.kept, kept.kept]
    assert [entry.node.id for entry in path[2:]] == ids[2:]
    twice = runtime.edit(ids[2], "q2'", keep=True)
    assert texts(runtime) == ["q1", "a1'", "q2'", "a2"]
    assert twice.replaced == ids[2]


def test_pain_1_editing_message_3_of_40_loses_no_row(runtime: Runtime) -> None:
    ids = said(runtime, *(f"m{number}" for number in range(40)))
    edited = runtime.edit(ids[2], "m2'", run=False)
    assert texts(runtime, ids[39]) == [f"m{number}" for number in range(40)]
    assert texts(runtime) == ["m0", "m1", "m2'"]
    assert {branch.leaf for branch in runtime.branches()} == {ids[39], edited.node.id}


def test_pain_2_editing_a_reply_leaves_its_tail_on_the_old_branch(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.edit(ids[1], "a1 by hand")
    assert texts(runtime) == ["q1", "a1 by hand"]
    assert texts(runtime, ids[3]) == ["q1", "a1", "q2", "a2"]
    [entry] = runtime.path()[1:]
    assert (entry.node.role, entry.node.origin.by) == ("assistant", "user")


def test_what_depends_on_what_follows_needs_a_branch(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.edit(ids[0], "other", run=False)
    with pytest.raises(Refused, match="not on the head's path") as refused:
        runtime.edit(ids[1], "a1'", keep=True)
    assert "--on" in refused.value.hint
    runtime.edit(ids[1], "a1'", keep=True, on=ids[3])
    assert texts(runtime) == ["q1", "a1'", "q2", "a2"]


def test_retry_of_a_reply_begins_before_it_and_of_a_user_message_behind_it(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    [run] = runtime.retry(ids[1]).runs
    assert next(one for one in runtime.runs() if one.id == run).start == ids[0]
    [run] = runtime.retry(ids[0]).runs
    assert next(one for one in runtime.runs() if one.id == run).start == ids[0]
    assert runtime.conversation().head == ids[0]


def test_a_first_reply_answers_nothing(runtime: Runtime) -> None:
    reply = runtime.send("I begin", role="assistant").node.id
    with pytest.raises(Refused, match="first message"):
        runtime.retry(reply)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("", Misused, "empty"),
        (" \n\t ", Misused, "empty"),
        ("a\ud83d", Misused, "not valid Unicode"),
        ("x" * (limits.message_bytes_max + 1), LimitExceeded, "over the limit"),
    ],
    ids=["empty", "blank", "surrogate", "too long"],
)
def test_what_cannot_be_said_changes_nothing(runtime: Runtime, text: str, kind: type[Exception], words: str) -> None:
    before = len(list(runtime.log()))
    with pytest.raises(kind, match=words):
        runtime.send(text)
    with pytest.raises(kind, match=words):
        runtime.edit("@", text)
    assert runtime.path() == []
    assert len(list(runtime.log())) == before


def test_the_longest_message_is_kept_whole(runtime: Runtime) -> None:
    longest = "é" * (limits.message_bytes_max // 2)
    assert runtime.send(longest, run=False).node.text == longest


def test_files_go_with_a_message(runtime: Runtime, tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n...")
    note = tmp_path / "note.txt"
    note.write_text("hello")
    sent = runtime.send("look", attach=[picture, note], run=False)
    kinds = [(part.media, part.mime, part.size) for part in sent.node.parts if isinstance(part, Attachment)]
    assert kinds == [("image", "image/png", 11), ("file", "text/plain", 5)]
    assert runtime.send("", attach=[note], run=False).node.text == ""
    with pytest.raises(NotFound, match="no file"):
        runtime.send("look", attach=[tmp_path / "missing"])


def test_nobody_speaks_into_the_trash(runtime: Runtime) -> None:
    [first] = said(runtime, "q1")
    here = runtime.conversation().id
    runtime.hide(here)
    verbs: list[Callable[[], object]] = [
        lambda: runtime.send("q2"),
        lambda: runtime.edit(first, "q1'"),
        lambda: runtime.retry(first),
    ]
    for verb in verbs:
        with pytest.raises(Refused, match="in the trash") as refused:
            verb()
        assert "unhide" in refused.value.hint
    runtime.unhide(here)
    assert texts(runtime) == ["q1"]


def test_the_first_words_begin_a_conversation() -> None:
    runtime = door()
    sent = runtime.send("hello", run=False, key="k")
    assert (runtime.conversation().title, texts(runtime)) == ("hello", ["hello"])
    assert runtime.send("hello", run=False, key="k") == sent
    assert len(runtime.listed()) == 1


def test_a_send_that_comes_again_begins_no_conversation_where_none_is_current() -> None:
    runtime = door()
    first = runtime.send("hello", run=False, key="k")
    with runtime.house.store.write() as tx:
        tx.run("DELETE FROM current")
    assert runtime.send("hello", run=False, key="k") == first
    assert [row.id for row in runtime.listed()] == [first.conversation]
    with pytest.raises(Conflict):
        runtime.send("another", run=False, key="k")
    assert len(runtime.listed()) == 1
