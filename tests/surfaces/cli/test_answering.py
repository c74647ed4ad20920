"""pending, answer and grants as commands: lists of all or of one conversation, nothing to say, and completion."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forkwood.surfaces.cli.desk import Desk
from forkwood.surfaces.cli.named import GRANT, INTERACTION, Name
from tests.surfaces.cli.desks import Ran, given, run_cli, succeed, terminal
from tests.surfaces.cli.scripts import scripted

SEARCH = {"name": "search_conversations", "arguments": {"words": "tree"}}


def stop(folder: Path) -> Ran:
    succeed("new", "--model", scripted(folder, {"tool_calls": [SEARCH]}, {"text": "Done."}))
    return run_cli("send", "Hi")


def test_what_waits_is_listed_for_all_or_for_one_conversation(tmp_path: Path) -> None:
    assert stop(tmp_path).code == stop(tmp_path).code == 5
    first, second = given(["pending"])
    assert [first["conversation"], second["conversation"]] == [one["id"] for one in reversed(given(["ls"]))]
    assert given(["pending", "-c", first["conversation"]]) == [first]
    assert succeed("pending").out.count("approval ") == 2
    assert f"  in {first['conversation'][-8:]} Hi\n  you: Hi\n  search_conversations" in succeed("pending").out


def test_nothing_is_said_as_nothing(tmp_path: Path) -> None:
    succeed("new")
    assert (succeed("pending").err, given(["pending"])) == ("Nothing waits for you.\n", [])
    assert succeed("grants").err.startswith("No grant holds")
    assert given(["grants"]) == []
    assert run_cli("grants", "--revoke", "beef").code == 3


def test_a_stop_is_told_with_the_command_that_answers(tmp_path: Path) -> None:
    ran = stop(tmp_path)
    (asked,) = given(["pending"])
    assert f"The run {asked['run'][-8:]} waits for you:\napproval {asked['id'][-8:]}" in ran.err
    assert f"\n  forkwood answer {asked['id'][-8:]} allow\n" in ran.err
    as_json = run_cli("answer", asked["id"], "allow", "--remember", "run", "--json")
    assert (as_json.code, as_json.err, as_json.lines[-1]["status"]) == (0, "", "done")


def test_an_answer_is_read_from_standard_input(tmp_path: Path) -> None:
    ask = {"name": "ask_user", "arguments": {"questions": [{"text": "Which?"}]}}
    succeed("new", "--model", scripted(tmp_path, {"tool_calls": [ask]}, {"text": "Done."}))
    assert run_cli("send", "Hi").code == 5
    (asked,) = given(["pending"])
    ran = run_cli("answer", asked["id"], "-", "--no-run", "--json", stdin=b"the first one\n")
    assert (ran.code, ran.lines[-1]["answer"]) == (0, "the first one")


def test_a_pipe_into_a_chat_is_asked_nothing(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, {"tool_calls": [SEARCH]}, {"text": "Done."}))
    ran = run_cli("chat", stdin=b"Hi\n")
    (asked,) = given(["pending"])
    assert ran.code == 5
    assert f"  /answer {asked['id'][-8:]} allow\n" in ran.err
    told = run_cli("chat", stdin=f"/answer {asked['id'][-8:]} allow\n".encode())
    assert (told.code, told.out) == (0, "Done.\n")


@pytest.mark.parametrize("kind", [INTERACTION, GRANT])
def test_names_are_completed(tmp_path: Path, kind: Name) -> None:
    stop(tmp_path)
    (asked,) = given(["pending"])
    if kind is GRANT:
        succeed("answer", asked["id"], "allow", "--remember", "conversation")
        (asked,) = given(["grants"])
    with Desk(terminal(**os.environ)) as desk:  # type: ignore[arg-type]
        assert [value for value, _ in kind.candidates(desk, None)] == [asked["id"][-8:]]
