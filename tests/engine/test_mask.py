"""The mask before a model: whatever it echoes, in whatever pieces, reaches no event, no draft and no node."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.masking import MASK
from forkwood.domain.message import Attachment, Part, Replay, Text, Thinking, ToolCall
from forkwood.domain.model import Delta, Reply
from forkwood.engine.mask import Mask
from tests.domain.spelled import SECRET as SPELLED
from tests.domain.spelled import SPELLINGS, gives_away
from tests.engine.stage import FakeModel, FakeTool, Stage, deltas, failed, reply, results, text

SECRET = "sk-very-secret-value"


def masked(tmp_path: Path, model: FakeModel, *tools: FakeTool) -> Stage:
    stage = Stage(tmp_path, model, tools=tools)
    supplies = stage.engine._supplies
    fields = {name: getattr(supplies, name) for name in supplies.__slots__}
    stage.engine._supplies = type(supplies)(**fields | {"secrets": lambda: (SECRET,)})
    return stage


def everything(stage: Stage) -> str:
    """All that was kept, as text."""
    with stage.store.read() as tx:
        rows = [tx.rows(f"SELECT * FROM {table}") for table in ("event", "node", "draft", "run", "manifest")]
    return repr(rows)


async def test_an_echo_in_pieces_is_masked_in_deltas_events_and_nodes(tmp_path: Path) -> None:
    words = f"it is {SECRET}, is it not?"
    whole = Reply(parts=(Text(text=words),), finish="stop", notices=(f"odd: {SECRET}",))
    stage = masked(tmp_path, FakeModel([*(text(letter) for letter in words), whole]))
    stage.say("which key?")
    seen = await stage.drive(stage.open())
    assert "".join(deltas(seen)) == f"it is {MASK}, is it not?"
    assert results(seen)[0].text == f"it is {MASK}, is it not?"
    assert SECRET not in everything(stage)


async def test_what_came_before_a_stream_broke_off_is_whole_and_masked(tmp_path: Path) -> None:
    stage = masked(tmp_path, FakeModel([text(f"{SECRET} and sk-ve"), failed(500, "server")]))
    stage.say("hi")
    [result] = results(await stage.drive(stage.open()))
    assert result.text == f"{MASK} and sk-ve", "what was held back is told when nothing more can come"


async def test_the_better_part_of_a_secret_does_not_come_out_at_a_cut(tmp_path: Path) -> None:
    stage = masked(tmp_path, FakeModel([text(f"it is {SECRET[:-1]}"), failed(500, "server")]))
    stage.say("hi")
    [result] = results(await stage.drive(stage.open()))
    assert result.text == f"it is {MASK}"
    assert SECRET[:-1] not in everything(stage)


async def test_errors_calls_and_results_hold_no_secret(tmp_path: Path) -> None:
    tool = FakeTool("look", use=lambda: f"found {SECRET}")
    call = ToolCall(call="a", name="look", arguments={"where": [SECRET]})
    stage = masked(
        tmp_path,
        FakeModel([Reply(parts=(call,), finish="tool_calls")], [failed(503, "unavailable", at=SECRET)], reply("done")),
        tool,
    )
    stage.say("hi")
    [result] = results(await stage.drive(stage.open()))
    assert result.status == "done", result.error
    assert f"found {MASK}" in everything(stage)
    assert SECRET not in everything(stage)


async def test_how_a_provider_says_that_a_reply_ended_holds_no_secret(tmp_path: Path) -> None:
    stage = masked(tmp_path, FakeModel([Reply(parts=(Text(text="ok"),), finish=f"stop {SECRET}")]))
    stage.say("hi")
    [result] = results(await stage.drive(stage.open()))
    assert result.text == "ok"
    assert f"stop {MASK}" in everything(stage)
    assert SECRET not in everything(stage)


async def test_what_a_person_typed_is_kept_and_sent_as_typed(tmp_path: Path) -> None:
    model = FakeModel(reply("ok"))
    stage = masked(tmp_path, model)
    stage.say(f"use {SECRET}")
    await stage.drive(stage.open())
    assert SECRET in wire.text(model.prompts[0])
    assert stage.path()[0] == f"user: use {SECRET}"


def told(*deltas_heard: Delta) -> list[tuple[int, str]]:
    """What is told of DELTAS_HEARD, by part; what is told at the end last."""
    mask = Mask(lambda: (SECRET,))
    mask.begin()
    ready = [one for delta in deltas_heard for one in mask.heard(delta)]
    return [(one.index, one.text) for one in (*ready, *mask.rest())]


KEY = "Zq9xAbCdEfGh1234567890PoIuYtReWq"


def shown(words: str, length: int, key: str = KEY) -> str:
    """What is shown of WORDS that come in pieces of LENGTH."""
    mask = Mask(lambda: (key,))
    mask.begin()
    heard = [text(words[at : at + length]) for at in range(0, len(words), length)]
    ready = [one for delta in heard for one in mask.heard(delta)]
    return "".join(one.text for one in (*ready, *mask.rest()))


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 100])
@pytest.mark.parametrize("cut", [slice(-1), slice(1, None), slice(3, -3), slice(16), slice(16, None), slice(6, 22)])
def test_half_of_a_secret_is_told_nowhere_in_a_stream(cut: slice, length: int) -> None:
    for end in ("", "! Say no more."):
        found = shown(f"is it {KEY[cut]}{end}", length)
        left = found.removeprefix("is it ").removesuffix(f"{MASK}{end}")
        assert left in ("", KEY[cut][:1], KEY[cut][:2]), "two of its characters are too few to be held back"


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("name", SPELLINGS)
def test_most_of_a_secret_is_told_in_no_spelling(name: str, length: int) -> None:
    for cut in (slice(None), slice(-9), slice(9, None)):
        found = shown(f"Is it {SPELLINGS[name](SPELLED[cut])}? No.", length, SPELLED)
        assert MASK in found
        assert not gives_away(found, SPELLED)


def test_ordinary_words_come_as_they_came() -> None:
    mask = Mask(lambda: (KEY,))
    mask.begin()
    heard = [text(words) for words in ("It", " is", " für", " <b>", "50", "</b>", " & more", "!\n\n", "Ж", "ult")]
    assert [list(mask.heard(delta)) for delta in heard] == [[delta] for delta in heard]
    assert mask.rest() == []


@pytest.mark.parametrize("more", [0, 1])
def test_what_was_told_is_looked_at_again_as_far_as_it_may_begin_one(more: int) -> None:
    for letter, most in (
        ("b", limits.secret_told_characters_max),
        ("\\x62", limits.secret_told_marked_characters_max),
    ):
        mask = Mask(lambda: (KEY,))
        mask.begin()
        gap = " " * (most - len(letter) - 1 + more)
        assert [len(mask.heard(text(piece))) for piece in (f"{letter}{gap}", "C", "d")] == [1, 1, more]


def thought(words: str, index: int = 0) -> Delta:
    return Delta(index=index, kind="thinking", text=words)


def test_what_is_held_back_is_told_before_another_part_goes_on() -> None:
    assert told(thought("so sk-ve"), text("Hello", 1), text(" sk-", 1), thought("x")) == [
        (0, "so "), (0, "sk-ve"), (1, "Hello"), (1, " "), (1, "sk-"), (0, "x"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("heard", "shown"),
    [
        ([thought("about sk-ve"), text("ry-secret-value!", 1)], [(0, f"about {MASK}"), (1, "!")]),
        ([text("sk-ve"), text("ry-secret-", 1), text("value!", 2)], [(0, MASK), (2, "!")]),
        (
            [text("sk-ve"), thought("hm", 1), text("ry-secret-value!", 2)],
            [(0, "sk-ve"), (1, "hm"), (2, f"{MASK}!")],
        ),
        (
            [text("sk-very-secret-"), thought("hm", 1), text("value!", 2)],
            [(0, MASK), (1, "hm"), (2, "value!")],
        ),
        (
            [text("sk-very-secret-"), text("hm", 1), text("value!")],
            [(0, MASK), (1, "hm"), (0, f"{MASK}!")],
        ),
        (
            [piece for n in range(0, 20, 2) for piece in (text(SECRET[n]), text(SECRET[n + 1], 1))],
            [(0, MASK)],
        ),
        (
            [piece for letter in SECRET for piece in (text(letter), text("-", 1))],
            [(0, MASK)],
        ),
    ],
    ids=[
        "thought, then said",
        "in three parts",
        "around a thought",
        "most of it",
        "and the rest",
        "in turns",
        "among others",
    ],
)
def test_a_secret_in_pieces_over_parts_is_none_in_any_order_they_are_read(
    heard: list[Delta], shown: list[tuple[int, str]]
) -> None:
    found = told(*heard)
    runs = groupby(found, key=lambda one: one[0])
    joined = [(index, "".join(words for _, words in some)) for index, some in runs]
    for lane in (found, *([one for one in found if one[0] == index] for index in (0, 1, 2))):
        assert SECRET not in "".join(words for _, words in lane)
    if len(heard) < 30:
        assert joined == shown


def test_without_secrets_nothing_is_looked_at() -> None:
    mask = Mask(tuple)
    mask.begin()
    whole = Reply(parts=(Text(text="x"),))
    assert mask.reply(whole) is whole
    assert mask.heard(text("x")) == (text("x"),)


@pytest.mark.parametrize(
    ("words", "value", "kept"),
    [
        ("so", {"s": "signed"}, True),
        ("so", {"s": SECRET}, False),
        ("so", {"a": ["sk-very-", "secret-value"]}, False),
        (SECRET, {"s": "signed"}, False),
    ],
)
def test_a_signature_does_not_hold_for_other_words(words: str, value: Any, kept: bool) -> None:
    mask = Mask(lambda: (SECRET,))
    mask.begin()
    thinking = Thinking(text=words, replay=Replay(dialect="chat", family="f", value=value))
    [part] = mask.reply(Reply(parts=(thinking,))).parts
    assert part == Thinking(text=words.replace(SECRET, MASK), replay=thinking.replay if kept else None)


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(call="c", name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ((Text(text="is sk-ve"), Text(text="ry-secret-value?")), (Text(text=f"is {MASK}"), Text(text="?"))),
        (
            (Text(text="is sk-ve"), Thinking(text="hm"), Text(text="ry-secret-value?")),
            (Text(text=f"is {MASK}"), Thinking(text="hm"), Text(text="?")),
        ),
        (
            (Text(text="is sk-ve"), Thinking(text="ry-secret-value, hm")),
            (Text(text=f"is {MASK}"), Thinking(text=", hm")),
        ),
        ((call(SECRET),), (call(MASK),)),
        ((call("a", b=["x", {SECRET: f"\\u0073{SECRET[1:]}"}]),), (call("a", b=["x", {MASK: MASK}]),)),
        ((replace(call("a"), call=SECRET.upper()),), (replace(call("a"), call=MASK),)),
        (
            (replace(call("a"), arguments=f'{{"b": "\\u0073{SECRET[1:]}'),),
            (replace(call("a"), arguments=f'{{"b": "{MASK}'),),
        ),
    ],
)
def test_what_is_kept_is_masked_over_all_its_parts(parts: tuple[Part, ...], left: tuple[Part, ...]) -> None:
    mask = Mask(lambda: (SECRET,))
    mask.begin()
    given = Reply(parts=parts, finish=f"x{SECRET}", error=" ".join(SECRET), notices=("fine", SECRET))
    assert mask.reply(given) == Reply(parts=left, finish=f"x{MASK}", error=MASK, notices=("fine", MASK))


def test_what_a_tool_gives_is_masked_over_its_parts() -> None:
    picture = Attachment(blob="0" * 64, media="image", name="a", mime="image/png", size=1)
    given = (Text(text="a sk-very"), picture, Text(text="-secret-value b"))
    assert Mask(lambda: (SECRET,)).parts(given) == (Text(text=f"a {MASK}"), picture, Text(text=" b"))
