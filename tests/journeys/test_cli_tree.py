"""The journey of the tree at the command line: messages edited, carried, dropped, forked, hidden, and all of it undone.

Once with the scripted model, where every word is known, and once with the embedded one, where the shape is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.surfaces.cli.desks import given, run_cli, succeed
from tests.surfaces.cli.scripts import scripted

TURNS = 6
QUESTIONS = tuple(f"Question {number}?" for number in range(1, TURNS + 1))
SHORT_ANSWERS = 6
"""Tokens of a reply of the embedded model: it is its path that matters here."""


class State(Struct, frozen=True):
    """All that a person sees of a conversation, apart from its log."""

    path: tuple[str, ...]
    head: str | None
    hidden: tuple[str, ...]


def path(*more: str) -> list[Any]:
    return [entry["node"] for entry in given(["path", *more])]


def ids(*more: str) -> tuple[str, ...]:
    return tuple(node["id"] for node in path(*more))


def state(conversation: str) -> State:
    return State(
        path=ids("-c", conversation),
        head=next((row["head"] for row in given(["ls"]) if row["id"] == conversation), None),
        hidden=tuple(sorted(row["id"] for row in given(["trash"]))),
    )


class Journey:
    """The acts of the journey in one conversation, each remembered with what stood before it."""

    def __init__(self, model: str, *settings: tuple[str, str]) -> None:
        self.conversation: str = given(["new", "--model", model, "--title", "The journey"])["id"]
        for key, value in settings:
            succeed("set", key, value)
        for question in QUESTIONS:
            succeed("send", question)
        self.first_path = path()
        self.before: list[State] = []
        self.carried: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return ids("-c", self.conversation)

    def do(self, verb: str, *arguments: str) -> str:
        """One act; what it says."""
        self.before.append(state(self.conversation))
        return succeed(verb, *arguments, "-c", self.conversation).out


def edited_again(journey: Journey, newest: str) -> str:
    """The version after the NEWEST one of a question that was carried."""
    place = journey.ids.index(newest)
    journey.do("edit", newest, "Question 7 once more?", "--keep")
    return journey.ids[place]


def travel(journey: Journey) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every act of the journey up to the fork; after each its name and the path it must have led to."""
    original = journey.ids
    one, two, three, four, five, *after_five = original
    assert len(original) == 2 * TURNS

    journey.do("edit", three, "Another question 3?")
    edited, answered = journey.ids[-2:]
    yield "an edit branches off", (one, two, edited, answered)

    journey.do("switch", four)
    yield "the old branch is whole", original

    journey.do("edit", five, "Another question 5?", "--keep")
    kept = journey.ids[4]
    yield "what followed is carried", (one, two, three, four, kept, *after_five)

    journey.do("edit", after_five[1], "Another question 7?", "--keep")
    seventh = journey.ids[6]
    yield "a carried message is edited", (one, two, three, four, kept, after_five[0], seventh, *after_five[2:])

    first, seventh = seventh, edited_again(journey, seventh)
    journey.carried = (after_five[1], first, seventh)
    here = (one, two, three, four, kept, after_five[0], seventh, *after_five[2:])
    yield "and once more, in its newest version", here

    journey.do("edit", after_five[3], "Another question 9?", "--keep")
    ninth = journey.ids[8]
    here = (one, two, three, four, kept, after_five[0], seventh, after_five[2], ninth, *after_five[4:])
    yield "and one that was carried twice", here

    journey.do("drop", after_five[0])
    here = tuple(name for name in here if name != after_five[0])
    yield "one is dropped from this branch", here

    journey.do("graft", f"{edited}..{answered}", "--on", answered)
    here = (*here, edited, answered)
    yield "two of the other branch are carried here", here


def check_journey(journey: Journey) -> None:
    for what, expected in travel(journey):
        assert journey.ids == expected, what
    here = journey.ids
    check_fork(journey, here)
    check_hiding(journey, here)
    check_undoing(journey)
    check_originals(journey)
    check_replies(journey)
    report = given(["doctor"])
    assert (report["ok"], report["problems"]) == (True, [])


def check_fork(journey: Journey, here: tuple[str, ...]) -> None:
    """A fork at a carried entry shares the path up to it, grows by itself, and can be taken back too."""
    forked = given(["fork", here[6], "-c", journey.conversation])["id"]
    assert ids("-c", forked) == here[:7]
    succeed("send", "In the fork?", "-c", forked)
    grown = ids("-c", forked)
    assert (grown[:7], len(grown)) == (here[:7], 9)
    assert journey.ids == here
    for _ in range(2):
        succeed("undo", "-c", forked)
    assert forked in [row["id"] for row in given(["trash"])]
    for _ in range(2):
        succeed("redo", "-c", forked)
    assert ids("-c", forked) == grown


def check_hiding(journey: Journey, here: tuple[str, ...]) -> None:
    """A hidden message is in no path and in no prompt, and is back as it was."""
    hidden = here[1]
    said = journey.do("hide", hidden)
    assert "This touches" in said
    assert journey.ids == tuple(name for name in here if name != hidden)
    reply = ask(journey, "Without it?")
    why = given(["why", reply])
    assert hidden not in why["entries"]
    assert {"id": hidden, "reason": "hidden"} in why["left_out"]
    journey.do("unhide", hidden)
    assert hidden in journey.ids
    assert given(["why", reply])["verified"] is True


def ask(journey: Journey, text: str) -> str:
    journey.do("send", text)
    return journey.ids[-1]


def check_undoing(journey: Journey) -> None:
    """Each act is taken back in turn, and each is there again."""
    after = [*journey.before[1:], state(journey.conversation)]
    for expected in reversed(journey.before):
        succeed("undo", "-c", journey.conversation)
        assert state(journey.conversation) == expected
    for expected in after:
        succeed("redo", "-c", journey.conversation)
        assert state(journey.conversation) == expected
    assert run_cli("redo", "-c", journey.conversation).code == 4


def check_originals(journey: Journey) -> None:
    """Every message that was ever said can still be read, word for word."""
    for node in journey.first_path:
        assert given(["show", node["id"]])["parts"] == node["parts"]
    versions = [node["text"] for node in given(["history", journey.first_path[4]["id"]])]
    assert versions == ["Question 3?", "Another question 5?"]
    for name in journey.carried:
        versions = [node["text"] for node in given(["history", name])]
        assert versions == ["Question 4?", "Another question 7?", "Question 7 once more?"]


def check_replies(journey: Journey) -> None:
    """Every reply of every branch can say what it was made from, and prove it."""
    replies = [node for node in given(["tree", "-c", journey.conversation]) if node["origin"]["by"] == "model"]
    assert len(replies) == TURNS + 2
    for node in replies:
        why = given(["why", node["id"]])
        assert why["verified"] is True, why["reason"]


def test_with_the_scripted_model(tmp_path: Path) -> None:
    answers = [{"match": f"uestion {number}", "text": f"Answer {number}."} for number in range(1, 13)]
    journey = Journey(scripted(tmp_path, *answers, {"text": "An answer."}))
    assert [node["text"] for node in journey.first_path[:4]] == ["Question 1?", "Answer 1.", "Question 2?", "Answer 2."]
    check_journey(journey)


@pytest.mark.parametrize("model", ["embedded:smollm2"])
def test_with_the_embedded_model(model: str) -> None:
    check_journey(Journey(model, ("max_output", str(SHORT_ANSWERS))))
