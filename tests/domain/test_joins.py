"""From a path to a prompt: each form is held by golden files that never change, and by its laws."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import fences, joins
from forkwood.domain.errors import Misused
from forkwood.domain.manifest import Bounds
from forkwood.domain.memory import INTRODUCTION
from forkwood.domain.message import Outcome, Part, Role, Text, ToolCall, ToolResult
from forkwood.domain.model import Traits
from forkwood.domain.prompt import Prompt, PromptMessage, Said
from tests.domain.paths import (
    CAT,
    FILES,
    GOLDEN,
    GOLDEN_2,
    LOOK,
    NOTES,
    REMEMBERED,
    WHOLE,
    call,
    manifest,
    node,
    path,
    result,
    thought,
)

FOLDER = Path(__file__).parent / "golden"


def built(said: list[Said], **fields: Any) -> Prompt:
    return joins.build(said, manifest(**fields), files=FILES)


def fenced_by_tool(words: str, number: int) -> str:
    """WORDS of a result in the node of that NUMBER, as a prompt holds them."""
    return fences.fenced(words, node(number))


def results_of(prompt: Prompt) -> list[str]:
    """Every text of every result in PROMPT."""
    return [
        piece.text
        for message in prompt.messages
        for part in message.parts
        if isinstance(part, ToolResult)
        for piece in part.parts
        if isinstance(piece, Text)
    ]


def words(prompt: Prompt) -> list[str]:
    """The prompt's messages as `role: text / text`."""
    return [f"{one.role}: {' / '.join(_words(part) for part in one.parts)}" for one in prompt.messages]


def _words(part: Part) -> str:
    match part:
        case Text(text=text):
            return text
        case ToolCall(call=name):
            return f"call {name}"
        case ToolResult(call=name, outcome=outcome):
            return f"{outcome} {name}"
        case _:
            return type(part).__name__


@pytest.mark.parametrize("name", GOLDEN)
def test_form_1_is_for_ever(name: str) -> None:
    """These files never change: old replies are proved by the form of their day. A new rule is a new form."""
    expected = (FOLDER / f"prompt_form_1_{name}.json").read_bytes()
    first = joins.build(GOLDEN[name], manifest(), files=FILES, memories=REMEMBERED, form=1)
    assert wire.canonical(first) == wire.canonical(json.loads(expected))


@pytest.mark.parametrize("name", [*GOLDEN, *GOLDEN_2])
def test_form_2_is_for_ever(name: str) -> None:
    """These never change either. Where nothing is there to be fenced, remembered or withdrawn, it is form 1."""
    made = GOLDEN_2.get(name) or joins.Made(said=GOLDEN[name], manifest=manifest(), files=FILES)
    told = prompt_of(made)
    if any(one.role == "tool" and one.nodes for one in told.messages) or name in GOLDEN_2:
        expected = json.loads((FOLDER / f"prompt_form_2_{name}.json").read_bytes())
    else:
        expected = {**json.loads((FOLDER / f"prompt_form_1_{name}.json").read_bytes()), "form": 2}
    assert wire.canonical(told) == wire.canonical(expected)


def prompt_of(made: joins.Made) -> Prompt:
    """The prompt of MADE, by the newest form."""
    return joins.build(made.said, made.manifest, files=made.files, memories=made.memories, withdrawn=made.withdrawn)


def test_plain_messages_stand_as_they_are() -> None:
    prompt = built(GOLDEN["plain"])
    assert words(prompt) == ["user: Hi", "assistant: Hello.", "user: How are you?"]
    assert [one.nodes for one in prompt.messages] == [(node(1),), (node(2),), (node(3),)]
    assert (prompt.system, prompt.model, [tool.name for tool in prompt.tools]) == ("Be brief.", "claude-x", ["look"])


def test_neighbours_are_joined_with_a_blank_line_between_their_texts() -> None:
    prompt = built(GOLDEN["joined"])
    assert words(prompt) == ["user: a / b / Attachment / c\n\nd", "assistant: e", "user: f"]
    assert prompt.messages[0].nodes == (node(1), node(2), node(3))


