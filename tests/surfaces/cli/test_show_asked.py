"""What waits for a person, in lines: what will run, what a yes covers, until when, and the commands that answer."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.domain.interaction import CallShown, Interaction, Question, Sort, answers_to, shown
from forkwood.domain.response import GrantHeld
from forkwood.surfaces.cli.show_asked import Whereabouts, answered_words, draw_grants, draw_pending, ways_to_answer
from tests.surfaces.cli.desks import terminal
from tests.surfaces.cli.made import name

CALL = CallShown(name="edit", arguments={}, shown=shown("edit", {"text": "forkwood send\u200b"}), hash="h")


def asking(kind: Sort = "approval", of: str | None = "c", **fields: Any) -> Interaction:
    values: dict[str, Any] = {"call": CALL, "questions": None, "about": "May it? See forkwood grants."}
    made = {"id": name(1), "kind": kind, "run": name(2), "conversation": name(3), "status": "open"}
    return Interaction(**(made | values | {"answers": answers_to(kind, of)} | fields))


def test_an_approval_is_shown_as_it_will_run_with_every_way_to_answer() -> None:
    drawn = draw_pending([asking()], terminal())
    assert drawn.split("\n") == [
        "approval 00000001  of run 00000002",
        "  edit {",
        '    "text": "forkwood send\\u200b"',
        "  }",
        "  May it? See forkwood grants.",
        "  forkwood answer 00000001 allow",
        "  forkwood answer 00000001 allow --remember run",
        "  forkwood answer 00000001 allow --remember conversation",
        "  forkwood answer 00000001 deny",
    ]


def test_in_a_chat_the_commands_are_verbs_and_what_will_run_is_not_touched() -> None:
    here = terminal()
    here.in_chat = True
    drawn = draw_pending([asking()], here)
    assert '"text": "forkwood send\\u200b"' in drawn
    assert "See /grants." in drawn and "  /answer 00000001 deny" in drawn


@pytest.mark.parametrize(
    ("span_ms", "said"),
    [
        (90_000, "within 1 minute counts"),
        (7_300_000, "within 2 hours counts"),
        (400_000_000, "within 111 hours counts"),
        (2_000, "within 2 seconds counts"),
        (-5, "within a second counts"),
    ],
)
def test_an_approval_that_expires_says_when(span_ms: int, said: str) -> None:
    here = terminal()
    here.now_ms = lambda: 1_000_000  # type: ignore[method-assign]
    assert said in draw_pending([asking(expires_ms=1_000_000 + span_ms)], here)


def test_several_stand_apart() -> None:
    assert draw_pending([asking(), asking(id=name(9))], terminal()).count("\n\n") == 1


QUESTIONS = (Question(text="Which?\x07", options=("a", "b\nc")), Question(text="Why?"))


def test_a_question_shows_what_is_asked_and_not_its_call() -> None:
    drawn = draw_pending([asking("question", questions=QUESTIONS, about="")], terminal())
    assert drawn.split("\n")[1:] == [
        "  1. Which?\\x07",
        "    - a",
        "    - b c",
        "  2. Why?",
        '  forkwood answer 00000001 "TEXT 1" "TEXT 2"',
    ]
    one = draw_pending([asking("question", questions=QUESTIONS[1:], about="")], terminal())
    assert one.split("\n")[1:] == ["  Why?", '  forkwood answer 00000001 "TEXT"']


def test_a_doubt_is_answered_by_its_words() -> None:
    words = [way.split()[-1] for way in ways_to_answer(asking("doubt"))]
    assert words == ["retry", "done", "failed"]
    assert [way.split()[-1] for way in ways_to_answer(asking("doubt", None, call=None))] == ["go-on", "stop"]
    assert "May it?" in draw_pending([asking("doubt", None, call=None)], terminal())


def test_an_answer_is_told_with_the_way_to_take_a_grant_back() -> None:
    assert answered_words(asking(answer="allow")) == "approval 00000001 is answered: allow."
    remembered = answered_words(asking(answer="allow", grant=name(7)))
    assert remembered.endswith("Remembered: forkwood grants --revoke 00000007 ends that.")
    assert answered_words(asking("question", answer=("a", "b"))) == "question 00000001 is answered: a / b."


def test_a_grant_says_what_it_covers() -> None:
    grant = GrantHeld(
        id=name(7),
        tool="edit",
        scope="run",
        of=name(2),
        hash=None,
        conversation=name(3),
        since=1,
        until=None,
        created_ms=0,
    )
    assert draw_grants([grant], 120_000) == "00000007  edit  every call in run 00000002, given 2 min ago"


def test_what_waits_says_where_and_what_was_said_there() -> None:
    where = {name(2): Whereabouts(title="Tea\x07 " * 9, said="Milk,\nplease " + "x" * 200)}
    lines = draw_pending([asking(), asking(run=name(5))], terminal(), where).split("\n")
    assert lines[0].startswith("approval 00000001  of run 00000002  in 00000003 Tea\\x07 Tea") and lines[0].endswith(
        "…"
    )
    assert lines[1].startswith("  you: Milk, please xxx") and len(lines[1]) <= terminal().pen.width
    assert "approval 00000001  of run 00000005" in lines
