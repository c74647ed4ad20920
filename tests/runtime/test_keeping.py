"""Conversations: begun, listed, set, and taken to the trash."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from forkwood.domain.errors import Misused, NotFound
from forkwood.domain.settings import Parameters, Profile, Settings
from forkwood.runtime import Runtime
from forkwood.store import conversations
from tests.runtime.doors import door, said

CAREFUL = Profile(
    model="scripted:/careful.json",
    system="Be careful.",
    params=Parameters(temperature=0.1),
    tools_off=("remember",),
)


@pytest.fixture
def runtime() -> Runtime:
    return door(settings=Settings(home="/nowhere", system="Be kind.", profiles={"careful": CAREFUL}))


def test_a_conversation_begins_with_what_was_given(runtime: Runtime) -> None:
    made = runtime.new(title="Bread", model="scripted:/a.json", system="Be brief.")
    assert (made.title, made.model, made.system, made.head) == ("Bread", "scripted:/a.json", "Be brief.", None)
    assert runtime.conversation() == made
    assert runtime.new().system == "Be kind."


def test_a_profile_counts_where_nothing_was_given(runtime: Runtime) -> None:
    made = runtime.new(profile="careful")
    assert (made.model, made.system, made.params, made.tools_off, made.profile) == (
        CAREFUL.model,
        CAREFUL.system,
        CAREFUL.params,
        CAREFUL.tools_off,
        "careful",
    )
    assert runtime.new(profile="careful", system="My own.").system == "My own."
    assert runtime.profiles() == {"careful": CAREFUL}
    with pytest.raises(NotFound, match="no profile 'wild'") as refused:
        runtime.new(profile="wild")
    assert "careful" in refused.value.hint


def test_the_newest_is_listed_first_and_archived_ones_apart(runtime: Runtime) -> None:
    first, second = runtime.new(title="first"), runtime.new(title="second")
    assert [row.title for row in runtime.listed()] == ["second", "first"]
    said_in_first = runtime.send("hello", conversation=first.id, run=False)
    assert said_in_first.conversation == first.id
    assert [row.title for row in runtime.listed()] == ["first", "second"]
    runtime.set("archived", "yes", conversation=second.id)
    assert [row.title for row in runtime.listed()] == ["first"]
    assert [row.title for row in runtime.listed(archived=True)] == ["second"]


def test_use_makes_current_by_any_ending(runtime: Runtime) -> None:
    first = runtime.new(title="first")
    runtime.new(title="second")
    assert runtime.use(first.id[-6:]).id == first.id
    assert runtime.conversation().title == "first"
    with pytest.raises(NotFound, match="no conversation is named"):
        runtime.use("beefbeef")


def test_windie_11_a_setting_counts_for_every_head_alike(runtime: Runtime) -> None:
    runtime.new(title="t")
    ids = said(runtime, "q1", "a1", "q2")
    runtime.set("system", "Be brief.")
    runtime.set("tools", "-recall")
    for node in ids:
        runtime.switch(node, here=True)
        row = runtime.conversation()
        assert (row.system, row.tools_off) == ("Be brief.", ("recall",))


def test_a_changed_system_prompt_says_how_many_branches_it_touches(runtime: Runtime) -> None:
    runtime.new(title="t")
    ids = said(runtime, "q1", "a1")
    runtime.edit(ids[0], "other", run=False)
    change = runtime.set("system", "Be brief.")
    assert change.affects is not None
    assert (change.before, change.affects.branches) == ("Be kind.", 2)
    assert runtime.set("title", "x").affects is None


def test_a_setting_that_is_so_already_is_no_act(runtime: Runtime) -> None:
    runtime.new(title="t")
    runtime.set("pinned", "yes")
    count = len(list(runtime.log()))
    runtime.set("pinned", "yes")
    assert len(list(runtime.log())) == count


def test_windie_10_a_system_prompt_is_set_replaced_and_cleared(runtime: Runtime) -> None:
    runtime.new(title="t")
    assert runtime.set("system", "one").conversation.system == "one"
    assert runtime.set("system", "two").conversation.system == "two"
    assert runtime.set("system", "  ").conversation.system is None


def test_parameters_are_set_one_by_one(runtime: Runtime) -> None:
    runtime.new(title="t")
    runtime.set("temperature", "0.5")
    row = runtime.set("seed", "7").conversation
    assert row.params == Parameters(temperature=0.5, seed=7)
    assert runtime.set("temperature", "none").conversation.params == replace(row.params, temperature=None)


def test_an_unknown_setting_lists_those_there_are(runtime: Runtime) -> None:
    runtime.new(title="t")
    with pytest.raises(Misused, match="no setting 'colour'") as refused:
        runtime.set("colour", "red")
    assert "temperature" in refused.value.hint


def test_a_changed_setting_reaches_every_process(runtime: Runtime) -> None:
    runtime.new(title="t")
    other = door(runtime.house.store)
    runtime.set("system", "Be brief.")
    assert other.conversation().system == "Be brief."


def test_a_title_that_was_cleared_is_given_by_the_rule_again(runtime: Runtime) -> None:
    def title() -> tuple[str, str]:
        here = runtime.conversation()
        return here.title, here.titled_by

    runtime.new()
    runtime.set("title", "mine")
    runtime.send("first", run=False)
    assert title() == ("mine", "user")
    runtime.set("title", "")
    assert title() == ("", "rule")
    runtime.send("second\nline", run=False)
    assert title() == ("second", "rule")


def test_the_trash_of_one_conversation_is_what_is_hidden_in_it(runtime: Runtime) -> None:
    first = runtime.new(title="first").id
    [hidden] = said(runtime, "a")
    runtime.hide(hidden)
    second = runtime.new(title="second").id
    [other] = said(runtime, "b")
    runtime.hide(other)
    runtime.hide(second)
    everything, only = runtime.trash(), runtime.trash(conversation=first)
    assert [row.id for row in everything.conversations] == [second]
    assert {node.id for node in everything.nodes} == {hidden, other}
    assert (only.conversations, [node.id for node in only.nodes]) == ((), [hidden])


@pytest.mark.parametrize("value", ["-recal", "+recal", "-recall -recal"])
def test_windie_52_a_tool_of_another_name_is_refused_with_the_names_there_are(runtime: Runtime, value: str) -> None:
    runtime.new()
    with pytest.raises(NotFound, match="there is no tool 'recal'") as refused:
        runtime.set("tools", value)
    assert refused.value.facts["candidates"] == sorted(runtime.house.tools)
    assert runtime.conversation().tools_off == ()


def test_what_was_switched_off_can_be_switched_on_when_it_is_no_more() -> None:
    settings = Settings(home="/nowhere", profiles={"old": Profile(tools_off=("gone",))})
    runtime = door(settings=settings)
    with pytest.raises(NotFound, match="there is no tool 'gone'"):
        runtime.new(profile="old")
    runtime.new()
    with runtime.house.store.write() as tx:
        conversations.write_setting(tx, 1, "tools_off", ["gone"])
    assert runtime.set("tools", "-recall").conversation.tools_off == ("gone", "recall")
    assert runtime.set("tools", "+gone").conversation.tools_off == ("recall",)
