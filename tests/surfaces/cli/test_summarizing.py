"""summarize at the command line: in words and in JSON."""

from __future__ import annotations

from pathlib import Path

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

SUM = {"match": "Write a summary", "text": "They met.\x1b", "usage": {"input": 40, "output": 3}}


def talked(folder: Path) -> list[str]:
    succeed("new", "--model", scripted(folder, SUM, {"text": "A reply."}))
    for words in ("One", "Two", "Three"):
        succeed("send", words)
    return [entry["node"]["id"] for entry in given(["path"])]


def test_it_is_shown_with_what_it_stands_for(tmp_path: Path) -> None:
    ids = talked(tmp_path)
    ran = succeed("summarize")
    assert ran.out == "They met.\\x1b\n"
    assert f"the first 4 messages, {ids[0][-8:]} to {ids[3][-8:]}" in ran.err
    assert "It took 40 + 3 tokens." in ran.err


def test_json_gives_the_summary_whole(tmp_path: Path) -> None:
    ids = talked(tmp_path)
    made = given(["summarize", ids[3], "--key", "k"])
    assert made == given(["summarize", ids[3], "--key", "k"])
    assert (made["covers"], made["text"], made["usage"]["input"]) == (ids[:2], "They met.\x1b", 40)
    assert set(made) == {"conversation", "summary", "covers", "text", "model", "usage", "cost"}


def test_nothing_to_summarise_is_refused(tmp_path: Path) -> None:
    succeed("new", "--model", scripted(tmp_path, SUM))
    succeed("send", "One")
    ran = run_cli("summarize")
    assert ran.code == 4 and "nothing before the newest exchange" in ran.err


def test_in_a_chat_it_is_a_command_too(tmp_path: Path) -> None:
    talked(tmp_path)
    assert "They met." in succeed("chat", stdin=b"/summarize\n").out


def test_what_others_call_it_leads_here() -> None:
    assert "perhaps forkwood summarize;" in run_cli("compact").err
