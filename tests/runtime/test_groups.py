"""Tool groups behind grafts, those of edited replies: every verb that names either member means both and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import Refused
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from tests.runtime.doors import answered, door, said, script, texts, with_tools


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    runtime = door(settings=Settings(home=str(tmp_path), model="scripted:/nowhere.json"))
    runtime.new()
    return runtime


def regrouped(runtime: Runtime) -> tuple[list[str], str]:
    """q1, a reply with a call, its results, a2; the reply edited, what followed kept: the ids, and the new reply's."""
    ids = with_tools(runtime)
    return ids, runtime.edit(ids[1], "edited", keep=True).node.id


def path(runtime: Runtime, node: str | None = None, *, hidden: bool = False) -> list[str]:
    return [entry.node.id for entry in runtime.path(node, hidden=hidden)]


MEMBERS = pytest.mark.parametrize("member", ["reply", "results"])


@MEMBERS
def test_a_group_is_dropped_whole(runtime: Runtime, member: str) -> None:
    (q, _, results, after), edited = regrouped(runtime)
    runtime.drop(edited if member == "reply" else results)
    assert path(runtime) == [q, after]


@MEMBERS
def test_a_group_is_hidden_and_shown_whole_and_the_old_reply_stays(runtime: Runtime, member: str) -> None:
    (q, reply, results, after), edited = regrouped(runtime)
    name = edited if member == "reply" else results
    assert runtime.hide(name).nodes == (edited,)
    assert path(runtime) == [q, after]
    assert [entry.node.hidden for entry in runtime.path(hidden=True)] == [False, True, True, False]
    assert [one.node.id for one in runtime.path(reply)] == [q, reply, results], "the branch of the old version"
    assert runtime.unhide(name).nodes == (edited,)
    assert path(runtime) == [q, edited, results, after]


def test_the_old_group_is_hidden_and_the_new_one_stays(runtime: Runtime) -> None:
    (q, reply, results, after), edited = regrouped(runtime)
    assert runtime.hide(reply).nodes == (reply, results)
    assert path(runtime) == [q, edited, results, after]
    assert [entry.siblings.index for entry in runtime.path()] == [1, 1, 1, 1]
    assert runtime.show("@~1").node.id == results, "it is counted among the visible"
    runtime.switch(reply)
    assert path(runtime, reply) == [q]
    runtime.undo()
    runtime.undo()
    assert path(runtime, reply) == [q, reply, results]


def test_a_hidden_group_is_not_counted(runtime: Runtime) -> None:
    (q, _, _, _), edited = regrouped(runtime)
    runtime.hide(edited)
    assert runtime.show("@~1").node.id == q
    runtime.undo()
    assert runtime.show("@~2").node.id == edited


@MEMBERS
def test_the_head_does_not_stand_between(runtime: Runtime, member: str) -> None:
    (q, _, results, _), edited = regrouped(runtime)
    runtime.switch(edited if member == "reply" else results, here=True)
    assert path(runtime) == [q, edited, results]
    runtime.send("go on", run=False)
    assert texts(runtime)[-1] == "go on" and path(runtime)[:3] == [q, edited, results]


@MEMBERS
def test_a_group_is_carried_and_forked_whole(runtime: Runtime, member: str) -> None:
    (q, _, results, _), edited = regrouped(runtime)
    name, here = edited if member == "reply" else results, runtime.conversation().id
    runtime.fork(name)
    assert path(runtime) == [q, edited, results]
    runtime.new()
    said(runtime, "elsewhere")
    runtime.graft(name, on=edited)
    assert path(runtime)[1:] == [edited, results]
    runtime.drop(results)
    assert texts(runtime) == ["elsewhere"], "also where it came through two grafts"
    runtime.use(here)
    runtime.switch(q, here=True)
    runtime.graft(edited, results, on=edited)
    assert path(runtime) == [q, edited, results]


@MEMBERS
def test_every_version_of_a_group_is_purged(runtime: Runtime, member: str) -> None:
    (_, reply, results, _), edited = regrouped(runtime)
    report = runtime.purge([edited if member == "reply" else results])
    assert set(report.nodes) == {reply, results, edited}
    assert [entry.node.purged for entry in runtime.path()] == [False, True, True, False]
    assert set(runtime.purge([results]).nodes) == {reply, results, edited}, "a husk is named like a message"
    runtime.drop("@~1")
    assert texts(runtime) == ["q1", "noon it is"], "and husks are still a group"


@MEMBERS
def test_another_reply_stands_in_the_place_of_the_group(runtime: Runtime, tmp_path: Path, member: str) -> None:
    (q, _, results, _), edited = regrouped(runtime)
    model = script(tmp_path, {"text": "another"})
    answered(runtime, runtime.retry(edited if member == "reply" else results, models=[model]))
    assert (path(runtime)[:-1], texts(runtime)) == ([q], ["q1", "another"])


def test_a_new_version_of_a_new_version_has_the_results_too(runtime: Runtime) -> None:
    (q, _, results, after), edited = regrouped(runtime)
    third = runtime.edit(edited, "edited again", keep=True).node.id
    assert path(runtime) == [q, third, results, after]
    fourth = runtime.edit(third, "and again").node.id
    assert path(runtime) == [q, fourth, results]
    with pytest.raises(Refused, match="results of tools"):
        runtime.edit(results, "no")
    for _ in range(3):
        runtime.undo()
    assert texts(runtime) == ["q1", "let me see", "", "noon it is"]


def test_a_group_is_hidden_while_a_run_is_at_work_below_another_version(runtime: Runtime, tmp_path: Path) -> None:
    (q, reply, results, _), edited = regrouped(runtime)
    runtime.send("and now?", models=[script(tmp_path, {"text": "later"})])
    for name in (edited, results):
        with pytest.raises(Refused, match="at work"):
            runtime.hide(name)
    assert runtime.hide(reply).nodes == (reply, results)
    runtime.undo()
    runtime.redo()
    assert path(runtime, reply) == [q]
    assert edited in path(runtime)
