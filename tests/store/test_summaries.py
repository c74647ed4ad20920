"""Summaries in the store, in prompts, and after a purge; edited-away text is in no prompt with one in use."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from forkwood.domain.errors import NotFound
from forkwood.domain.settings import Settings
from forkwood.domain.summary import Summary
from forkwood.runtime import Runtime
from forkwood.store import conversations, places, summaries
from forkwood.store.opening import open_store
from tests.runtime.doors import NOON, answered, door, said, script


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = door(open_store(home, now_ms=NOON), Settings(home=str(home), model="scripted:/nowhere.json"))
    runtime.new(title="t")
    return runtime


def summarise(runtime: Runtime, entries: int, text: str) -> Summary:
    with runtime.house.store.write() as tx:
        here = conversations.current(tx)
        assert here is not None
        beginning = places.said(tx, conversations.head(tx, here))[:entries]
        return summaries.add(tx, here, beginning, text, id=runtime.house.new_id(), now_ms=NOON)


def prompted(runtime: Runtime, tmp_path: Path, text: str) -> tuple[str, str]:
    """Say TEXT; the reply, and the prompt it was made from, spelled out."""
    node = answered(runtime, runtime.send(text, models=[script(tmp_path, {"text": f"to {text}"})])).node
    assert node is not None
    why = runtime.why(node)
    assert why.verified is True
    return node, str(why.prompt)


def test_a_summary_stands_for_the_beginning_and_why_names_it(runtime: Runtime, tmp_path: Path) -> None:
    said(runtime, "about bread", "flour", "and water", "some")
    summary = summarise(runtime, 4, "they baked")
    node, prompt = prompted(runtime, tmp_path, "how long?")
    assert "they baked" in prompt
    assert "about bread" not in prompt
    recipe = runtime.why(node).recipe
    assert recipe is not None
    assert recipe["summary"] == summary.id
    assert recipe["first_entry"] == runtime.path()[4].node.id


def test_after_a_kept_edit_no_edited_away_text_is_in_any_prompt_also_with_a_summary(
    runtime: Runtime, tmp_path: Path
) -> None:
    ids = said(runtime, "the secret ingredient is rye", "noted", "q2", "a2")
    summarise(runtime, 4, "rye, they said")
    _, before = prompted(runtime, tmp_path, "q3")
    assert "rye, they said" in before
    runtime.edit(ids[0], "the ingredient is wheat", keep=True)
    _, after = prompted(runtime, tmp_path, "q4")
    assert "rye" not in after
    assert "wheat" in after


def test_after_a_hide_it_is_not_used_and_after_unhide_it_is_again(runtime: Runtime, tmp_path: Path) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    summarise(runtime, 4, "the sum")
    first, _ = prompted(runtime, tmp_path, "q3")
    runtime.hide(ids[1])
    _, without = prompted(runtime, tmp_path, "q4")
    assert "the sum" not in without
    runtime.unhide(ids[1])
    _, again = prompted(runtime, tmp_path, "q5")
    assert "the sum" in again
    assert runtime.why(first).verified is True


def test_pain_18_a_fork_of_a_summarised_branch_sees_every_original(runtime: Runtime) -> None:
    said(runtime, "q1", "a1", "q2")
    summarise(runtime, 2, "the sum")
    runtime.fork("@")
    assert [entry.node.text for entry in runtime.path()] == ["q1", "a1", "q2"]


def test_pain_20_the_transcript_is_unchanged_by_a_summary(runtime: Runtime, tmp_path: Path) -> None:
    said(runtime, "q1", "a1", "q2", "a2")
    before = [entry.node.id for entry in runtime.path()]
    summarise(runtime, 4, "the sum")
    prompted(runtime, tmp_path, "q3")
    assert [entry.node.id for entry in runtime.path()][:4] == before


def test_only_purge_removes_one_and_why_says_so(runtime: Runtime, tmp_path: Path) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    summary = summarise(runtime, 4, "the sum")
    node, _ = prompted(runtime, tmp_path, "q3")
    runtime.purge([ids[1]])
    with runtime.house.store.read() as tx, pytest.raises(NotFound, match="was purged"):
        summaries.get(tx, summary.id)
    why = runtime.why(node)
    assert why.verified is None
    assert why.reason == "purged"


def test_a_summary_never_changes(runtime: Runtime) -> None:
    said(runtime, "q1", "a1")
    summary = summarise(runtime, 2, "the sum")
    with runtime.house.store.read() as tx:
        assert summaries.get(tx, summary.id) == summary
    with pytest.raises(apsw.ConstraintError, match="summaries never change"), runtime.house.store.write() as tx:
        tx.run("UPDATE summary SET text = 'other'")
