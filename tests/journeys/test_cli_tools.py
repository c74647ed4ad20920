"""The journey of a tool call at the command line: what a model calls is used, told, bounded, and accounted for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.tools.current_time import CurrentTime
from forkwood.tools.shapes import told
from tests.surfaces.cli.desks import Ran, given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

NOW = {"name": "current_time", "arguments": {}}
ALL = ["ask_user", "current_time", "recall", "remember", "search_conversations"]


def calls(*wanted: dict[str, Any], text: str = "") -> dict[str, Any]:
    """A reply that calls tools."""
    return {"tool_calls": list(wanted), **({"text": text} if text else {})}


def begun(folder: Path, *replies: dict[str, Any]) -> None:
    """A conversation with a model that plays REPLIES."""
    succeed("new", "--title", "Tools", "--model", scripted(folder, *replies))


def results() -> list[tuple[str, str, str]]:
    """Every result on the path: the tool, how it ended, and the text of it."""
    return [
        (part["name"], part["outcome"], part["parts"][0]["text"])
        for entry in given(["path"])
        for part in entry["node"]["parts"]
        if part["kind"] == "tool_result"
    ]


def last_of(ran: Ran) -> Any:
    """The Result a command's JSON Lines end with."""
    return ran.lines[-1]


def offered(node: str) -> list[str]:
    """The tools in the prompt of a reply, rebuilt and proved."""
    why = given(["why", node])
    assert why["verified"] is True
    return [tool["name"] for tool in why["prompt"]["tools"]]


def test_windie_91_two_tools_side_by_side_and_then_an_answer(tmp_path: Path) -> None:
    begun(
        tmp_path,
        calls(NOW, {"name": "recall", "arguments": {"name": "tea"}}, text="A moment."),
        {"text": "It is late."},
    )
    ran = succeed("send", "What time is it?")
    assert ran.out == "A moment.\nIt is late.\n"
    lines = ran.err.splitlines()
    assert lines[:2] == ["◆ current_time {}", '◆ recall {"name": "tea"}']
    assert re.fullmatch(r"  current_time: ok, \d+\.\d s: \w+day, \d{4}-.* UTC\)", lines[2])
    assert re.match(r"  recall: ok, \d+\.\d s: Nothing is remembered under the name 'tea'", lines[3])
    path = given(["path"])
    assert [entry["node"]["role"] for entry in path] == ["user", "assistant", "tool", "assistant"]
    assert [(name, outcome) for name, outcome, _ in results()] == [("current_time", "ok"), ("recall", "ok")]
    assert offered(path[3]["node"]["id"]) == ALL
    shown = succeed("path").out
    assert "[calls current_time] {}" in shown and "[result of recall: ok] Nothing is remembered" in shown
    assert given(["doctor"])["ok"] is True


def test_a_proposal_is_kept_and_a_person_has_not_said_yes(tmp_path: Path) -> None:
    begun(
        tmp_path,
        calls({"name": "remember", "arguments": {"name": "tea", "value": "green"}}),
        calls({"name": "recall", "arguments": {}}),
        {"text": "Noted."},
    )
    succeed("send", "I drink green tea.")
    assert [text for _, _, text in results()] == [
        "'tea' is proposed. It is remembered once the person accepts it.",
        "Nothing is remembered yet.",
    ]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ({"name": "no_such", "arguments": {}}, "there is no tool 'no_such'"),
        ({"name": "current_time", "arguments": {"zone": "UTC"}}, "the arguments do not fit the schema"),
        ({"name": "remember", "arguments": {"name": "tea"}}, "'value' is a required property"),
        ({"name": "current_time", "arguments": "{not JSON"}, "the arguments are not one JSON object"),
    ],
)
def test_windie_86_a_call_that_reaches_no_tool_is_read_by_the_model_and_five_end_the_run(
    tmp_path: Path, call: dict[str, Any], says: str
) -> None:
    begun(tmp_path, calls(call))
    ran = run_cli("send", "Go.", "--json")
    assert ran.code == 1
    error = last_of(ran)["error"]
    assert (error["reason"], says in error["message"]) == ("tools", True)
    assert error["message"].startswith(f"{limits.loop_failures_max} calls in a row reached no tool")
    found = results()
    assert [(outcome, says in text) for _, outcome, text in found] == [("error", True)] * limits.loop_failures_max
    reminded = [number for number, (_, _, text) in enumerate(found, 1) if "Reminder:" in text]
    assert reminded == [limits.loop_failures_reminded_min]


