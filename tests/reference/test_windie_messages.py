"""Promises 15 to 18, 21, 40 and 47 to 50 of an earlier program: what a message carries, and tools, by our rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused, NotFound, Refused
from forkwood.domain.manifest import checked
from forkwood.domain.message import Attachment, Origin, Part, Replay, Text, Thinking, ToolCall, ToolResult, results_of
from forkwood.domain.tree import Spot
from forkwood.runtime import Runtime
from forkwood.store import append, blobs, conversations
from tests.reference.houses import again, asked, entered, words_of
from tests.runtime.doors import NOON, said, texts
from tests.surfaces.cli.desks import given, run_cli, succeed

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
SIGNED = Replay(
    dialect="anthropic", family="claude", value={"type": "thinking", "signature": "sig+/==", "n": [1, None]}
)


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = entered(home)
    runtime.new(title="t")
    return runtime


def replied(runtime: Runtime, *parts: Part, results: tuple[ToolResult, ...] = ()) -> str:
    """A reply of PARTS at the head, as a run would append it, and the results of its calls; the last node's id."""
    with runtime.house.store.write() as tx:
        here = conversations.current(tx)
        assert here is not None
        made, name = Origin(by="model", via="cli", run="c" * 32, model="anthropic:claude-x"), runtime.house.new_id()
        at = conversations.head(tx, here)
        node = append.add_message(
            tx, id=name, conversation=here, at=at, role="assistant", parts=parts, origin=made, now_ms=NOON
        )
        if results:
            name, by = runtime.house.new_id(), Origin(by="tool", via="cli", run="c" * 32)
            node = append.add_results(tx, id=name, at=Spot(node), parts=results, origin=by, now_ms=NOON)
        conversations.move_head(tx, here, Spot(node), NOON)
    return name


def test_windie_15_all_that_came_with_a_reply_is_there_after_a_restart(runtime: Runtime, tmp_path: Path) -> None:
    """Ours: usage is kept as five counts, each provider's own words for them read by its dialect."""
    said(runtime, "q1")
    parts = (
        Thinking(text="hm", replay=SIGNED),
        Text(text="let me see"),
        ToolCall(call="c1", name="look", arguments={"at": [1, {"deep": None}], "é": "\u2028"}),
        ToolCall(call="c2", name="look", arguments='{"not": whole'),
    )
    node = replied(runtime, *parts)
    answer = asked(runtime, tmp_path, "q2", thinking="well", usage={"input": 11, "output": 5})
    runtime = again(runtime)
    kept = runtime.show(node).node
    assert kept.parts == parts
    assert kept.origin == Origin(by="model", via="cli", run="c" * 32, model="anthropic:claude-x")
    assert runtime.show(answer).node.parts == (Thinking(text="well"), Text(text="re: q2"))
    used = {"input": 11, "output": 5, "cache_read": 0, "cache_write": 0, "reasoning": 0}
    assert runtime.why(answer).usage == used


def test_windie_16_an_edit_keeps_the_calls_and_lets_the_thinking_go(runtime: Runtime) -> None:
    """Ours: what somebody else thought before other words is not passed on as theirs; the old version keeps it."""
    said(runtime, "q1")
    call = ToolCall(call="c1", name="look", arguments={"at": 1})
    old = replied(runtime, Thinking(text="hm", replay=SIGNED), Text(text="one"), call)
    new = runtime.edit(old, "two").node
    assert new.parts == (Text(text="two"), call)
    assert words_of(runtime.show(old).node.parts) == ["Thinking", "one", "ToolCall"]


def test_windie_17_an_edit_leaves_every_branch_below_and_the_heads_of_others(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "q2", "a2")
    fork = runtime.fork(ids[3], title="other view")
    runtime.use(runtime.listed()[-1].id if runtime.listed()[-1].id != fork.id else runtime.listed()[0].id)
    runtime.edit(ids[0], "q1'", run=False)
    assert texts(runtime) == ["q1'"]
    assert texts(runtime, ids[3]) == ["q1", "a1", "q2", "a2"]
    assert runtime.conversation(fork.id) == fork
    assert [entry.node.text for entry in runtime.path(conversation=fork.id)] == ["q1", "a1", "q2", "a2"]


