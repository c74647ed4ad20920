"""Steps: what they want done, as values."""

from __future__ import annotations

from forkwood.domain.message import Text
from forkwood.domain.step import CallModel, Settle, closing
from tests.domain.happened import READ


def test_a_call_closed_with_words_tells_the_model_why() -> None:
    settled = closing(READ, "denied", "a person said no")
    assert (settled.call, settled.outcome, settled.parts) == ("a", "denied", (Text(text="a person said no"),))


def test_equal_steps_are_equal() -> None:
    assert CallModel(turn=1) == CallModel(turn=1, withdrawn=False) != CallModel(turn=2)
    assert Settle(closings=()).withdraw == ()