def test_panelot_61_a_denial_is_no_loop_failure(tmp_path: Path) -> None:
    denied = {"name": "recall", "arguments": {}}
    begun(tmp_path, calls(*[denied] * limits.loop_failures_max), {"text": "I may not."})
    succeed("config", "set", "deny", "recall")
    assert succeed("send", "Go.").out == "I may not.\n"
    assert [outcome for _, outcome, _ in results()] == ["denied"] * limits.loop_failures_max


def test_panelot_61_a_good_call_between_bad_ones_ends_no_run(tmp_path: Path) -> None:
    bad = {"name": "no_such", "arguments": {}}
    begun(tmp_path, *[calls(bad, bad), calls(NOW)] * 3, {"text": "Done."})
    assert succeed("send", "Go.").out == "Done.\n"
    assert [outcome for _, outcome, _ in results()] == ["error", "error", "ok"] * 3


@pytest.mark.parametrize("rounds", [limits.rounds_max, 2])
def test_after_so_many_rounds_tools_are_withdrawn_for_one_last_reply(tmp_path: Path, rounds: int) -> None:
    begun(tmp_path, *[calls(NOW)] * rounds, {"text": "Enough."})
    if rounds != limits.rounds_max:
        succeed("config", "set", "rounds", str(rounds))
    assert succeed("send", "Go.").out == "Enough.\n"
    path = given(["path"])
    assert [entry["node"]["role"] for entry in path].count("tool") == rounds
    last, before = path[-1], path[-3]
    assert offered(last["node"]["id"]) == [] and offered(before["node"]["id"]) == ALL
    (notice,) = last["notices"]
    assert f"the limit of {rounds} rounds of tool calls" in notice["text"]


def test_a_result_over_the_limit_is_read_in_part_and_kept_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = "begin " + "x" * limits.result_bytes_max + " end"

    async def much(*_: object) -> object:
        return told(whole)

    monkeypatch.setattr(CurrentTime, "use", much)
    begun(tmp_path, calls(NOW), {"text": "Much."})
    ran = succeed("send", "Go.")
    assert "begin xxx" in ran.err and len(ran.err) < 500
    ((_, _, text),) = results()
    assert text.startswith("begin x") and text.endswith("x end") and "of 65,546 bytes are left out here" in text
    tool = given(["path"])[2]["node"]
    attached = tool["parts"][0]["parts"][1]
    assert (attached["size"], attached["meta"]) == (len(whole), {"whole": True})
    assert "[kept whole: 65.5 kB, blob" in succeed("show", tool["id"]).out
    assert f"[the rest: forkwood show {tool['id'][-8:]}]" in succeed("path").out
    assert {"id": tool["id"], "reason": "the middle of a long result: current_time"} in given(
        ["why", given(["path"])[3]["node"]["id"]]
    )["left_out"]
    assert given(["doctor"])["ok"] is True


def test_a_tool_that_is_switched_off_is_in_no_request(tmp_path: Path) -> None:
    begun(tmp_path, {"text": "Yes."})
    succeed("send", "one")
    assert given(["set", "tools", "-current_time"])["tools_off"] == ["current_time"]
    succeed("send", "two")
    succeed("set", "tools", "+current_time -recall")
    succeed("send", "three")
    replies = [entry["node"]["id"] for entry in given(["path"]) if entry["node"]["role"] == "assistant"]
    assert [[name for name in ALL if name not in offered(node)] for node in replies] == [
        [],
        ["current_time"],
        ["recall"],
    ]
    refused = run_cli("set", "tools", "-current_tim", "--json")
    assert refused.code == 3 and refused.value["error"]["candidates"] == ALL
