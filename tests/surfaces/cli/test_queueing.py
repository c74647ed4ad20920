"""queue at the command line, and what is told of a message that waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forkwood.domain.ids import ending
from forkwood.runtime import driven
from forkwood.surfaces.cli.desk import Desk
from tests.surfaces.cli.desks import given, run_cli, succeed, terminal
from tests.surfaces.cli.scripts import echoing

IS_DRIVEN = driven.is_driven


@pytest.fixture
def run(tmp_path: Path) -> str:
    """A run that is at work: a living driver, which is this process, has it and does nothing."""
    given(["new", "--model", echoing(tmp_path)])
    with Desk(terminal(**os.environ)) as desk:  # type: ignore[arg-type]
        [begun] = desk.runtime.send("Hello?").runs
    return begun


@pytest.fixture
def waiting(run: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two that wait for it, by their ids."""
    monkeypatch.setattr("forkwood.runtime.driven.is_driven", lambda *_: True)
    return [given(["send", words])["id"] for words in ("one", "two")]


def texts() -> list[str]:
    return [entry["node"]["text"] for entry in given(["path"])]


def test_a_message_that_waits_is_told_and_nothing_is_heard(run: str, waiting: list[str]) -> None:
    told = succeed("send", "three")
    assert told.out.startswith("Queued as ")
    assert f"when run {ending(run)} is over" in told.out
    assert f"before the next turn of run {ending(run)}" in succeed("send", "four", "--steer").out
    [line] = succeed("send", "five", "--queue", "--json").lines
    assert (line["type"], line["state"], line["behind"], line["text"], line["node"]) == (
        "queued", "waiting", run, "five", None,
    )  # fmt: skip
    assert texts() == ["Hello?"]


def test_it_is_listed_changed_and_taken_out(run: str, waiting: list[str]) -> None:
    one, two = waiting
    assert [(item["id"], item["text"]) for item in given(["queue"])] == [(one, "one"), (two, "two")]
    drawn = succeed("queue").out.splitlines()
    assert [line.split() for line in drawn] == [
        [ending(one), "behind", ending(run), "one"], [ending(two), "behind", ending(run), "two"],
    ]  # fmt: skip
    [changed, _] = given(["queue", "--edit", one[-6:], "another", "--key", "k"])
    assert (changed["id"], changed["text"]) == (one, "another")
    assert given(["queue", "--edit", one[-6:], "another", "--key", "k"])[0]["text"] == "another"
    assert given(["queue", "--edit", one, "-"], stdin=b"piped\n")[0]["text"] == "piped"
    removed = succeed("queue", "--remove", two)
    assert "comes no more" in removed.err and ending(two) not in removed.out
    succeed("undo")
    assert [item["text"] for item in given(["queue"])] == ["piped", "two"]


def test_an_editor_opens_where_no_text_is_given(waiting: list[str], tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "by hand" > "$1"\n')
    editor.chmod(0o755)
    changed = given(["queue", "--edit", waiting[0]], environ={"EDITOR": str(editor), "VISUAL": ""})
    assert changed[0]["text"] == "by hand"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["queue", "TEXT"], 2),
        (["queue", "--edit", "beefbeef", "TEXT"], 3),
        (["queue", "--remove", "beefbeef"], 3),
        (["queue", "--edit", "beefbeef", "--remove", "beefbeef"], 2),
        (["send", "TEXT", "--queue", "--steer"], 2),
        (["send", "TEXT", "--steer", "--no-run"], 2),
    ],
)
def test_what_makes_no_sense_is_refused(waiting: list[str], arguments: list[str], code: int) -> None:
    assert run_cli(*arguments).code == code
    assert len(given(["queue"])) == 2


def test_where_no_run_is_at_work_nothing_is_steered_and_what_would_wait_is_said(tmp_path: Path) -> None:
    assert run_cli("send", "Hello?", "--steer").code == 3, "no conversation is begun for it"
    succeed("new", "--model", echoing(tmp_path))
    ran = run_cli("send", "Hello?", "--steer")
    assert (ran.code, "nothing to steer" in ran.err) == (4, True)
    assert succeed("send", "Hello?", "--queue").out == "A reply.\n"
    assert (succeed("queue").out, given(["queue"])) == ("", [])


def test_what_nobody_drives_is_driven_by_who_steers_it(run: str) -> None:
    ran = succeed("send", "Left!", "--steer")
    assert ran.out.startswith("Queued as ") and ran.out.endswith("A reply.\n")
    assert texts() == ["Hello?", "Left!", "A reply."]


def test_after_a_cancel_what_is_held_comes_behind_what_is_said_next(
    run: str, waiting: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    succeed("cancel", run)
    assert {item["state"] for item in given(["queue"])} == {"held"}
    assert f"  held, behind {ending(run)}" in succeed("queue").out
    monkeypatch.setattr("forkwood.runtime.driven.is_driven", IS_DRIVEN)
    ran = succeed("send", "Instead")
    assert "What was held comes after it (2 messages)" in ran.err
    assert ran.out == "A reply.\n" * 3
    assert [line for line in ran.err.splitlines() if line.startswith("Next")] == [
        "Next in the queue: one", "Next in the queue: two",
    ]  # fmt: skip
    assert texts() == ["Hello?", "Instead", "A reply.", "one", "A reply.", "two", "A reply."]


def test_a_repeat_by_its_key_is_told_how_things_stand_by_then(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as at_work:
        at_work.setattr("forkwood.runtime.driven.is_driven", lambda *_: True)
        first = given(["send", "one", "--key", "k"])
        assert given(["send", "one", "--key", "k"]) == first
        gone = given(["send", "two", "--key", "gone"])
        succeed("queue", "--remove", gone["id"])
        assert "is removed" in succeed("send", "two", "--key", "gone").out
    again = succeed("send", "one", "--key", "k", "--json").lines
    assert again[0] == first, "it waits still, and what it waits for is driven now"
    assert again[-1]["run"] == run
    last = succeed("send", "one", "--key", "k", "--json").lines
    assert [line["type"] for line in last] == ["result"] and last[0]["text"] == "A reply."
    assert texts() == ["Hello?", "A reply.", "one", "A reply."]


def test_in_a_chat_it_is_a_verb_like_any_other(run: str, waiting: list[str]) -> None:
    typed = f"three\n/queue --edit {waiting[0][-8:]} not one but: 'two\n/queue --remove {waiting[1][-8:]}\n"
    ran = run_cli("chat", stdin=typed.encode())
    assert ran.code == 0 and ran.out.startswith("Queued as ")
    assert [item["text"] for item in given(["queue"])] == ["not one but: 'two", "three"]


def test_a_steer_that_is_held_is_still_said_to_be_one(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forkwood.runtime.driven.is_driven", lambda *_: True)
    steer = given(["send", "Left!", "--steer"])["id"]
    succeed("cancel", run)
    assert succeed("queue").out == f"{ending(steer)}  a steer, held, behind {ending(run)}  Left!\n"
