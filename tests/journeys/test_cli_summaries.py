"""A long conversation from the command line: summaries are made, used where they fit, and every reply stays proved."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

SUM = {"match": "Write a summary", "text": "They spoke of oaks.", "usage": {"input": 90, "output": 6}}
LONG = "so many words " * 220
"""Some 3,100 letters: 770 of the 3,000 tokens that a context of 4,000 has room for; the tools take 800."""


def begun(folder: Path, *replies: dict[str, Any], context: str = "4000") -> None:
    succeed("new", "--model", scripted(folder, *replies))
    succeed("set", "context", context)


def talked(*words: str) -> None:
    for one in words:
        succeed("send", f"{one} {LONG}")


def why(node: str = "@") -> dict[str, Any]:
    found: dict[str, Any] = given(["why", node])
    return found


def ids() -> list[str]:
    return [entry["node"]["id"] for entry in given(["path"])]


def events(kind: str) -> list[dict[str, Any]]:
    return [event for event in succeed("log", "--json").lines if event["kind"] == kind]


def test_pain_20_a_long_talk_goes_on_under_a_summary_and_why_names_what_it_stands_for(tmp_path: Path) -> None:
    begun(tmp_path, SUM, {"text": "Good."})
    talked("oak", "elm")
    ran = succeed("send", f"ash {LONG}")
    assert ran.out == "Good.\n", "what a summary says is no reply"
    assert "a summary of the first 4 messages is made first" in ran.err
    found = why()
    assert found["verified"] is True and found["summary"]["text"] == "They spoke of oaks."
    assert found["summary"]["covers"] == ids()[:4]
    assert "oak " not in str(found["prompt"]["messages"][0]["parts"][0]["text"]).replace("oaks", "")
    assert found["summary"]["tokens_without"] > 3_000 > found["summary"]["tokens_with"]
    shown = succeed("why").out
    assert f"the first 4 messages, {ids()[0][-8:]} to {ids()[3][-8:]}" in shown and "tokens" in shown
    assert len(ids()) == 6, "the transcript stays as it is"
    assert (len(events("summary.begun")), len(events("summary.made"))) == (1, 1)
    (made,) = events("summary.made")
    assert made["run"] is not None and made["payload"]["usage"]["input"] == 90
    assert given(["ls"])[0]["usage"]["input"] == 90


def test_after_a_hide_it_is_not_used_after_unhide_it_is_and_older_replies_stay_proved(tmp_path: Path) -> None:
    begun(tmp_path, SUM, {"text": "Good."})
    talked("oak", "elm", "ash")
    older, hidden = ids()[-1], ids()[1]
    summary = why(older)["summary"]["id"]
    succeed("hide", hidden)
    succeed("set", "context", "none")
    succeed("send", "and now?")
    assert why()["summary"] is None and why()["verified"] is True
    assert (why(older)["verified"], why(older)["summary"]["id"]) == (True, summary)
    succeed("unhide", hidden)
    succeed("send", "and now?")
    assert why()["summary"]["id"] == summary and why()["verified"] is True


def test_after_a_kept_edit_no_edited_away_word_is_in_any_prompt(tmp_path: Path) -> None:
    begun(tmp_path, {**SUM, "text": "They spoke of mandrake."}, {"text": "Good."})
    talked("mandrake", "elm", "ash")
    assert "mandrake" in str(why()["prompt"])
    succeed("edit", ids()[0], "birch", "--keep")
    scripted(tmp_path, {**SUM, "text": "Of elms."}, {"text": "Good."})
    talked("beech", "yew", "fir")
    assert why()["summary"]["text"] == "Of elms."
    since = [why(node) for node in ids()[7::2]]
    assert len(since) == 3 and all(found["verified"] and found["prompt"] for found in since)
    assert not any("mandrake" in str(found["prompt"]) for found in since)


def test_where_the_newest_message_alone_is_too_long_nothing_is_asked(tmp_path: Path) -> None:
    begun(tmp_path, SUM, {"text": "Good."})
    talked("oak")
    ran = run_cli("send", LONG * 4)
    assert (ran.code, ran.out) == (6, "")
    assert "the newest exchange" in ran.err and "for a context of 4,000" in ran.err
    assert "forkwood set context N" in ran.err and "forkwood drop" in ran.err
    assert events("summary.begun") == []


def test_pain_21_two_failed_tries_end_the_run_and_a_summary_by_hand_helps(tmp_path: Path) -> None:
    broken = {**SUM, "fail": {"status": 503, "times": 9, "retry_after": 0}}
    begun(tmp_path, broken, {"text": "Good."})
    talked("oak", "elm")
    ran = run_cli("send", f"ash {LONG}")
    assert ran.code == 6
    assert "after 2 summaries (the last failed: scripted: status 503" in ran.err
    assert len(events("summary.failed")) == 2
    asked = ids()[-1]
    succeed("summarize", "--model", scripted(tmp_path, {"text": "By hand."}, file="other.json"))
    succeed("retry", asked)
    assert why()["summary"]["text"] == "By hand."


def test_killed_while_a_summary_is_made_it_is_made_again_and_stands_once(tmp_path: Path) -> None:
    begun(tmp_path, {**SUM, "delay_ms": 60_000}, {"text": "Good."})
    talked("oak", "elm")
    command = [sys.executable, "-m", "forkwood", "send", f"ash {LONG}", "--json", "--key", "k"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ.copy()) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if '"summary.begun"' in line:
                break
        os.kill(process.pid, signal.SIGKILL)
    scripted(tmp_path, SUM, {"text": "Good."})
    succeed("send", f"ash {LONG}", "--key", "k")
    assert (len(events("summary.begun")), len(events("summary.made"))) == (2, 1)
    assert why()["summary"]["text"] == "They spoke of oaks." and why()["verified"] is True
    assert given(["ls"])[0]["usage"]["input"] == 90
    assert succeed("doctor", "--json").value["ok"] is True


def test_a_prompt_that_the_server_cut_opens_a_doubt_and_go_on_ends_it_well(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, {"text": "What?", "usage": {"input": 300, "output": 2}}))
    assert run_cli("send", "so many words " * 800).code == 5
    (doubt,) = given(["pending"])
    assert (doubt["kind"], doubt["call"]) == ("doubt", None)
    ran = succeed("answer", doubt["id"], "go-on")
    assert given(["pending"]) == [] and given(["runs"])[0]["status"] == "done"
    assert ran.out in {"What?\n", ""}


def test_a_prompt_that_the_server_cut_opens_a_doubt_and_stop_ends_the_run_failed(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, {"text": "What?", "usage": {"input": 300, "output": 2}}))
    ran = run_cli("send", "so many words " * 800)
    assert ran.code == 5 and "go-on" in ran.err and "stop" in ran.err
    (doubt,) = given(["pending"])
    assert run_cli("answer", doubt["id"], "stop").code == 1
    (run,) = given(["runs"])
    assert (run["status"], run["error"]["reason"]) == ("failed", "prompt_cut")
    assert "set context" in run["error"]["hint"]
