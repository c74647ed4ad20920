"""Promises 1 to 11, 38 and 39 of an earlier program: the store, conversations and their settings, by our rules."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import apsw
import pytest

from forkwood.domain.conversation import ConversationSettings
from forkwood.domain.errors import Misused, NotFound
from forkwood.runtime import Runtime
from forkwood.store import backups, conversations, migrate, opening
from forkwood.store.migrations import APPLICATION_ID, OLDEST_VERSION, SCHEMA_VERSION, Migration, shipped
from tests.reference.houses import again, asked, entered
from tests.runtime.doors import NOON, said, texts
from tests.surfaces.cli.desks import run_cli


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = entered(home)
    runtime.new(title="t")
    return runtime


def test_windie_1_a_fresh_store_is_signed_and_has_its_named_indexes(home: Path, runtime: Runtime) -> None:
    runtime.close()
    plain = sqlite3.connect(home / "forkwood.db")
    assert plain.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    assert plain.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    names = {name for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}
    assert names >= {"node_child", "node_conversation", "node_ending"}
    plain.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("PRAGMA user_version = 99", ["version 99", f"versions {OLDEST_VERSION} to {SCHEMA_VERSION}"]),
        ("PRAGMA user_version = 0", ["version 0", f"versions {OLDEST_VERSION} to {SCHEMA_VERSION}"]),
        ("PRAGMA user_version = 0; PRAGMA application_id = 0", ["neither whose nor of what version"]),
    ],
    ids=["newer", "too old", "unversioned"],
)
def test_windie_2_other_versions_are_refused_by_name_and_left_untouched(
    home: Path, runtime: Runtime, statement: str, words: list[str]
) -> None:
    said(runtime, "kept")
    runtime.close()
    plain = sqlite3.connect(home / "forkwood.db")
    plain.executescript(statement)
    plain.close()
    before = (home / "forkwood.db").read_bytes()
    ran = run_cli("ls", "--json")
    assert ran.code == 7
    assert all(word in ran.value["error"]["message"] for word in words)
    assert ran.value["error"]["hint"]
    assert (home / "forkwood.db").read_bytes() == before


def test_windie_3_the_version_before_is_brought_up_to_the_current_one(
    home: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: every older version from OLDEST_VERSION on, each step after a backup."""
    said(runtime, "kept")
    runtime.close()
    step = Migration(version=SCHEMA_VERSION + 1, name="next", sql="ALTER TABLE conversation ADD COLUMN colour TEXT")
    steps = (*shipped(), step)
    for module in (opening, migrate):
        monkeypatch.setattr(module, "shipped", lambda: steps, raising=False)
    monkeypatch.setattr(opening, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    opening.open_store(home, now_ms=NOON).close()
    plain = sqlite3.connect(home / "forkwood.db")
    assert plain.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION + 1,)
    assert plain.execute("SELECT parts ->> '$[0].text' FROM node").fetchall() == [("kept",)]
    assert len(backups.kept(home)) == 1
    plain.close()


def test_windie_4_no_two_conversations_have_one_id(runtime: Runtime) -> None:
    made = {runtime.new().id for _ in range(50)}
    assert len(made) == 50
    settings = ConversationSettings()
    with pytest.raises(apsw.ConstraintError), runtime.house.store.write() as tx:
        conversations.create(tx, made.pop(), NOON, title="", titled_by="rule", settings=settings)
    assert len(runtime.listed()) == 51


def test_windie_5_a_model_is_kept_and_listed_and_a_blank_one_is_the_default(runtime: Runtime) -> None:
    """Ours: a blank model is no model of its own, and the program's choice answers; what nobody knows is refused."""
    assert runtime.new(model="scripted:/a.json").model == "scripted:/a.json"
    runtime = again(runtime)
    assert runtime.listed()[0].model == "scripted:/a.json"
    with pytest.raises(NotFound):
        runtime.set("model", "nobody-knows:this")
    assert runtime.conversation().model == "scripted:/a.json"
    assert runtime.set("model", "  ").conversation.model is None
    assert runtime.new(model="").model is None


def test_windie_6_effort_is_kept_and_can_be_cleared(runtime: Runtime) -> None:
    """Ours: a value is taken as it is spelled."""
    runtime.set("effort", "high")
    runtime = again(runtime)
    assert runtime.conversation().params.effort == "high"
    for value in ("enormous", " low "):
        with pytest.raises(Misused, match="low, medium, high"):
            runtime.set("effort", value)
    assert runtime.conversation().params.effort == "high"
    assert runtime.set("effort", "none").conversation.params.effort is None


def test_windie_7_another_model_leaves_the_effort_as_it_was_set(runtime: Runtime) -> None:
    """Ours: settings change only where somebody changes them; which of them a model takes is its dialect's to know."""
    runtime.set("effort", "high")
    changed = runtime.set("model", "scripted:/b.json").conversation
    assert (changed.model, changed.params.effort) == ("scripted:/b.json", "high")
    runtime.undo()
    assert (runtime.conversation().model, runtime.conversation().params.effort) == (None, "high")


