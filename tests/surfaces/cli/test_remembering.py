"""memory as a command: what it lists, decides and states, what it refuses, and what it completes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forkwood.surfaces.cli.desk import Desk
from forkwood.surfaces.cli.named import MEMORY
from tests.surfaces.cli.desks import given, run_cli, succeed, terminal
from tests.surfaces.cli.scripts import scripted

TEA = {"name": "remember", "arguments": {"name": "tea", "value": "green"}}


def propose(folder: Path) -> str:
    """Let a model propose a fact; the id of the proposal."""
    succeed("new", "--model", scripted(folder, {"tool_calls": [TEA]}, {"text": "Noted."}))
    succeed("send", "I drink green tea.")
    (proposed,) = given(["memory"])
    return str(proposed["id"])


def test_nothing_is_said_as_nothing() -> None:
    assert succeed("memory").err == "Nothing is remembered.\n"
    assert succeed("memory", "tea").err == "Nothing is remembered under that name.\n"
    assert given(["memory"]) == []


def test_facts_are_stated_replaced_forgotten_and_looked_back_at() -> None:
    assert succeed("memory", "--add", "tea", "green").out.startswith("'tea' is remembered: later runs are told it.")
    (black,) = given(["memory", "--add", "tea", "black", "--key", "k"])
    assert given(["memory", "--add", "tea", "black", "--key", "k"]) == [black]
    assert given(["memory", "tea"]) == given(["memory"]) == [black]
    assert succeed("memory", "--forget", "tea").out.startswith("'tea' is forgotten")
    assert given(["memory"]) == []
    history = given(["memory", "--history", "tea"])
    assert [(one["value"], one["version"], one["state"]) for one in history] == [
        ("green", 1, "accepted"),
        ("black", 2, "accepted"),
        ("", 3, "accepted"),
    ]
    assert [one["superseded_by"] for one in history] == [history[1]["id"], history[2]["id"], None]
    assert succeed("memory", "--history", "tea").out.count("superseded ") == 2


@pytest.mark.parametrize(("way", "state"), [("--accept", "accepted"), ("--reject", "rejected")])
def test_a_proposal_is_decided(tmp_path: Path, way: str, state: str) -> None:
    proposed = propose(tmp_path)
    (decided,) = given(["memory", way, proposed[-8:]])
    assert (decided["id"], decided["state"]) == (proposed, state)
    other = "--reject" if way == "--accept" else "--accept"
    refused = run_cli("memory", other, proposed)
    assert refused.code == 4 and f"was {state} already" in refused.err


def test_one_thing_at_a_time() -> None:
    for words in (
        ["tea", "--forget", "tea"],
        ["--forget", "a", "--history", "a"],
        ["--add", "a", "b", "--forget", "a"],
    ):
        assert run_cli("memory", *words).code == 2
    assert run_cli("memory", "--add", "tea").code == 2
    assert run_cli("memory", "--forget", "tea").code == run_cli("memory", "--accept", "beef").code == 3


def test_what_was_proposed_is_said_at_the_end_of_the_send_that_did(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, {"tool_calls": [TEA]}, {"text": "Noted."}))
    told = succeed("send", "I drink green tea.").err.splitlines()
    (proposed,) = given(["memory"])
    ending = proposed["id"][-8:]
    assert told[-1] == (
        f"Proposed to be remembered: tea: green. forkwood memory --accept {ending} accepts it, "
        f"--reject {ending} does not."
    )
    again = run_cli("chat", stdin=f"/memory --accept {ending}\n/memory\n".encode())
    assert again.out.startswith("'tea' is remembered") and f"accepted {ending}" in again.out
    succeed("new", "--model", scripted(tmp_path, {"text": "So."}, file="other.json"))
    assert "Proposed" not in succeed("send", "Hm?").err


def test_proposals_are_completed(tmp_path: Path) -> None:
    proposed = propose(tmp_path)
    with Desk(terminal(**os.environ)) as desk:  # type: ignore[arg-type]
        assert [*MEMORY.candidates(desk, None)] == [(proposed[-8:], "tea: green")]


def test_what_was_proposed_is_told_before_what_is_asked_and_not_inside_it(tmp_path: Path) -> None:
    ask = {"name": "ask_user", "arguments": {"questions": [{"text": "Milk?"}]}}
    succeed("new", "--model", scripted(tmp_path, {"tool_calls": [TEA, ask]}, {"text": "Noted."}))
    told = run_cli("send", "I drink green tea.").err
    proposed, waits, asked = (told.index(words) for words in ("Proposed to be", "waits for you:\nquestion ", "Milk?\n"))
    assert proposed < waits < asked


def test_a_version_is_looked_up_by_its_id_like_a_message(tmp_path: Path) -> None:
    name = propose(tmp_path)
    (waiting,) = given(["memory"])
    assert given(["why", name]) == {
        "memory": waiting,
        "model": given(["show", waiting["node"]])["origin"]["model"],
        "decided": None,
    }
    assert "nobody has decided about it yet" in succeed("why", name[-8:]).out
    succeed("memory", "--accept", name)
    assert given(["history", name[-8:]]) == given(["memory", "--history", "tea"])
    assert succeed("history", name).out == succeed("memory", "--history", "tea").out
    told = given(["why", name])
    assert (told["memory"]["state"], told["decided"]["kind"], told["decided"]["by"]) == (
        "accepted",
        "memory.decided",
        "user",
    )
    drawn = succeed("why", name).out
    assert f"in {waiting['node'][-8:]}, run {waiting['run'][-8:]}, in its call call_1" in drawn
    assert "accepted by user via cli" in drawn
    stated = given(["memory", "--add", "coffee", "black"])[0]["id"]
    assert given(["why", stated])["model"] is None
    for verb in ("history", "why"):
        assert run_cli(verb, "beefbeef").code == 3


def test_what_a_purge_took_is_told_as_purged(tmp_path: Path) -> None:
    name = propose(tmp_path)
    (waiting,) = given(["memory"])
    first = given(["memory", "--accept", name, "--key", "k"])
    assert first[0]["state"] == "accepted"
    succeed("purge", waiting["node"], "--yes")
    again = succeed("memory", "--accept", name, "--key", "k").out
    assert again.startswith("What this memory said was purged") and "forgotten" not in again
    assert "(purged)" in succeed("history", name).out