def test_windie_18_an_edit_of_a_foreign_message_or_in_a_missing_conversation_is_refused(runtime: Runtime) -> None:
    [foreign] = said(runtime, "q1")
    runtime.new(title="other")
    with pytest.raises(Refused, match="another conversation"):
        runtime.edit(foreign, "q1'", run=False)
    with pytest.raises(NotFound):
        runtime.edit(foreign, "q1'", conversation="0" * 32, run=False)
    assert runtime.tree() == []
    assert [node.text for node in runtime.history(foreign)] == ["q1"]


def test_windie_21_what_a_verb_gives_back_is_what_the_store_keeps(runtime: Runtime) -> None:
    sent = runtime.send("q1", run=False).node
    assert [entry.node for entry in runtime.path()] == [sent]
    edited = runtime.edit(sent.id, "q1'", run=False).node
    assert again(runtime).tree() == [sent, edited]


def test_windie_40_nobody_says_a_tool_message_at_the_command_line() -> None:
    succeed("new")
    assert run_cli("send", "x", "--role", "tool").code == 2
    assert given(["tree"]) == []


def test_windie_47_results_of_several_parts_keep_text_images_and_their_calls(runtime: Runtime, tmp_path: Path) -> None:
    said(runtime, "q1")
    with runtime.house.store.write() as tx:
        picture = Attachment(
            blob=blobs.put(tx, PNG),
            media="screenshot",
            name="a.png",
            mime="image/png",
            size=len(PNG),
            trust="untrusted",
        )
    calls = tuple(ToolCall(call=call, name="look", arguments={}) for call in ("b", "a"))
    results = (
        ToolResult(call="b", name="look", outcome="ok", parts=(Text(text="before"), picture, Text(text="after"))),
        ToolResult(call="a", name="look", outcome="error", parts=(Text(text="nothing there"),)),
    )
    node = replied(runtime, *calls, results=results)
    answer = asked(runtime, tmp_path, "q2")
    runtime = again(runtime)
    assert results_of(runtime.show(node).node.parts) == results
    prompt = runtime.why(answer).prompt
    assert prompt is not None
    (sent,) = [results_of(message.parts) for message in prompt.messages if message.role == "tool"]
    assert [(part.call, [type(one) for one in part.parts]) for part in sent] == [
        ("b", [Text, Attachment, Text]),
        ("a", [Text]),
    ]


def test_windie_48_a_tool_is_switched_off_and_on_again(runtime: Runtime) -> None:
    """Ours: tools are the program's own; a conversation only switches them, and nobody writes schemas."""
    assert runtime.set("tools", "-recall -remember").conversation.tools_off == ("recall", "remember")
    runtime = again(runtime)
    assert runtime.set("tools", "+recall").conversation.tools_off == ("remember",)
    assert runtime.set("tools", "+remember").conversation.tools_off == ()


@pytest.mark.parametrize("value", ["-recall remember", "-recall, -", "-recall +"])
def test_windie_49_of_several_switches_all_count_or_none(runtime: Runtime, value: str) -> None:
    with pytest.raises(Misused):
        runtime.set("tools", value)
    assert runtime.conversation().tools_off == ()
    assert runtime.set("tools", "-recall -recall").conversation.tools_off == ("recall",)


@pytest.mark.parametrize("value", ["", "recall", "-", "+"])
def test_windie_50_what_switches_nothing_is_refused(runtime: Runtime, value: str) -> None:
    with pytest.raises(Misused):
        runtime.set("tools", value)
    assert [event.kind for event in runtime.log()] == ["conversation.created"]


def test_windie_50_a_schema_out_of_bounds_is_never_sealed() -> None:
    tool = {"spec": {"name": "look", "description": "x" * limits.tool_bytes_max, "schema": {}}}
    with pytest.raises(LimitExceeded) as refused:
        checked({"tools": [tool]})
    assert refused.value.facts["limit"] == "tool_bytes_max"
    with pytest.raises(LimitExceeded) as refused:
        checked({"tools": [{}] * (limits.tools_max + 1)})
    assert refused.value.facts["limit"] == "tools_max"