def test_windie_8_approvals_are_asked_for_unless_that_is_changed(runtime: Runtime) -> None:
    assert runtime.conversation().approvals == "ask"
    runtime.set("approvals", "allow-edits")
    runtime = again(runtime)
    assert runtime.conversation().approvals == "allow-edits"
    with pytest.raises(Misused, match="ask, allow-edits, allow-all"):
        runtime.set("approvals", "whatever")
    assert runtime.conversation().approvals == "allow-edits"


def test_windie_9_the_list_tells_how_much_was_said(runtime: Runtime, tmp_path: Path) -> None:
    """Ours: the replies and what they took, which one table tells; a count of messages would differ per branch."""
    asked(runtime, tmp_path, "q1", usage={"input": 5, "output": 2})
    asked(runtime, tmp_path, "q2", usage={"input": 9, "output": 4})
    used = runtime.listed()[0].usage
    assert (used.turns, used.input, used.output) == (2, 14, 6)
    assert [branch.length for branch in runtime.branches()] == [4]


def test_windie_10_a_system_prompt_is_sent_as_it_stands_and_earlier_ones_stay_readable(
    runtime: Runtime, tmp_path: Path
) -> None:
    runtime.set("system", "Be brief.")
    first = asked(runtime, tmp_path, "q1")
    runtime.set("system", "Be long.")
    second = asked(runtime, tmp_path, "q2")
    runtime.set("system", "")
    third = asked(runtime, tmp_path, "q3")
    sent = [runtime.why(node).prompt for node in (first, second, third)]
    assert [prompt and prompt.system for prompt in sent] == ["Be brief.", "Be long.", None]
    changes = [event.payload for event in runtime.log() if event.kind == "setting.changed"]
    assert [change["effects"][0]["after"] for change in changes] == ["Be brief.", "Be long.", None]
    with pytest.raises(NotFound):
        runtime.set("system", "x", conversation="0" * 32)


def test_windie_11_prompt_and_tools_are_the_same_from_every_head(runtime: Runtime, tmp_path: Path) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.set("system", "Be brief.")
    runtime.set("tools", "-recall")
    replies = [asked(runtime, tmp_path, f"from {node[-4:]}", at=node) for node in ids]
    manifests = [runtime.why(node).manifest for node in replies]
    told = {(found["system"], str(found["tools"]), str(found["tools_off"])) for found in manifests if found}
    assert len(manifests) == 4
    assert [system for system, _, _ in told] == ["Be brief."], "one prompt, one list of tools"
    assert {off for _, _, off in told} == {"['recall']"}


def test_windie_38_a_fork_shares_path_and_settings_and_leaves_the_source_as_it_was(
    runtime: Runtime, tmp_path: Path
) -> None:
    """Ours: the messages are shared, not copied: same ids, one new row."""
    for setting, value in (("system", "Be brief."), ("effort", "high"), ("approvals", "allow-edits")):
        runtime.set(setting, value)
    runtime.set("model", "scripted:/a.json")
    runtime.set("tools", "-recall")
    ids = said(runtime, "q1", "a1", "q2", "a2")
    source, tree = runtime.conversation(), runtime.tree()
    fork = runtime.fork(ids[1])
    assert (fork.system, fork.params, fork.approvals, fork.model, fork.tools_off) == (
        source.system,
        source.params,
        source.approvals,
        source.model,
        source.tools_off,
    )
    assert [entry.node.id for entry in runtime.path()] == ids[:2]
    assert len(runtime.tree()) == 1
    runtime.edit(ids[0], "q1'", run=False)
    assert (runtime.conversation(source.id), runtime.tree(conversation=source.id)) == (source, tree)


def test_windie_38_a_fork_of_another_conversations_message_forks_that_conversation(runtime: Runtime) -> None:
    """Ours: it is not refused; what is copied is of the conversation whose path is shared."""
    runtime.set("system", "Be brief.")
    ids = said(runtime, "q1", "a1")
    source = runtime.conversation()
    runtime.new(title="other", system="Be long.")
    fork = runtime.fork(ids[1])
    assert (fork.title, fork.system) == ("t (fork)", "Be brief.")
    assert fork.forked_from is not None
    assert (fork.forked_from.conversation, fork.forked_from.node) == (source.id, ids[1])
    assert texts(runtime) == ["q1", "a1"]


def test_windie_39_a_purged_conversation_is_gone_and_a_missing_one_is_refused(runtime: Runtime) -> None:
    """Ours: deleting is hiding, which is taken back; destroying is a purge. Summaries go with what they stand for."""
    said(runtime, "q1")
    here = runtime.conversation().id
    runtime.hide(here)
    assert runtime.listed() == []
    runtime.unhide(here)
    assert texts(runtime) == ["q1"]
    runtime.purge([here])
    assert (runtime.listed(), runtime.trash().conversations) == ([], ())
    assert runtime.purge([here]).conversations == (here,), "the same purge again, which finishes what was cut short"
    with pytest.raises(NotFound):
        runtime.purge(["0" * 32])
    with pytest.raises(NotFound):
        runtime.hide(here)
