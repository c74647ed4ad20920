"""path, tree, show, branches, history, why, log, search, trash at the command line."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import echoing


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    """The endings of a question, its reply, and another version of the question."""
    succeed("new", "--model", echoing(tmp_path), "--title", "Trees")
    succeed("send", "What is a tree?")
    path = [entry["node"]["id"][-8:] for entry in given(["path"])]
    new = given(["edit", "@~1", "What is a tréé, snake_case?", "--no-run"])["id"][-8:]
    succeed("switch", path[1])
    return [*path, new]


def test_a_path_is_made_to_be_read(names: list[str]) -> None:
    first, second = succeed("path").out.split("\n\n")
    assert first == f"you  {names[0]} #1 ‹1/2›\n  What is a tree?"
    assert second.startswith(f"reply  {names[1]} #2 scripted:")
    assert second.endswith("◀ @\n  A reply.\n")
    assert succeed("path", "#1").out == f"you  {names[0]} #1 ‹1/2›\n  What is a tree?\n"


def test_a_path_can_be_read_anywhere(names: list[str]) -> None:
    told = succeed("path", encoding="ascii")
    assert f"{names[0]} #1 <1/2>" in told.out
    assert "tr\\xe9\\xe9" in succeed("path", names[2], encoding="ascii").out


def test_text_that_would_act_on_the_screen_is_spelled_and_kept(names: list[str]) -> None:
    succeed("send", "abc\0def \x1b[2J \u202e", "--no-run")
    assert "abc\\x00def \\x1b[2J \\u202e" in succeed("path").out
    assert given(["show", "@"])["text"] == "abc\0def \x1b[2J \u202e"


def test_a_tree_shows_every_branch(names: list[str]) -> None:
    drawn = succeed("tree").out.split("\n")
    assert drawn[0].startswith(f"├─○ {names[2]}  What is a tréé")
    assert drawn[1].startswith(f"○ {names[0]}  What is a tree?")
    assert drawn[2].startswith(f"● {names[1]}  A reply.") and drawn[2].endswith("◀ @")
    assert "messages" not in succeed("tree", "--fold").out


def test_a_tree_can_be_a_picture(names: list[str], tmp_path: Path) -> None:
    assert succeed("tree", "--svg", str(tmp_path / "tree.svg")).out.startswith("Written: ")
    assert (tmp_path / "tree.svg").read_text().startswith("<svg ")
    assert run_cli("tree", "--svg", str(tmp_path / "no" / "tree.svg")).code == 2


def test_branches_versions_and_one_message(names: list[str]) -> None:
    listed = succeed("branches").out.splitlines()
    assert [line.split("  ")[0] for line in listed if not line.startswith(" ")] == [names[2], names[1]]
    assert listed[1] == "  from the beginning"
    assert "version 2 of 2" in succeed("history", names[0]).out
    assert given(["history", names[2]])[0]["text"] == "What is a tree?"
    shown = given(["show", names[1]])
    assert shown["digest"] == given(["show", "@"])["digest"]
    assert f"digest {shown['digest']}" in succeed("show", names[1]).out


def test_why_is_verified_and_refuses_what_no_model_said(names: list[str]) -> None:
    assert succeed("why", names[1]).out.startswith("verified")
    told = run_cli("why", names[0])
    assert (told.code, "by hand" in told.err) == (4, True)


def test_why_shows_the_words_that_were_sent(names: list[str]) -> None:
    succeed("set", "system", "Be plain.")
    succeed("send", "And a bush?")
    *sent, offered = succeed("why", "--prompt").out.split("\n\n")[1:]
    assert sent == [
        "system\n  Be plain.",
        "user\n  What is a tree?",
        "assistant\n  A reply.",
        "user\n  And a bush?",
    ]
    assert offered.startswith("tools offered\n") and "\n  search_conversations: " in offered
    assert succeed("why", "--prompt", "--json").value == given(["why"])


def test_a_fork_shows_what_it_carries(names: list[str]) -> None:
    succeed("fork", "@")
    assert "carries 2 messages" in succeed("tree").out
    assert "What is a tree? … A rep" in succeed("tree").out


def test_the_log_is_of_all_conversations_unless_one_is_named(names: list[str]) -> None:
    here = given(["ls"])[0]["id"]
    other = given(["new"])["id"]
    events = succeed("log", "--json").lines
    assert {event["conversation"] for event in events} == {here, other}
    assert {event["conversation"] for event in succeed("log", "-c", other, "--json").lines} == {other}
    last = events[-1]["seq"]
    assert succeed("log", "--after", str(last)).out == ""
    assert len(succeed("log", "--after", str(last - 1)).out.splitlines()) == 1
    assert run_cli("log", "--after", "-1").code == 2


@pytest.mark.parametrize(
    ("words", "found"),
    (
        (["tree"], 2),
        (["tree", "a"], 2),
        (["snake_case"], 1),
        (["tree?"], 1),
        (["reply", "nothing"], 0),
        (["tree OR reply"], 0),
        (["tree OR reply", "--fts"], 3),
        (["epl", "--substring"], 1),
        (["reply", "--role", "user"], 0),
        (["is", "--limit", "1"], 1),
    ),
)
def test_words_are_literal_unless_they_are_not(names: list[str], words: list[str], found: int) -> None:
    assert len(given(["search", *words])) == found
    assert len(succeed("search", *words).out.splitlines()) == max(1, found * 2)


def test_an_expression_that_is_none_is_told(names: list[str]) -> None:
    assert run_cli("search", '"open', "--fts").code == 2
    assert run_cli("search", "").code == 2
    assert run_cli("search", "x", "--limit", "0").code in {2, 6}


def test_nothing_hidden_is_said(names: list[str]) -> None:
    assert succeed("trash").out == "Nothing is hidden.\n"


def test_a_log_number_beyond_all_numbers_is_a_usage_error(names: list[str]) -> None:
    assert run_cli("log", "--after", "9" * 30).code == 2
    assert succeed("log", "--after", str(2**63 - 1)).out == ""


def lose_the_head(home: Path) -> None:
    with sqlite3.connect(home / "forkwood.db") as by_hand:
        by_hand.execute("DROP TRIGGER node_stays")
        by_hand.execute("DELETE FROM node WHERE seq = 2")
    by_hand.close()


@pytest.mark.parametrize("how", ([], ["--json"]))
def test_a_head_that_was_lost_is_told_beside_what_is_read(names: list[str], home: Path, how: list[str]) -> None:
    lose_the_head(home)
    ran = succeed("path", *how)
    assert "snake_case" in ran.out
    assert ran.err.startswith("Notice: the path of the head was broken")
    assert succeed("path", *how).err == ""


def test_a_chat_tells_it_too(names: list[str], home: Path) -> None:
    lose_the_head(home)
    ran = succeed("chat", stdin=b"Hello?\n")
    assert ran.err.count("Notice: the path of the head was broken") == 1


def test_a_picture_is_written_where_somebody_reads_and_waits_for_nobody(names: list[str], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused = run_cli("tree", "--svg", str(pipe))
    assert (refused.code, "cannot be written" in refused.err) == (2, True)
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as reader:
        succeed("tree", "--svg", str(pipe))
        assert reader.read().startswith("<svg ")
    old = tmp_path / "old.svg"
    old.write_text("x" * 1_000_000)
    succeed("tree", "--svg", str(old))
    assert old.read_text().endswith("</svg>\n")
