"""Purge: a title goes with the messages it was made of, whoever made it of them, and wherever it was handed on."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.message import Text
from forkwood.domain.model import Reply
from forkwood.runtime import Runtime
from tests.runtime import seeded
from tests.runtime.doors import answered, said, script
from tests.runtime.seeded import MARKER, assert_gone


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = seeded.opened(home)
    runtime.new()
    return runtime


def test_titles_made_of_a_purged_message_go_with_it_also_in_forks(runtime: Runtime) -> None:
    ids = said(runtime, MARKER, "a1")
    fork = runtime.fork(ids[1])
    assert fork.title == f"{MARKER} (fork)"
    runtime.drop(ids[0])
    runtime.purge([ids[0]], everywhere=True)
    assert_gone(runtime)
    assert [row.title for row in runtime.listed()] == ["", ""]


def test_a_title_by_the_model_goes_with_the_messages_it_was_made_of(home: Path, tmp_path: Path) -> None:
    runtime = seeded.opened(home, title_by_model=True)
    conversation = runtime.new().id
    replies = ({"match": "Give this conversation a title", "text": f"All on {MARKER}"}, {"text": MARKER})
    reply = answered(runtime, runtime.send("tell me", models=[script(tmp_path, *replies)])).node
    assert reply is not None
    assert runtime.conversation().title == f"All on {MARKER}"
    runtime.fork(reply)
    runtime.undo()
    runtime.purge([reply], everywhere=True)
    assert_gone(runtime)
    assert runtime.path(conversation=conversation)[0].node.text == "tell me"
    assert [row.title for row in runtime.listed()] == [""]


def test_a_title_made_of_a_files_name_goes_with_the_message(runtime: Runtime, tmp_path: Path) -> None:
    note = tmp_path / f"{MARKER}.txt"
    note.write_text("what it says")
    node = runtime.send("", attach=[note], run=False).node.id
    assert runtime.conversation().title == f"{MARKER}.txt"
    runtime.undo()
    runtime.redo()
    runtime.purge([node])
    assert_gone(runtime)
    assert runtime.conversation().title == ""


def test_a_title_that_a_person_gave_stays_whatever_the_model_was_asked(home: Path, tmp_path: Path) -> None:
    runtime = seeded.opened(home, title_by_model=True)
    runtime.new(title="mine")
    reply = answered(runtime, runtime.send(MARKER, models=[script(tmp_path, {"text": "a1"})])).node
    assert reply is not None
    runtime.purge([reply, "#1"])
    assert_gone(runtime)
    assert runtime.conversation().title == "mine"


@pytest.mark.parametrize("fails", [False, True])
def test_a_title_that_comes_after_the_purge_of_what_it_was_made_of_is_not_kept(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    runtime = seeded.opened(home, title_by_model=True)
    runtime.new()

    async def late(*_: object) -> Reply:
        runtime.purge(["#1", "#2"])
        if fails:
            raise ProviderFailed("refused", f"no title for {MARKER}")
        return Reply(parts=(Text(text=f"All on {MARKER}"),))

    monkeypatch.setattr("forkwood.runtime.titling.heard", late)
    answered(runtime, runtime.send(MARKER, models=[script(tmp_path, {"text": MARKER})]))
    assert runtime.conversation().title == ""
    assert_gone(runtime)
