"""Promises 53 to 56, 73 to 76, 82, 83, 87 and 93 of an earlier program: what it called sessions, by our rules."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from forkwood.domain import joins
from forkwood.domain.budget import estimate
from forkwood.domain.errors import NotFound
from forkwood.runtime import Runtime
from forkwood.surfaces.cli.app import COMMANDS
from tests.domain.paths import FILES, GOLDEN, manifest
from tests.reference.houses import again, asked, entered, prompted
from tests.runtime.askers import Asking, Writer, calls, driven
from tests.runtime.doors import answered, said, script, texts
from tests.surfaces.cli.desks import succeed

OFFERED = ["ask_user", "current_time", "recall", "remember", "search_conversations"]


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = entered(home)
    runtime.new(title="t")
    return runtime


@pytest.fixture
def house(home: Path) -> Iterator[Asking]:
    made = Asking(home, Writer("edit"), Writer("build"))
    yield made
    made.close()


def test_windie_53_a_run_says_where_it_begins_who_answers_and_that_nobody_has_begun_it(
    runtime: Runtime, tmp_path: Path
) -> None:
    model = script(tmp_path, {"text": "yes"})
    started = runtime.send("q1", models=[model])
    (run,) = runtime.runs()
    assert (run.id, run.status, run.model) == (started.runs[0], "queued", model)
    assert (run.start, run.tip, run.turns) == (started.node.id, started.node.id, 0)
    runtime.set("model", "scripted:/b.json")
    runtime.switch(started.node.id, here=True)
    (run,) = again(runtime).runs()
    assert (run.status, run.model, run.start) == ("queued", model, started.node.id)


def test_windie_54_a_length_is_that_of_the_whole_path_what_was_taken_over_too(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    runtime.fork(ids[1])
    said(runtime, "mine")
    assert [entry.node.length for entry in runtime.path()] == [1, 2, 3]
    assert (texts(runtime), len(runtime.tree())) == (["q1", "a1", "mine"], 2), "one row took two messages over"


def test_windie_55_one_none_and_several_that_could_be_meant_are_told_apart(runtime: Runtime) -> None:
    with pytest.raises(NotFound) as none:
        runtime.show("@")
    assert "candidates" not in none.value.facts
    runtime.house.chance = lambda size: b"\7" * size
    ids = said(runtime, "q1", "a1")
    with pytest.raises(NotFound) as several:
        runtime.show(ids[0][-6:])
    assert several.value.facts["candidates"] == ids
    assert runtime.show("@").node.id == ids[1], "of heads there is one in each conversation"


def test_windie_56_a_send_joins_the_run_at_work_and_one_key_is_one_run(runtime: Runtime) -> None:
    first = runtime.send("q1", key="k")
    assert runtime.send("q1", key="k").runs == first.runs
    joined = runtime.send("q2")
    assert (joined.runs, joined.node.id, len(runtime.runs())) == ((), first.node.id, 1)
    runtime.cancel(first.runs[0])
    beside = runtime.send("q3", at=first.node.id)
    assert beside.runs not in {(), first.runs}, "what is over is not gone on with: each send begins its own"


def test_windie_73_74_75_a_purge_leaves_every_conversation_and_its_head(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2")
    source = runtime.conversation()
    fork = runtime.fork(ids[2])
    runtime.purge([ids[2]], everywhere=True)
    assert [one.id for one in runtime.listed()] == [fork.id, source.id]
    assert {runtime.conversation(one.id).head for one in (fork, source)} == {fork.head, source.head}
    for one in (fork, source):
        assert [entry.node.text for entry in runtime.path(conversation=one.id)] == ["q1", "a1", ""]
    alone = runtime.new(title="alone")
    [only] = said(runtime, "only")
    runtime.purge([only])
    assert (runtime.conversation().id, runtime.conversation().head) == (alone.id, only)
    said(runtime, "on")
    runtime = again(runtime)
    assert texts(runtime) == ["", "on"]
    runtime.purge([ids[0]], everywhere=True)
    rest = [entry.node.text for entry in runtime.path(ids[1], conversation=source.id)]
    assert rest == ["", "a1"], "without its beginning the rest stands as it stood"


def test_windie_76_going_back_moves_the_head_and_the_next_send_runs_from_there(
    runtime: Runtime, tmp_path: Path
) -> None:
    first, later = asked(runtime, tmp_path, "q1"), asked(runtime, tmp_path, "q2")
    assert runtime.switch(first, here=True).head == first
    reply = asked(runtime, tmp_path, "q3")
    assert [words for _, words in prompted(runtime, reply)] == ["q1", "re: q1", "q3"]
    assert texts(runtime, later) == ["q1", "re: q1", "q2", "re: q2"]


def test_windie_82_the_programs_tools_are_sealed_with_the_run_and_kept_with_no_conversation(
    runtime: Runtime, tmp_path: Path
) -> None:
    def offered(reply: str) -> list[str]:
        return [tool["spec"]["name"] for tool in (runtime.why(reply).manifest or {})["tools"]]

    first = asked(runtime, tmp_path, "q1")
    runtime.set("tools", "-remember")
    runtime.set("system", "Be brief.")
    second = asked(runtime, tmp_path, "q2")
    assert (offered(first), offered(second)) == (OFFERED, [name for name in OFFERED if name != "remember"])
    assert runtime.conversation().tools_off == ("remember",)
    with runtime.house.store.read() as tx:
        found = tx.one("SELECT * FROM conversation")
    assert found is not None and "current_time" not in repr(found)
    assert [role for role, _ in prompted(runtime, second)] == ["user", "assistant", "user"], "no line was put behind"


def test_windie_83_tools_count_without_a_word_said_and_why_shows_all_in_order(runtime: Runtime, tmp_path: Path) -> None:
    prompt = joins.build(GOLDEN["tools"], manifest(), files=FILES)
    bare = replace(prompt, messages=(), system=None)
    assert estimate(bare) > estimate(replace(bare, tools=())) >= 0
    runtime.set("system", "Be brief.")
    runtime.set("effort", "low")
    asked(runtime, tmp_path, "q1")
    why = runtime.why(asked(runtime, tmp_path, "q2"))
    sealed: dict[str, Any] = why.manifest or {}
    assert (sealed["system"], sealed["parameters"]) == ("Be brief.", {"effort": "low"})
    assert list(why.entries) == [entry.node.id for entry in runtime.path()][:3]
    assert why.prompt is not None
    assert [tool.name for tool in why.prompt.tools] == [tool["spec"]["name"] for tool in sealed["tools"]] == OFFERED


def test_windie_87_a_no_settles_its_own_call_and_stops_no_other(house: Asking, tmp_path: Path) -> None:
    runtime = house.door()
    sent = runtime.send("Do it", models=[script(tmp_path, calls("edit", "build"), {"text": "So."})])
    assert answered(runtime, sent).status == "waiting"
    edit, build = runtime.pending()
    runtime.answer(edit.id, ["deny"])
    runtime.answer(build.id, ["allow"])
    assert driven(runtime, sent.runs[0]).status == "done"
    assert (house.tools["edit"].used, house.tools["build"].used) == ([], [{}])
    assert [part.outcome for part in runtime.path()[2].node.parts] == ["denied", "ok"]  # type: ignore[union-attr]


def test_windie_93_nobody_listens_before_there_is_a_door_to_listen_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("nobody asked for a socket that listens")

    monkeypatch.setattr(socket.socket, "listen", refused)
    monkeypatch.setattr(socket.socket, "bind", refused)
    assert not {"serve", "mcp", "login", "pair"} & set(COMMANDS)
    for words in (("new",), ("ls",), ("pending",), ("runs",), ("path",), ("stats",), ("doctor",)):
        succeed(*words)