def test_lines_that_nobody_said_open_and_close() -> None:
    prompt = built(GOLDEN["ends"])
    assert words(prompt) == [f"user: {joins.OPENING}", "assistant: Welcome.", "user: Hi", "assistant: Hel",
                             f"user: {joins.CLOSING}"]  # fmt: skip
    assert (prompt.messages[0].nodes, prompt.messages[-1].nodes) == ((), ())
    assert words(built([])) == [f"user: {joins.OPENING}"]


def test_system_messages_follow_the_system_prompt() -> None:
    prompt = built(GOLDEN["system"])
    assert prompt.system == "Be brief.\n\nSpeak French."
    assert words(prompt) == ["user: Hi", "assistant: Oui.", "user: ?"]
    assert built(GOLDEN["plain"], system=None).system is None


def test_a_call_without_a_result_is_closed_and_a_result_without_a_call_is_left_out() -> None:
    assert words(built(GOLDEN["interrupted"])) == [
        "user: Look.",
        "assistant: call a / call b",
        "tool: interrupted a / ok b",
        "assistant: call a-2",
        "tool: interrupted a-2",
        "user: Well?",
    ]


def test_repeated_call_ids_get_numbers_and_their_results_go_along() -> None:
    said = path(
        ("user", ("Go",)),
        ("assistant", (call("x"), call("x"), call(""))),
        ("tool", (result("x", "1"), result("x", "2"), result("", "3"))),
    )
    prompt = built(said)
    assert words(prompt)[1:] == ["assistant: call x / call x-2 / call call", "tool: ok x / ok x-2 / ok call"]
    assert results_of(prompt) == [fenced_by_tool("1", 3), fenced_by_tool("2", 3), fenced_by_tool("3", 3)]


def test_thinking_goes_back_only_to_its_dialect_and_family_and_only_signed() -> None:
    assert words(built(GOLDEN["thinking"])) == ["user: Hi", "assistant: Thinking / Hello.", "user: ?\n\n!"]
    other = msgspec.structs.replace(manifest().binding, model="gpt-5")
    assert "Thinking" not in str(words(built(GOLDEN["thinking"], binding=other)))


@pytest.mark.parametrize(
    ("images", "last"), [(True, "Attachment"), (None, "Attachment"), (False, "[attached: cat.png")]
)
def test_images_go_to_models_that_see(images: bool | None, last: str) -> None:
    prompt = built(GOLDEN["attachments"], traits=Traits(images=images))
    assert words(prompt)[-1].startswith(f"user: {last}")
    assert joins.images(prompt) == (() if images is False else (CAT.blob,))


def test_small_text_files_are_fenced_and_wanted_before() -> None:
    assert joins.wanted(GOLDEN["attachments"], manifest()) == (NOTES.blob,)
    assert "notes.txt:\n````\na ``` b\nc\n````" in words(built(GOLDEN["attachments"]))[0]


def test_of_a_long_result_a_model_reads_what_is_left() -> None:
    prompt = joins.build(
        path(("user", ("q",)), ("assistant", (call("a"),)), ("tool", (WHOLE,))), manifest(), files=FILES
    )
    (read,) = prompt.messages[2].parts
    assert isinstance(read, ToolResult)
    (words,) = read.parts
    assert isinstance(words, Text) and "head … tail" in words.text


def test_withdrawn_tools_are_not_offered_and_the_last_line_says_so() -> None:
    bounds = Bounds(rounds_max=7)
    prompt = joins.build(GOLDEN["system"], manifest(limits=bounds), files={}, memories=REMEMBERED, withdrawn=True)
    assert prompt.tools == () and prompt.system is not None
    assert prompt.system.splitlines()[-1].startswith("The limit of 7 rounds of tool calls is reached:")
    assert prompt.system.index("Speak French.") < prompt.system.index(INTRODUCTION) < prompt.system.index("The limit")


def test_what_tools_gave_is_fenced_whatever_came_of_the_call_and_what_people_said_is_not() -> None:
    ask = replace(LOOK, spec=replace(LOOK.spec, name="ask_user"), question=True)
    outcomes: tuple[Outcome, ...] = ("ok", "error", "denied", "cancelled", "interrupted", "unknown")
    said = path(
        ("user", ("Go",)),
        ("assistant", (*(call(outcome) for outcome in outcomes), call("p", "ask_user"))),
        ("tool", (*(replace(result(one, one), outcome=one) for one in outcomes), result("p", "green", "ask_user"))),
    )
    prompt = built(said, tools=(LOOK, ask))
    assert results_of(prompt) == [*(fenced_by_tool(one, 3) for one in outcomes), "green"]


