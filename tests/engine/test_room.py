"""Before a turn: a prompt that would pass its budget is made shorter by a summary, or nothing is sent at all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forkwood.domain import limits
from forkwood.domain.message import Text, ToolCall, text_of
from forkwood.domain.model import Reply, Traits, Usage
from forkwood.domain.prompt import Prompt, Said
from forkwood.domain.summary import INTRODUCTION, Summary
from forkwood.store import conversations, places, summaries, verify
from tests.engine.stage import WHO, FakeModel, FakeTool, Scrap, Stage, deltas, failed, reply, results

CONTEXT = 2_000
"""With a quarter of it for the reply, 1,500 tokens for a prompt: some 6,000 letters."""
LONG = 900
"""Letters of one message: two of them are an exchange of some 450 tokens."""


class Summarising(FakeModel):
    """Gives the next summary where one is asked for, and else answers."""

    def __init__(self) -> None:
        super().__init__()
        self.traits = Traits(context=CONTEXT)
        self.sums = 0

    def encode(self, prompt: Prompt, images: Mapping[str, bytes]) -> bytes:
        self.sums += (sums := "Write a summary" in asked(prompt))
        self.script = [answer(f"sum{self.sums}" if sums else planted(f"answer{self.sums}"))]
        return super().encode(prompt, images)


def model_of(*script: list[Scrap], context: int | None = CONTEXT, **fields: Any) -> FakeModel:
    model = FakeModel(*script, **fields)
    model.traits = Traits(context=context, tools=True, images=False, price=model.traits.price)
    return model


def planted(word: str, letters: int = LONG) -> str:
    """A long message with a word of its own in its middle."""
    return f"{'so much ' * (letters // 16)}{word} {'and more ' * (letters // 18)}"


def talked(stage: Stage, exchanges: int, first: int = 1) -> None:
    """So many exchanges, each with a word planted in either message."""
    for number in range(first, first + exchanges):
        stage.say(planted(f"question{number}"))
        stage.say(planted(f"answer{number}"), "assistant")


def asked(prompt: Prompt) -> str:
    """What a prompt says, all of it."""
    return "\n".join(text_of(message.parts) for message in prompt.messages)


def kept(stage: Stage) -> list[Summary]:
    with stage.store.read() as tx:
        ids = [row[0].hex() for row in tx.rows("SELECT id FROM summary ORDER BY seq")]
        return [summaries.get(tx, one) for one in ids]


def ids_of_path(stage: Stage) -> list[str]:
    return [one.node for one in said_there(stage)]


def said_there(stage: Stage) -> list[Said]:
    head = stage.head()
    with stage.store.read() as tx:
        return places.said(tx, head)


def answer(text: str) -> list[Scrap]:
    """A reply of which no tokens are reported."""
    return [Reply(parts=(Text(text=text),), finish="stop")]


def tokens(text: str, **usage: int) -> list[Scrap]:
    return [Reply(parts=(Text(text=text),), usage=Usage(**usage), finish="stop")]


async def test_a_prompt_within_its_budget_is_sent_as_it_is(tmp_path: Path) -> None:
    stage = Stage(tmp_path, model_of(reply("Hello.")))
    talked(stage, 2)
    assert (await stage.answer()).status == "done"
    assert kept(stage) == []


async def test_where_nobody_knows_the_context_there_is_no_budget(tmp_path: Path) -> None:
    stage = Stage(tmp_path, model_of(answer("Hello."), context=None))
    talked(stage, 40)
    assert (await stage.answer()).status == "done"
    assert kept(stage) == []


async def test_a_summary_is_made_first_and_stands_for_the_beginning(tmp_path: Path) -> None:
    model = model_of(tokens("They spoke of much.", input=900, output=7), reply("Hello."))
    stage = Stage(tmp_path, model)
    talked(stage, 3)
    stage.say(planted("question4"))
    run = stage.open()
    seen = await stage.drive(run)
    assert stage.kinds(run)[2:6] == ["summary.begun", "summary.made", "run.sealed", "turn.started"]
    (summary,) = kept(stage)
    assert summary.text == "They spoke of much."
    assert summary.covers == tuple(ids_of_path(stage)[:4]), "what stays takes about half of the room"
    first, second = model.prompts
    assert all(f"{said}{number}" in asked(first) for said in ("question", "answer") for number in (1, 2))
    assert "question3" not in asked(first) and first.tools == ()
    assert asked(second).startswith(f"{INTRODUCTION}\n\nThey spoke of much.")
    assert "answer2" not in asked(second) and "question3" in asked(second)
    assert deltas(seen) == ["Hello."], "what a summary says is no reply"
    assert stage.path()[-1] == "assistant: Hello." and len(stage.path()) == 8
    begun = next(event for event in stage.events(run) if event.kind == "summary.begun")
    assert begun.payload["covers"] == 4 and begun.payload["budget"] == 1_500 < begun.payload["estimate"]


async def test_what_it_took_is_counted_on_the_run_and_the_conversation(tmp_path: Path) -> None:
    stage = Stage(tmp_path, model_of(tokens("Much.", input=900, output=7), reply("Hello.")))
    talked(stage, 4)
    stage.say("And now?")
    run = stage.open()
    await stage.drive(run)
    assert stage.run(run).usage == Usage(input=910, output=9)
    with stage.store.read() as tx:
        used = conversations.row(tx, stage.conversation).usage
        assert (used.turns, used.input, used.output, used.cost) == (1, 910, 9, 919.0)
    assert verify.examine(stage.store, lambda _: False).problems == ()


async def test_three_in_a_row_lose_nothing(tmp_path: Path) -> None:
    model = Summarising()
    stage = Stage(tmp_path, model)
    talked(stage, 3)
    for number in range(4, 30):
        await stage.answer(planted(f"question{number}"))
        if len(kept(stage)) == 4:
            break
    made = kept(stage)
    asking = [asked(prompt) for prompt in model.prompts if "Write a summary" in asked(prompt)]
    assert len(made) == 4 == len(asking)
    path = ids_of_path(stage)
    for before, now, words in zip([None, *made], made, asking, strict=False):
        assert list(now.covers) == path[: len(now.covers)]
        assert before is None or (before.text in words and len(before.covers) < len(now.covers))
    said = "\n".join(asking)
    covered = [text_of(one.parts) for one in said_there(stage)[: len(made[-1].covers)]]
    found = {word for text in covered for word in text.split() if word.startswith(("question", "answer"))}
    assert len(found) >= 10 and all(word in said for word in found)


async def test_a_reported_count_corrects_the_estimate(tmp_path: Path) -> None:
    """The server counts twice the tokens: what would have seemed to fit is summarised first."""
    model = model_of(tokens("One.", input=2_000), tokens("Sum.", input=1), reply("Two."))
    stage = Stage(tmp_path, model)
    talked(stage, 2)
    await stage.answer("Short?")
    assert kept(stage) == []
    await stage.answer("And now?")
    assert len(kept(stage)) == 1


async def test_where_the_newest_exchange_alone_is_too_long_nothing_is_sent(tmp_path: Path) -> None:
    model = model_of()
    stage = Stage(tmp_path, model)
    talked(stage, 1)
    result = await stage.answer(planted("much", 7_000))
    assert result.status == "failed" and result.error is not None
    assert (result.error["kind"], result.error["bound"], result.error["context"]) == ("limit", 1_500, CONTEXT)
    assert result.error["got"] > 1_500
    assert "the newest exchange" in result.error["message"]
    assert (
        "set context" in result.error["hint"] and "drop" in result.error["hint"] and "--model" in result.error["hint"]
    )
    assert model.prompts == [] and kept(stage) == []


async def test_two_failures_end_the_run_and_say_what_helps(tmp_path: Path) -> None:
    busy = failed(503, "unavailable", retry_after=0.0)
    model = model_of([busy], [busy], reply("never"))
    stage = Stage(tmp_path, model)
    talked(stage, 4)
    stage.say("And now?")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert result.status == "failed" and result.error is not None
    assert (len(model.prompts), stage.kinds(run).count("summary.failed")) == (limits.summary_tries_max, 2)
    assert "said 503" in result.error["message"] and result.error["context"] == CONTEXT
    assert kept(stage) == []


async def test_after_one_failure_the_next_may_do(tmp_path: Path) -> None:
    model = model_of([failed(503, "unavailable", retry_after=0.0)], tokens("Sum.", input=1), reply("Hello."))
    stage = Stage(tmp_path, model)
    talked(stage, 4)
    assert (await stage.answer()).status == "done"
    assert [one.number for one in model.attempts] == [1, 2, 1]


async def test_what_a_second_try_cannot_mend_is_told_at_once(tmp_path: Path) -> None:
    model = model_of([failed(401, "auth")], reply("never"))
    stage = Stage(tmp_path, model)
    talked(stage, 4)
    result = await stage.answer()
    assert result.error is not None and (result.error["reason"], len(model.prompts)) == ("auth", 1)


async def test_with_another_key_the_second_try_goes_on(tmp_path: Path) -> None:
    model = model_of([failed(401, "auth")], tokens("Sum.", input=1), reply("Hello."), keys=2)
    stage = Stage(tmp_path, model)
    talked(stage, 4)
    assert (await stage.answer()).status == "done"


async def test_what_is_no_summary_is_not_kept_but_counted(tmp_path: Path) -> None:
    rambling = tokens("on and on " * 400, input=5, output=1_000)
    model = model_of(rambling, [Reply(parts=(), usage=Usage(input=5, output=1))])
    stage = Stage(tmp_path, model)
    talked(stage, 4)
    stage.say("And now?")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert result.status == "failed"
    assert [event.payload["reason"] for event in stage.events(run) if event.kind == "summary.failed"] == [
        "too_long",
        "empty",
    ]
    assert stage.run(run).usage == Usage(input=10, output=1_001)
    assert kept(stage) == []


async def test_a_summary_that_broke_off_is_none(tmp_path: Path) -> None:
    half = Reply(parts=(Text(text="They"),), partial="length", usage=Usage(input=5, output=1))
    stage = Stage(tmp_path, model_of([half], tokens("Whole.", input=1), reply("Hello.")))
    talked(stage, 4)
    assert (await stage.answer()).status == "done"
    assert [one.text for one in kept(stage)] == ["Whole."]


async def test_a_cancel_while_it_is_made_ends_the_run_and_leaves_none(tmp_path: Path) -> None:
    never = asyncio.Event()
    model = model_of([never], reply("never"))
    stage = Stage(tmp_path, model)
    talked(stage, 4)
    stage.say("And now?")
    run = stage.open()
    stage.models["fake:one"].script[0].insert(0, lambda: stage.engine.cancel(run, WHO))
    (result,) = results(await stage.drive(run))
    assert (result.status, model.closed, len(model.prompts)) == ("cancelled", 1, 1)
    assert kept(stage) == [] and stage.path()[-1] == "user: And now?"


async def test_after_a_crash_it_is_made_again_and_stands_once(tmp_path: Path) -> None:
    reached = asyncio.Event()
    model = model_of([reached.set, asyncio.Event()], tokens("Sum.", input=3), reply("Hello."))
    stage = Stage(tmp_path, model)
    talked(stage, 4)
    stage.say("And now?")
    run = stage.open()
    stage.engine.start(run)
    await reached.wait()
    await stage.engine.close()
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, result.text) == ("done", "Hello.")
    assert stage.kinds(run).count("summary.begun") == 2 and len(kept(stage)) == 1
    assert stage.run(run).usage == Usage(input=13, output=2)


async def test_one_that_was_kept_before_a_crash_is_used_and_not_made_again(tmp_path: Path) -> None:
    reached = asyncio.Event()
    model = model_of(tokens("Sum.", input=3), [reached.set, asyncio.Event()], reply("Hello."))
    stage = Stage(tmp_path, model)
    talked(stage, 4)
    stage.say("And now?")
    run = stage.open()
    stage.engine.start(run)
    await reached.wait()
    await stage.engine.close()
    await stage.drive(run, engine=stage.another())
    assert stage.kinds(run).count("summary.begun") == 1 == len(kept(stage))
    assert "Sum." in asked(model.prompts[-1])


async def test_the_results_of_a_long_turn_are_never_torn(tmp_path: Path) -> None:
    """In the middle of a run too: what stays begins with a user's message, and every call has its result."""
    tool = FakeTool("read", lambda: planted("found", 3_000))
    call = ToolCall(call="a", name="read", arguments={})
    model = model_of([Reply(parts=(call,), finish="tool_calls")], tokens("Sum.", input=1), reply("Done."))
    stage = Stage(tmp_path, model, tools=[tool])
    talked(stage, 2)
    stage.say("Look there.")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert (result.status, result.text) == ("done", "Done.")
    (summary,) = kept(stage)
    assert len(summary.covers) == 4
    assert [message.role for message in model.prompts[-1].messages] == ["user", "assistant", "tool"]


async def test_a_model_that_takes_less_at_once_is_asked_in_steps(tmp_path: Path) -> None:
    model = model_of(tokens("First.", input=1), tokens("Second.", input=1), reply("Hello."))
    stage = Stage(tmp_path, model)
    talked(stage, 7)
    result = await stage.answer("And now?")
    assert result.status == "done"
    first, second = kept(stage)
    assert (len(first.covers), len(second.covers)) == (4, 8)
    assert "First." in asked(model.prompts[1]) and "question1" not in asked(model.prompts[1])


async def test_secrets_do_not_get_into_a_summary(tmp_path: Path) -> None:
    stage = Stage(tmp_path, model_of(tokens("the key is hunter2hunter2", input=1), reply("Hello.")))
    object.__setattr__(stage.engine._supplies, "secrets", lambda: ("hunter2hunter2",))
    talked(stage, 4)
    await stage.answer()
    assert "hunter2hunter2" not in kept(stage)[0].text and kept(stage)[0].text.startswith("the key is")
