"""What a prompt does not hold, and why."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from forkwood.domain.manifest import Bounds
from forkwood.domain.message import Replay
from forkwood.domain.model import Traits
from forkwood.domain.omissions import defused, left_out
from tests.domain.paths import (
    CAT,
    FILES,
    GOLDEN,
    GOLDEN_2,
    LOOK,
    NOTES,
    REMEMBERED,
    WHOLE,
    call,
    manifest,
    node,
    path,
    result,
    thought,
)

THINKING = "thinking goes back only to the model that gave it, and only signed"


@pytest.mark.parametrize(
    ("said", "fields", "expected"),
    [
        (GOLDEN["plain"], {}, []),
        (GOLDEN["tools"], {}, []),
        (GOLDEN["attachments"], {}, []),
        (GOLDEN["thinking"], {}, [(2, THINKING), (4, THINKING)]),
        (GOLDEN["interrupted"], {}, [(6, "a result without its call: look")]),
        (
            path(("user", (CAT,))),
            {"traits": Traits(images=False)},
            [(1, "the model sees no pictures: cat.png is named only")],
        ),
        (path(("user", ("  ",))), {}, [(1, "a text without words")]),
        (path(("assistant", (thought("x", Replay(dialect="chat", family="claude", value=1)),))), {}, [(1, THINKING)]),
        (path(("assistant", (call("a"),)), ("tool", (WHOLE,))), {}, [(2, "the middle of a long result: look")]),
        (path(("tool", (result("a"),))), {}, [(1, "a result without its call: look")]),
        (
            path(("assistant", (call("a"),)), ("user", ("So?",)), ("tool", (result("a"),))),
            {},
            [(3, "a result without its call: look")],
        ),
    ],
)
def test_each_with_its_reason(said: Any, fields: dict[str, Any], expected: list[tuple[int, str]]) -> None:
    found = left_out(said, manifest(**fields), FILES)
    assert [(one.id, one.reason) for one in found] == [(node(number), reason) for number, reason in expected]


def test_a_file_that_is_not_at_hand_is_named_only() -> None:
    (found,) = left_out(path(("user", (NOTES,))), manifest(), {})
    assert found.reason == "notes.txt is named only: no longer kept, too large, or no text"


def test_memories_that_find_no_room_are_named_behind_all_else() -> None:
    small = manifest(limits=Bounds(memories_max=1))
    (blank, older) = left_out(path(("user", (" ",))), small, {}, memories=REMEMBERED)
    assert blank.id == node(1)
    assert (older.id, older.reason) == (
        REMEMBERED[0].id,
        "an older memory, for which the notes have no room: tea",
    )
    assert left_out([], manifest(), {}, memories=REMEMBERED) == ()


def test_a_result_in_which_something_looked_like_a_fence_is_named() -> None:
    attacked = GOLDEN_2["attacked"]
    (found,) = defused(attacked.said, attacked.manifest)
    assert (found.id, found.reason) == (node(3), "what looks like one of our fences, in a result: look")
    answers = manifest(tools=(replace(LOOK, question=True),))
    assert defused(attacked.said, answers) == defused(GOLDEN["tools"], manifest()) == ()
