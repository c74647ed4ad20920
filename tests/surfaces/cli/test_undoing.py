"""undo and redo at the command line: what was taken back, and what became of runs and messages that wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted
from tests.surfaces.cli.test_tree_verbs import SAID, names, standing, texts

__all__ = ["names"]


@pytest.fixture
def run(tmp_path: Path) -> str:
    """The ending of a run that waits for an answer, and is the newest act."""
    ask = {"name": "ask_user", "arguments": {"questions": [{"text": "Milk?"}]}}
    succeed("new", "--model", scripted(tmp_path, {"tool_calls": [ask]}, {"text": "Noted."}))
    assert run_cli("send", "Tea, please.").code == 5
    return str(given(["runs"])[0]["id"])


def test_undo_and_redo_say_of_what(names: list[str]) -> None:
    succeed("drop", names[1])
    assert succeed("undo").out == "Taken back: a drop. forkwood redo does it again.\n" + standing(names)
    assert texts() == list(SAID)
    assert succeed("redo").out.startswith("Done again: a drop.\n  you   ")
    assert given(["undo"])["kind"] == "act.undone"
    assert run_cli("redo").code == 0
    assert run_cli("redo").code == 4


def test_a_current_conversation_in_the_trash_is_said_to_be_both(names: list[str]) -> None:
    before = given(["ls"])[0]["id"][-8:]
    succeed("new")
    told = succeed("undo")
    assert told.out.startswith("Taken back: the new conversation. forkwood redo does it again.")
    assert told.err == (
        f"It is in the trash and still the current conversation: forkwood use {before} goes to the newest.\n"
    )
    assert succeed("redo").err == ""
    succeed("use", before)
    told = succeed("hide", before)
    assert "still the current conversation: forkwood use " in told.err
    assert succeed("undo", "-c", given(["ls"])[0]["id"]).err == "", "another one is in the trash then"


def test_a_run_that_waited_for_you_is_said_to_be_cancelled(run: str) -> None:
    told = succeed("undo")
    assert told.out.startswith("Taken back: a message")
    assert told.err == (
        f"Run {run[-8:]}, which waited for you, is cancelled: forkwood resume {run[-8:]} starts another.\n"
    )
    assert given(["pending"]) == []


def test_what_waits_in_the_queue_is_told_of(run: str) -> None:
    succeed("send", "And sugar.", "--queue")
    assert succeed("undo").err == "What waited comes no more: And sugar.\n"
    succeed("redo")
    assert [one["text"] for one in given(["queue"])] == ["And sugar."]
    succeed("undo")
    assert "which waited for you, is cancelled" in succeed("undo").err


def test_what_waited_behind_a_run_that_goes_is_said_to_be_held(run: str) -> None:
    succeed("send", "And sugar.", "--queue")
    succeed("cancel", run)
    assert run_cli("send", "Once more.").code == 5
    assert succeed("undo").err.endswith(
        "starts another.\nWhat waited behind it is held (1 message): forkwood queue lists it.\n"
    )
    assert [one["state"] for one in given(["queue"])] == ["held"]


@pytest.mark.parametrize(
    ("arguments", "undone", "redone"),
    [
        (["title", "Trees"], "title: back to Numbers", "title: Trees"),
        (["temperature", "0.5"], "temperature: back to not set", "temperature: 0.5"),
        (["tools", "-recall"], "tools switched off: back to not set", "tools switched off: recall"),
    ],
)
def test_a_setting_is_named_with_what_holds_now(
    names: list[str], arguments: list[str], undone: str, redone: str
) -> None:
    succeed("set", *arguments)
    assert succeed("undo").out.startswith(f"Taken back: {undone}. ")
    assert succeed("redo").out.startswith(f"Done again: {redone}.\n")


def test_a_purge_is_not_what_is_taken_back(names: list[str]) -> None:
    succeed("label", names[0], "first")
    succeed("purge", names[3], "--yes")
    assert succeed("undo").err == "A purge cannot be undone: what was done before it is.\n"
    succeed("label", names[0], "first")
    assert succeed("undo").err == ""
