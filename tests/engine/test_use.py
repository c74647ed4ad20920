"""Using tools: approved, sealed, cancelled, looked for after a crash, and side by side."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from forkwood.domain import limits
from forkwood.domain.errors import Refused, StoreUnusable
from forkwood.domain.message import Attachment, Text, ToolResult
from forkwood.domain.run_event import InteractionClosed
from forkwood.domain.step import UseTool
from forkwood.domain.tool import ToolOutcome
from forkwood.engine.grip import Grip
from forkwood.engine.use import use_tool
from forkwood.store import blobs, conversations, log, runs
from tests.engine.stage import (
    NOW,
    WHO,
    FakeModel,
    FakeTool,
    Stage,
    calling,
    reply,
    results,
)


def approve(stage: Stage, run: str, answer: str) -> None:
    with stage.store.write() as tx:
        (opened,) = [event for event in log.events_of_run(tx, run, after=0) if event.kind == "interaction.opened"]
        closed = InteractionClosed(interaction=opened.payload["interaction"], status="answered", answer=answer)
        runs.add(tx, run, closed, who=WHO, now_ms=NOW)


@pytest.mark.parametrize(("answer", "outcome", "used"), [("allow", "ok", ["a"]), ("deny", "denied", [])])
async def test_windie_89_an_approval_outlives_the_process(
    tmp_path: Path, answer: str, outcome: str, used: list[str]
) -> None:
    tool = FakeTool("edit", effect="write", after_crash="journal")
    stage = Stage(tmp_path, FakeModel(calling("edit"), reply("Done.")), tools=[tool])
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "waiting"
    await stage.engine.close()
    approve(stage, run, answer)
    (result,) = results(await stage.drive(run, engine=stage.another()))
    assert (result.status, tool.used) == ("done", used)
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert settled["outcome"] == outcome


async def test_panelot_65_68_a_tool_that_has_changed_is_not_used_and_the_run_is_sealed_anew(tmp_path: Path) -> None:
    tool = FakeTool("look")
    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Done.")), tools=[tool])
    stage.models["fake:one"].script[0].insert(0, lambda: setattr(tool, "sealed", replace(tool.sealed, asks_first=True)))
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "done"
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert (settled["outcome"], settled["parts"][0]["text"], tool.used) == ("error", "changed since it was asked", [])
    assert stage.kinds(run).count("run.sealed") == 2


async def test_a_tool_that_refuses_is_an_error_for_the_model(tmp_path: Path) -> None:
    def refuse() -> None:
        raise Refused("no such path", hint="look elsewhere")

    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Done.")), tools=[FakeTool("look", refuse)])
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert (settled["outcome"], settled["parts"][0]["text"]) == ("error", "no such path. look elsewhere")


async def test_a_cancel_stops_the_tool_and_its_end_is_unknown(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    async def forever() -> None:
        stage.engine.cancel(run, WHO)
        await asyncio.Event().wait()

    tool = FakeTool("test", forever, effect="execute", after_crash="doubt")
    stage.tools["test"] = tool
    stage.engine = stage.another()
    stage.models["fake:one"] = FakeModel(calling("test"))
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "waiting"
    approve(stage, run, "allow")
    (result,) = results(await stage.drive(run))
    assert (result.status, tool.used) == ("cancelled", ["a"])
    assert stage.nodes()[-1].parts[0].outcome == "unknown"  # type: ignore[union-attr]


@pytest.mark.parametrize("found", [None, ToolOutcome(outcome="ok", parts=(Text(text="it was written"),))])
async def test_after_a_crash_the_journal_is_asked_first(tmp_path: Path, found: ToolOutcome | None) -> None:
    begun = asyncio.Event()

    async def dies() -> str:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return "written again"

    tool = FakeTool("edit", dies, effect="write", after_crash="journal")
    stage = Stage(tmp_path, FakeModel(calling("edit"), reply("Done.")), tools=[tool])
    stage.say("Hi")
    run = stage.open()
    await stage.drive(run)
    approve(stage, run, "allow")
    assert stage.engine.start(run)
    await begun.wait()
    await stage.engine.close()
    tool.found = found
    (result,) = results(await stage.drive(run, engine=stage.another()))
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert settled["parts"][0]["text"] == ("written again" if found is None else "it was written")
    assert (result.status, len(tool.used)) == ("done", 2 if found is None else 1)


async def test_a_tool_that_breaks_is_an_outcome_the_model_reads(tmp_path: Path) -> None:
    def breaks() -> None:
        raise TypeError("no tool says this")

    model = FakeModel(calling("look"), reply("I see."))
    stage = Stage(tmp_path, model, tools=[FakeTool("look", breaks)])
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert result.status == "done"
    (broken,) = stage.nodes()[-2].parts
    assert isinstance(broken, ToolResult) and broken.outcome == "error"
    assert broken.parts == (Text(text="the tool broke: TypeError: no tool says this"),)


async def test_windie_90_reads_run_side_by_side_and_their_results_keep_the_order_of_the_calls(tmp_path: Path) -> None:
    order: list[str] = []
    both = asyncio.Event()

    async def slow() -> str:
        order.append("slow begins")
        await both.wait()
        return "slow"

    async def quick() -> str:
        order.append("quick begins")
        both.set()
        return "quick"

    tools = [FakeTool("slow", slow), FakeTool("quick", quick)]
    stage = Stage(tmp_path, FakeModel(calling("slow", "quick"), reply("Both.")), tools=tools)
    stage.say("Hi")
    (result,) = results(await stage.drive(stage.open()))
    assert result.status == "done" and order == ["slow begins", "quick begins"]
    told = [part.parts for part in stage.nodes()[-2].parts if isinstance(part, ToolResult)]
    assert told == [(Text(text="slow"),), (Text(text="quick"),)]


async def test_of_reads_side_by_side_one_that_has_changed_is_settled_and_the_others_run(tmp_path: Path) -> None:
    look, find = FakeTool("look"), FakeTool("find")

    def change() -> None:
        find.sealed = replace(find.sealed, spec=replace(find.sealed.spec, description="another"))

    model = FakeModel([change, *calling("look", "find")], reply("So."))
    stage = Stage(tmp_path, model, tools=[look, find])
    stage.say("Hi")
    (result,) = results(await stage.drive(stage.open()))
    outcomes = [part.outcome for part in stage.nodes()[-2].parts if isinstance(part, ToolResult)]
    assert result.status == "done" and outcomes == ["ok", "error"] and (look.used, find.used) == (["a"], [])


def told(stage: Stage) -> list[tuple[str, tuple[Text | Attachment, ...]]]:
    """How the calls of the last turn but one ended, and what the model read."""
    return [(part.outcome, part.parts) for part in stage.nodes()[-2].parts if isinstance(part, ToolResult)]


@pytest.mark.parametrize(("over", "parts"), [(0, 1), (1, 2)])
async def test_a_result_over_the_limit_is_cut_in_its_middle_and_kept_whole(
    tmp_path: Path, over: int, parts: int
) -> None:
    long = "a" + "é" * ((limits.result_bytes_max + over) // 2 - 1) + "z" * (1 + over % 2)
    assert len(long.encode()) == limits.result_bytes_max + over
    model = FakeModel(calling("look"), reply("Much."))
    stage = Stage(tmp_path, model, tools=[FakeTool("look", lambda: long)])
    await stage.answer()
    ((outcome, read),) = told(stage)
    assert outcome == "ok" and len(read) == parts
    shown = read[0]
    assert isinstance(shown, Text) and len(shown.text.encode()) <= limits.result_bytes_max
    assert (f"of {len(long.encode()):,} bytes are left out here: the person has the whole" in shown.text) == bool(over)
    for whole in read[1:]:
        assert isinstance(whole, Attachment) and whole.meta == {"whole": True} and whole.trust == "untrusted"
        assert (whole.name, whole.mime, whole.size) == ("look.txt", "text/plain", len(long.encode()))
        with stage.store.read() as tx:
            assert blobs.get(tx, whole.blob).decode() == long
            holders = [row[0] for row in tx.rows("SELECT node FROM attachment WHERE blob = ?", (whole.blob,))]
        assert holders == [node.seq for node in stage.nodes()[1:3]], "the reply that called, and its results"
    (sent,) = [message.parts for message in model.prompts[-1].messages if message.role == "tool"]
    (given,) = sent
    assert isinstance(given, ToolResult)
    (words,) = given.parts
    assert isinstance(words, Text) and shown.text in words.text, "no prompt holds the whole"


async def test_what_is_too_long_to_be_kept_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "attachment_bytes_max", limits.result_bytes_max + 9)
    tools = [FakeTool("look", lambda: "a" * (limits.result_bytes_max + 10))]
    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Much.")), tools=tools)
    await stage.answer()
    ((_, read),) = told(stage)
    assert len(read) == 1 and isinstance(read[0], Text) and "left out here: too much to be kept" in read[0].text


async def test_results_of_most_calls_at_their_limit_are_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "message_bytes_max", 3 * limits.result_bytes_max)
    tools = [FakeTool("look", lambda: "雪" * limits.result_bytes_max)]
    stage = Stage(tmp_path, FakeModel(calling("look", "look", "look"), reply("Much.")), tools=tools)
    assert (await stage.answer()).status == "done" and len(told(stage)) == 3


async def test_what_a_tool_gives_can_be_kept_whatever_it_is(tmp_path: Path) -> None:
    tools = [FakeTool("look", lambda: "half \ud83d and \0")]
    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Odd.")), tools=tools)
    assert (await stage.answer()).status == "done"
    assert told(stage) == [("ok", (Text(text="half \\ud83d and \0"),))]


@pytest.mark.parametrize(
    ("effect", "after_crash", "outcome"), [("read", "again", "error"), ("execute", "doubt", "unknown")]
)
async def test_a_tool_that_takes_too_long_is_stopped(
    tmp_path: Path, effect: str, after_crash: str, outcome: str
) -> None:
    stopped: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("look")

    tool = FakeTool("look", forever, effect=effect, after_crash=after_crash, seconds_max=0.0)
    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Slow.")), tools=[tool])
    with stage.store.write() as tx:
        conversations.write_setting(tx, stage.conversation, "approvals", "allow-all")
    assert (await stage.answer()).status == "done" and stopped == ["look"]
    ((ended, (words,)),) = told(stage)
    assert ended == outcome and isinstance(words, Text)
    assert words.text.startswith("stopped: it was not done after 0 seconds")
    assert FakeTool("other").sealed.seconds_max == limits.tool_seconds_max


async def test_a_tool_whose_own_wait_ran_out_is_an_error(tmp_path: Path) -> None:
    def times_out() -> None:
        raise TimeoutError("no answer")

    stage = Stage(tmp_path, FakeModel(calling("look"), reply("So.")), tools=[FakeTool("look", times_out)])
    await stage.answer()
    assert told(stage) == [("error", (Text(text="the tool broke: TimeoutError: no answer"),))]


@pytest.mark.parametrize("names", [("keep",), ("look", "keep"), ("keep", "keep")])
async def test_a_store_that_fails_a_tool_lets_the_run_go(tmp_path: Path, names: tuple[str, ...]) -> None:
    full = True

    def keep() -> str:
        if full:
            raise StoreUnusable("the disk is full", reason="full")
        return "kept"

    stage = Stage(
        tmp_path, FakeModel(calling(*names), reply("Good.")), tools=[FakeTool("look"), FakeTool("keep", keep)]
    )
    stage.say("Hi")
    run = stage.open()
    with pytest.raises(StoreUnusable, match="the disk is full"):
        await stage.drive(run)
    assert stage.run(run).status == "running"
    full = False
    assert results(await stage.drive(run))[0].status == "done"
    assert {outcome for outcome, _ in told(stage)} == {"ok"}


async def test_windie_86_a_tool_that_is_switched_off_meanwhile_is_denied_and_offered_no_more(tmp_path: Path) -> None:
    look = FakeTool("look")

    def switch_off() -> None:
        with stage.store.write() as tx:
            conversations.write_setting(tx, stage.conversation, "tools_off", ["look"])

    model = FakeModel([switch_off, *calling("look")], reply("So."))
    stage = Stage(tmp_path, model, tools=[look, FakeTool("find")])
    assert (await stage.answer()).status == "done" and look.used == []
    assert told(stage) == [("denied", (Text(text="this tool was switched off since it was asked"),))]
    assert [[tool.name for tool in prompt.tools] for prompt in model.prompts] == [["look", "find"], ["find"]]


async def test_a_run_that_is_cancelled_just_before_a_call_has_not_begun_it(tmp_path: Path) -> None:
    tool = FakeTool("test", effect="execute", after_crash="doubt")
    stage = Stage(tmp_path, FakeModel(calling("test")), tools=[tool])
    with stage.store.write() as tx:
        conversations.write_setting(tx, stage.conversation, "approvals", "allow-all")
    stage.say("Hi")
    run = stage.open()

    async def cancelled_first(grip: Grip, step: UseTool) -> None:
        with stage.store.write() as tx:
            runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
        await use_tool(grip, step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("forkwood.engine.drive.use_tool", cancelled_first)
        assert results(await stage.drive(run))[0].status == "cancelled"
    (settled,) = [event.payload for event in stage.events(run) if event.kind == "call.settled"]
    assert (settled["outcome"], tool.used, stage.kinds(run).count("call.started")) == ("cancelled", [], 0)


async def test_panelot_53_what_a_stopped_tool_still_says_is_kept(tmp_path: Path) -> None:
    """Ours: it is not discarded, for it tells what was done; the run ends when the tool has, and not before."""
    stage = Stage(tmp_path)

    async def stops_slowly() -> str:
        stage.engine.cancel(run, WHO)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "half of it was written"
        return ""

    stage.tools["write"] = FakeTool("write", stops_slowly, effect="write", after_crash="journal")
    stage.engine = stage.another()
    with stage.store.write() as tx:
        conversations.write_setting(tx, stage.conversation, "approvals", "allow-all")
    stage.models["fake:one"] = FakeModel(calling("write", "write"))
    stage.say("Hi")
    run = stage.open()
    (result,) = results(await stage.drive(run))
    assert result.status == "cancelled"
    last = [(part.outcome, part.parts) for part in stage.nodes()[-1].parts if isinstance(part, ToolResult)]
    assert last == [
        ("ok", (Text(text="half of it was written"),)),
        ("cancelled", (Text(text="cancelled before it ran"),)),
    ]


async def test_of_stopped_reads_one_that_was_done_is_kept(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    async def forever() -> None:
        stage.engine.cancel(run, WHO)
        await asyncio.Event().wait()

    stage.tools.update({"look": FakeTool("look"), "find": FakeTool("find", forever)})
    stage.engine = stage.another()
    stage.models["fake:one"] = FakeModel(calling("look", "find"))
    stage.say("Hi")
    run = stage.open()
    assert results(await stage.drive(run))[0].status == "cancelled"
    assert [part.outcome for part in stage.nodes()[-1].parts if isinstance(part, ToolResult)] == ["ok", "cancelled"]


async def test_panelot_50_a_read_is_used_again_after_a_crash_and_nothing_is_said_twice(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def dies() -> str:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return "seen"

    look = FakeTool("look", dies)
    stage = Stage(tmp_path, FakeModel(calling("look"), reply("Done.")), tools=[look])
    stage.say("Hi")
    run = stage.open()
    assert stage.engine.start(run)
    await begun.wait()
    await stage.engine.close()
    assert results(await stage.drive(run, engine=stage.another()))[0].status == "done"
    assert [node.role for node in stage.nodes()] == ["user", "assistant", "tool", "assistant"]
    assert look.used == ["a", "a"] and told(stage) == [("ok", (Text(text="seen"),))]
