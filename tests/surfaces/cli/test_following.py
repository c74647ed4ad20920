"""`log --follow`: a line for each event, deltas for programs alone, and an end where nobody reads any more."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from msgspec.structs import replace

from forkwood.domain.watch import DeltaSeen, EventSeen, Seen
from forkwood.runtime.watching import Watching
from forkwood.surfaces.cli.following import Following
from forkwood.surfaces.cli.terminal import Terminal
from tests.surfaces.cli.desks import run_cli, succeed, terminal, written
from tests.surfaces.cli.made import message

RUN = "1" * 32
DELTA = DeltaSeen(run=RUN, part="text", index=0, text="Hel")


def event(seq: int) -> EventSeen:
    return EventSeen(
        seq=seq, at_ms=0, kind="cancel.asked", conversation=None, run=RUN, node=None, by="user", via="cli", payload={}
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str | None]]:
    """What watching was asked for; it gives two events with a delta between them, and ends."""
    wanted: list[tuple[int, str | None]] = []

    async def watch(_: Any, after: int, *, conversation: str | None) -> AsyncGenerator[Seen]:
        wanted.append((after, conversation))
        for item in (event(7), DELTA, event(8)):
            yield item

    monkeypatch.setattr(Watching, "watch", watch)
    return wanted


def test_a_person_and_a_program_get_events_and_what_comes_between(asked: list[tuple[int, str | None]]) -> None:
    lines = succeed("log", "--follow", "--after", "6").out.splitlines()
    assert [line.split()[0] for line in lines] == ["7", "run", "8"]
    assert lines[1] == "        run 11111111: Hel"
    told = succeed("log", "--follow", "--json", "-c", succeed("new", "--json").value["id"]).lines
    assert [(line["type"], line.get("seq"), line.get("text")) for line in told] == [
        ("event", 7, None),
        ("delta", None, "Hel"),
        ("event", 8, None),
    ]
    assert asked[0] == (6, None) and asked[1][0] == 0 and asked[1][1]


def test_nothing_is_written_once_the_reader_has_left(
    asked: list[tuple[int, str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Terminal, "is_heard", property(lambda _: False))
    assert [line["seq"] for line in succeed("log", "--follow", "--json").lines] == [7]


def test_a_number_that_is_none_is_a_usage_error() -> None:
    assert run_cli("log", "--follow", "--after", "-1").code == 2


def test_the_words_of_replies_stand_below_one_another_each_under_its_run() -> None:
    screen = terminal()
    view = Following(screen, 0, lambda _: message(1, None))
    other = DeltaSeen(run="2" * 32, part="text", index=0, text="Ho\n\x1b[2J")
    thought = DeltaSeen(run=RUN, part="thinking", index=1, text="Hm")
    assert [view.see(seen) for seen in (DELTA, thought, DELTA, other, event(7))] == [True, False, True, True, True]
    view.close()
    assert written(screen.out).split("\n")[:3] == [
        "        run 11111111: HelHel",
        "        run 22222222: Ho",
        "        \\x1b[2J",
    ]
    assert written(screen.out).split("\n")[3].startswith("     7  ")


def test_who_names_no_number_begins_with_the_last_ten(asked: list[tuple[int, str | None]]) -> None:
    here = succeed("new", "--json").value["id"]
    for number in range(12):
        succeed("label", succeed("send", "x", "--no-run", "--json").value["id"], f"label {number}")
    numbers = [line["seq"] for line in succeed("log", "--json").lines]
    succeed("log", "--follow")
    succeed("log", "--follow", "--json", "-c", here)
    succeed("log", "--follow", "--after", "0")
    assert [after for after, _ in asked] == [numbers[-11], numbers[-11], 0]


def test_what_was_missed_of_a_reply_follows_when_it_is_kept_and_nothing_of_those_before() -> None:
    screen = terminal()
    view = Following(screen, 7, lambda _: message(1, None, "Hello"))
    for seq in (7, 8, 9):
        if seq == 8:
            view.see(DELTA)
        view.see(replace(event(seq), kind="reply.kept", node="3" * 32))
    lines = written(screen.out).splitlines()
    assert [line.strip().split("  ")[0] for line in lines] == [
        "7",
        "run 11111111: Hello",
        "8",
        "run 11111111: Hello",
        "9",
    ]
