"""Interactions have one JSON shape at every door."""

from __future__ import annotations

from forkwood import wire
from forkwood.domain.interaction import CallShown, Interaction, Question


def test_the_shape_of_the_contract() -> None:
    call = CallShown(name="look", arguments={}, shown="look {}", hash="h")
    waiting = Interaction(
        id="i",
        kind="approval",
        run="r",
        conversation="c",
        status="open",
        call=call,
        questions=None,
        about="a",
        answers=(),
    )
    assert list(wire.plain(waiting)) == [
        "id", "kind", "run", "conversation", "status", "call", "questions", "about", "answers", "answer", "by", "via",
        "answered_ms", "expires_ms",
    ]  # fmt: skip
    assert wire.plain(Question(text="Which?", options=("a",))) == {"text": "Which?", "options": ["a"]}
