"""Effects and their inverses: what undo is made of."""

from __future__ import annotations

import pytest

from forkwood.domain.act import (
    Effect,
    HeadMoved,
    LabelMoved,
    MarkChanged,
    RunStarted,
    SettingChanged,
    TrashChanged,
    inverse,
)

INVERTIBLE: list[Effect] = [
    HeadMoved(before="a1", after="b2~1", before_run=None, after_run="c3"),
    MarkChanged(nodes=("a1", "b2"), hidden=True),
    SettingChanged(key="model", before=None, after="scripted:x"),
    LabelMoved(name="here", before=None, after="a1"),
    TrashChanged(conversation="d4", hidden=False),
]


@pytest.mark.parametrize("effect", INVERTIBLE, ids=lambda effect: type(effect).__name__)
def test_the_inverse_of_the_inverse_is_the_effect(effect: Effect) -> None:
    back = inverse(effect)
    assert back is not None
    assert back != effect
    assert inverse(back) == effect


def test_coming_back_to_a_head_comes_back_to_the_run_that_led_it() -> None:
    moved = HeadMoved(before="a1", after="b2", before_run="run", after_run=None)
    assert inverse(moved) == HeadMoved(before="b2", after="a1", before_run=None, after_run="run")


def test_a_run_is_not_inverted() -> None:
    assert inverse(RunStarted(run="c3")) is None
