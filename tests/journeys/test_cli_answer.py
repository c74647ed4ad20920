"""A run stops at an approval and its terminal is gone: another one lists it, answers, and watches it finish."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

SEARCH = {"name": "search_conversations", "arguments": {"words": "tree\u202e"}}
QUESTIONS = {"questions": [{"text": "Which?", "options": ["oak", "elm"]}, {"text": "Why?"}]}
ASK = {"name": "ask_user", "arguments": QUESTIONS}


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "forkwood", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy())


def stop(folder: Path, *calls: dict[str, Any], more: int = 0) -> list[dict[str, Any]]:
    """A process of its own sends something, and ends where a person is to answer; what waits then."""
    turns = [{"text": "Let me look.", "tool_calls": list(calls)}] * (1 + more)
    succeed("new", "--model", scripted(folder, *turns, {"text": "Done."}))
    with start("send", "Find trees") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (5, "Let me look.\n")
    found: list[dict[str, Any]] = given(["pending"])
    assert all(f"forkwood answer {asked['id'][-8:]} allow" in err for asked in found if asked["kind"] == "approval")
    return found


def texts() -> list[str]:
    return [entry["node"]["text"] for entry in given(["path"])]


def test_pain_37_stop_leave_come_back_answer_and_watch_it_finish(tmp_path: Path) -> None:
    (asked,) = stop(tmp_path, SEARCH)
    name = asked["id"][-8:]
    shown = succeed("pending").out
    assert '"words": "tree\\u202e"' in shown
    assert "covers every further call of search_conversations there" in shown
    assert f"  forkwood answer {name} allow --remember conversation\n" in shown
    lines = succeed("answer", name, "allow", "--json").lines
    assert (lines[-1]["type"], lines[-1]["status"], lines[-1]["text"]) == ("result", "done", "Done.")
    assert {line["kind"] for line in lines if line["type"] == "event"} >= {"call.started", "call.settled", "run.ended"}
    assert texts()[-1] == "Done."
    assert given(["pending"]) == []
    assert succeed("pending").err == "Nothing waits for you.\n"


def test_a_no_is_something_the_model_reads(tmp_path: Path) -> None:
    (asked,) = stop(tmp_path, SEARCH)
    ran = succeed("answer", asked["id"], "deny")
    assert ran.out == "Done.\n"
    (result,) = given(["path"])[2]["node"]["parts"]
    assert (result["outcome"], result["parts"][0]["text"]) == ("denied", "a person said no")


def test_with_no_run_it_is_only_answered(tmp_path: Path) -> None:
    (asked,) = stop(tmp_path, SEARCH)
    answered = given(["answer", asked["id"], "allow", "--no-run"])
    assert (answered["status"], answered["answer"], answered["by"], answered["via"]) == (
        "answered",
        "allow",
        "user",
        "cli",
    )
    assert [run["status"] for run in given(["runs"])] == ["running"]
    ran = run_cli("send", "And then?")
    assert "A run was left here that is not over" in ran.err
    assert texts()[:4] == ["Find trees", "Let me look.", texts()[2], "Done."]


def test_windie_96_one_answer_of_two_leaves_the_run_waiting_for_the_other(tmp_path: Path) -> None:
    first, second = stop(tmp_path, SEARCH, SEARCH)
    ran = run_cli("answer", first["id"], "allow")
    assert ran.code == 5
    assert f"forkwood answer {second['id'][-8:]} deny" in ran.err
    assert given(["pending"]) == [second]
    assert succeed("answer", second["id"], "allow").out == "Done.\n"


def test_two_who_answer_at_once_are_one_answer(tmp_path: Path) -> None:
    (asked,) = stop(tmp_path, SEARCH)
    with start("answer", asked["id"], "allow", "--json") as one, start("answer", asked["id"], "deny", "--json") as two:
        ended = [(process.communicate(timeout=60)[0], process.returncode) for process in (one, two)]
    assert sorted(code for _, code in ended) == [0, 4]
    (refused,) = [out for out, code in ended if code == 4]
    assert '"kind":"conflict"' in refused
    assert [entry["node"]["text"] for entry in given(["path"])][-1] == "Done."
    assert [run["status"] for run in given(["runs"])] == ["done"]
    closed = [line for line in succeed("log", "--json").lines if line["kind"] == "interaction.closed"]
    assert len(closed) == 1


def test_two_with_the_same_answer_both_see_it_finish(tmp_path: Path) -> None:
    (asked,) = stop(tmp_path, SEARCH)
    with start("answer", asked["id"], "allow", "--json") as one, start("answer", asked["id"], "allow", "--json") as two:
        ended = [(process.communicate(timeout=60)[0].splitlines()[-1], process.returncode) for process in (one, two)]
    assert [code for _, code in ended] == [0, 0]
    assert ended[0][0] == ended[1][0]
    assert [line["kind"] for line in succeed("log", "--json").lines].count("call.started") == 1


def test_a_question_is_answered_with_a_text_for_each(tmp_path: Path) -> None:
    (asked,) = stop(tmp_path, ASK)
    assert [question["text"] for question in asked["questions"]] == ["Which?", "Why?"]
    told = succeed("pending").out
    assert "  1. Which?\n    - oak\n    - elm\n  2. Why?\n" in told
    assert f'forkwood answer {asked["id"][-8:]} "TEXT 1" "TEXT 2"' in told
    assert run_cli("answer", asked["id"], "oak").code == 2
    assert succeed("answer", asked["id"], "the oak", "it is old").out == "Done.\n"
    (result,) = given(["path"])[2]["node"]["parts"]
    assert result["parts"][0]["text"] == "Which?\nthe oak\n\nWhy?\nit is old"


def test_a_remembered_yes_asks_no_more_until_it_is_revoked(tmp_path: Path) -> None:
    (asked,) = stop(tmp_path, SEARCH, more=1)
    assert succeed("answer", asked["id"], "allow", "--remember", "conversation").out.endswith("Done.\n")
    (grant,) = given(["grants"])
    assert (grant["tool"], grant["scope"], grant["of"]) == (
        "search_conversations",
        "conversation",
        asked["conversation"],
    )
    assert f"{grant['id'][-8:]}  search_conversations  every call in conversation" in succeed("grants").out
    assert f"granted  search_conversations by {grant['id'][-8:]}" in succeed("why", "@~2").out
    assert "asked    approval" in succeed("why", "@~4").out
    ran = succeed("grants", "--revoke", grant["id"], "--key", "k")
    assert ran.err == f"Revoked {grant['id'][-8:]}: search_conversations asks again.\n"
    assert given(["grants"]) == given(["grants", "--revoke", grant["id"], "--key", "k"]) == []
    assert run_cli("send", "Again").code == 5


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (("yes",), 2, "usage"),
        (("deny", "--remember", "run"), 2, "usage"),
        (("allow", "--remember", "project"), 4, "refused"),
        ((), 2, "usage"),
    ],
)
def test_what_is_no_answer_is_refused(tmp_path: Path, words: tuple[str, ...], code: int, kind: str) -> None:
    (asked,) = stop(tmp_path, SEARCH)
    ran = run_cli("answer", asked["id"], *words, "--json")
    assert (ran.code, ran.value["error"]["kind"]) == (code, kind)
    assert given(["pending"]) == [asked]
    assert run_cli("answer", "beef", "allow").code == 3


def test_the_same_command_with_its_key_gives_the_same_result(tmp_path: Path) -> None:
    (asked,) = stop(tmp_path, SEARCH)
    first = succeed("answer", asked["id"], "allow", "--key", "k", "--json").lines[-1]
    assert succeed("answer", asked["id"], "allow", "--key", "k", "--json").lines[-1] == first
    assert run_cli("answer", asked["id"], "deny", "--key", "k").code == 4
