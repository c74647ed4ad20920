"""Purge after a salvage: what damage left of a message, in titles and in rows put aside, goes too; nothing fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.act import Who
from forkwood.runtime import Runtime
from forkwood.store import doctor
from tests.runtime import seeded
from tests.runtime.doors import NOON, said
from tests.runtime.seeded import MARKER, assert_gone
from tests.store.breaking import broken, nobody

TITLES = "kind = 'message.sent' AND instr(payload, 'title')"
DAMAGES = {
    "the message": ["UPDATE node SET parts = CAST(x'ff' || parts AS TEXT) WHERE seq = 1"],
    "the event that titled": [f"UPDATE event SET payload = CAST(x'ff' || payload AS TEXT) WHERE {TITLES}"],
    "both": [
        "UPDATE node SET parts = CAST(x'ff' || parts AS TEXT) WHERE seq = 1",
        f"UPDATE event SET payload = CAST(x'ff' || payload AS TEXT) WHERE {TITLES}",
    ],
    "every event": ["UPDATE event SET payload = CAST(x'ff' || payload AS TEXT) WHERE seq > 1"],
    "the title": ["UPDATE conversation SET title = CAST(x'ff' || title AS TEXT)"],
    "the title and what told of it": [
        "UPDATE conversation SET title = CAST(x'ff' || title AS TEXT)",
        f"UPDATE event SET payload = CAST(x'ff' || payload AS TEXT) WHERE {TITLES}",
    ],
}


def repaired(home: Path, *breaks: str) -> Runtime:
    """The store of HOME, broken, and what a repair makes of it."""
    broken(home, *breaks)
    assert doctor.repair(home, now_ms=NOON + 86_400_000, who=Who(by="user", via="cli"), driven=nobody).ok
    return seeded.opened(home)


@pytest.mark.parametrize("breaks", DAMAGES.values(), ids=DAMAGES.keys())
def test_what_damage_left_of_a_message_goes_with_it(home: Path, breaks: list[str]) -> None:
    runtime = seeded.opened(home)
    runtime.new()
    first = said(runtime, MARKER, "a1", "q2", "a2")[0]
    runtime.close()
    runtime = repaired(home, *breaks)
    runtime.purge([first])
    assert_gone(runtime)
    assert next(entry.node.parts for entry in runtime.path()) == ()
    assert len(runtime.path()) == 4


def test_a_title_that_a_fork_was_given_goes_too_when_it_is_garbled(home: Path) -> None:
    runtime = seeded.opened(home)
    source = runtime.new().id
    first, last = said(runtime, MARKER, "a1")
    runtime.fork(last)
    runtime.close()
    runtime = repaired(home, "UPDATE conversation SET title = CAST(x'ff' || title AS TEXT) WHERE seq = 2")
    runtime.purge([source, first], everywhere=True)
    assert_gone(runtime)


def test_titles_of_others_stay_garbled_or_not(home: Path) -> None:
    runtime = seeded.opened(home)
    runtime.new()
    said(runtime, "an everyday word")
    runtime.new()
    first = said(runtime, MARKER)[0]
    runtime.close()
    runtime = repaired(home, "UPDATE conversation SET title = CAST(x'ff' || title AS TEXT)")
    runtime.purge([first])
    assert sorted(row.title for row in runtime.listed()) == ["", "\ufffdan everyday word"]