def test_files_in_results_are_fenced_too_and_pictures_go_as_they_are() -> None:
    given = ToolResult(call="a", name="look", outcome="ok", parts=(Text(text="see"), NOTES, CAT))
    prompt = built(path(("user", ("q",)), ("assistant", (call("a"),)), ("tool", (given,))))
    (part,) = prompt.messages[2].parts
    assert isinstance(part, ToolResult) and part.parts[2] == CAT
    assert results_of(prompt) == [fenced_by_tool("see", 3), fenced_by_tool("notes.txt:\n````\na ``` b\nc\n````", 3)]


def test_memories_stand_at_the_end_of_the_system_prompt() -> None:
    prompt = joins.build(GOLDEN["plain"], manifest(), files={}, memories=REMEMBERED)
    assert prompt.system == f"Be brief.\n\n{joins.notes(REMEMBERED, manifest()).text}"
    assert joins.build([], manifest(system=None), files={}, memories=REMEMBERED[:1]).system == (
        f"{INTRODUCTION}\n{fences.fenced('tea: green', REMEMBERED[0].id, origin='a note')}"
    )


def test_a_form_nobody_knows_is_refused() -> None:
    with pytest.raises(Misused):
        joins.build([], manifest(), files={}, form=99)


def test_calls_of_one_reply_are_told_apart() -> None:
    parts = joins.distinct((Text(text="t"), call("x"), call("x"), call("x-2"), call("")))
    assert [part.call for part in parts if isinstance(part, ToolCall)] == ["x", "x-2", "x-2-2", "call"]
    assert parts[0] == Text(text="t")


def parts_of(role: Role) -> st.SearchStrategy[tuple[Part, ...]]:
    text = st.sampled_from(["a", " ", "", "b\n", "é"]).map(lambda words: Text(text=words))
    names = st.sampled_from(["x", "y", ""])
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "system": text,
        "user": text | st.sampled_from([NOTES, CAT]),
        "assistant": text | names.map(call) | st.just(thought("t")),
        "tool": names.map(result),
    }
    return st.lists(kinds[role], min_size=1, max_size=4).map(tuple)


roles: st.SearchStrategy[Role] = st.sampled_from(["system", "user", "assistant", "assistant", "tool"])
paths = st.lists(roles.flatmap(lambda role: st.tuples(st.just(role), parts_of(role))), max_size=12).map(
    lambda messages: path(*messages)
)


@given(paths)
def test_every_prompt_is_valid_for_every_provider(said: list[Said]) -> None:
    prompt = built(said)
    messages = prompt.messages
    assert messages and messages[0].role == "user" and messages[-1].role != "assistant"
    assert all(one.role != after.role for one, after in pairwise(messages)), "roles alternate"
    assert all(one.parts for one in messages)
    assert all(part.text.strip() for one in messages for part in one.parts if isinstance(part, Text))
    seen: set[str] = set()
    for one, after in zip(messages, [*messages[1:], None], strict=True):
        calls = [part.call for part in one.parts if isinstance(part, ToolCall)]
        assert not seen.intersection(calls) and len(set(calls)) == len(calls), "call ids are unique"
        seen.update(calls)
        assert _results(after) == calls, "each call has its result right behind it, in order"


def _results(message: PromptMessage | None) -> list[str]:
    if message is None or message.role != "tool":
        return []
    return [part.call for part in message.parts if isinstance(part, ToolResult)]


@given(paths)
def test_building_is_pure_and_keeps_all_nodes_in_order(said: list[Said]) -> None:
    prompt = built(said)
    assert prompt == built(said)
    assert wire.decode(wire.canonical(prompt), Prompt) == prompt
    nodes = [name for one in prompt.messages for name in one.nodes]
    assert nodes == sorted(nodes) and len(set(nodes)) == len(nodes)
