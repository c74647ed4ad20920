"""New versions keep what nobody said anew; what nobody can say anew has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import Refused
from forkwood.domain.message import Attachment, ToolCall
from forkwood.runtime import Runtime
from tests.runtime.doors import door, said, with_tools


@pytest.fixture
def runtime() -> Runtime:
    runtime = door()
    runtime.new()
    return runtime


def test_windie_25_an_edit_replaces_text_and_keeps_attachments(runtime: Runtime, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("hello")
    sent = runtime.send("look", attach=[note], run=False)
    edited = runtime.edit(sent.node.id, "see", run=False)
    assert edited.node.text == "see"
    assert [part for part in edited.node.parts if isinstance(part, Attachment)] == [sent.node.parts[1]]


def test_windie_16_a_reply_edited_with_its_calls_keeps_calls_and_results(runtime: Runtime) -> None:
    ids = with_tools(runtime)
    edited = runtime.edit(ids[1], "let me look", keep=True)
    path = runtime.path()
    assert [entry.node.role for entry in path] == ["user", "assistant", "tool", "assistant"]
    assert path[1].node.id == edited.node.id
    assert [part.name for part in edited.node.parts if isinstance(part, ToolCall)] == ["current_time"]
    assert [entry.node.id for entry in path[2:]] == ids[2:]


def test_results_are_nobodys_words(runtime: Runtime) -> None:
    ids = with_tools(runtime)
    with pytest.raises(Refused, match="results of tools"):
        runtime.edit(ids[2], "midnight", run=False)


@pytest.mark.parametrize("keep", [False, True])
def test_what_was_purged_cannot_be_edited(runtime: Runtime, keep: bool) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    runtime.purge([ids[1]])
    before = len(list(runtime.log())), runtime.tree()
    with pytest.raises(Refused, match="was purged: there is nothing to edit") as refused:
        runtime.edit(ids[1], "a1'", keep=keep)
    assert "--at" in refused.value.hint
    assert (len(list(runtime.log())), runtime.tree()) == before
