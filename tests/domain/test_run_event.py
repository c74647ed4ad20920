"""Events of runs: each is read again as it was written, and by a program that knows fewer or more fields."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec import Struct

from forkwood import wire
from forkwood.domain.event import RUN_KINDS
from forkwood.domain.message import Text
from forkwood.domain.run_event import CallSettled, Recipe, ReplyKept, RunEvent, TryFailed
from tests.domain.happened import EDIT, FAULTY, asks, died, failed, opened, settled, turn
from tests.domain.paths import CAT

SAMPLES: list[RunEvent] = [
    *asks(EDIT, FAULTY, partial="cut", error="e"),
    *died("w"),
    settled("w"),
    CallSettled(call="w", outcome="ok", parts=(Text(text="t"), CAT)),
    opened("approval", "w"),
    failed(1, None, facts={"status": 529}),
]


@pytest.mark.parametrize("event", SAMPLES)
def test_what_is_written_is_read_again(event: RunEvent) -> None:
    assert wire.decode(wire.encode(event), type(event)) == event


def test_every_event_of_the_machine_has_a_kind() -> None:
    assert len(RUN_KINDS) == len(get_args(RunEvent))
    assert all(issubclass(one, Struct) for one in get_args(RunEvent))


def test_events_of_before_a_field_existed_are_still_read() -> None:
    old = {"turn": 1, "usage": None, "cost": None, "finish": None, "partial": None}
    assert wire.decode(wire.encode(old), ReplyKept).calls == ()
    assert wire.decode(wire.encode({**old, "some_day": 1}), ReplyKept).turn == 1
    tried = {"turn": 1, "number": 1, "reason": "timeout", "message": "m", "wait_ms": None}
    assert wire.decode(wire.encode(tried), TryFailed).facts == {}


def test_a_recipe_without_fresh_digests_is_a_recipe() -> None:
    spelled = wire.decode(wire.encode(turn()), dict)["recipe"]
    del spelled["fresh"]
    assert wire.decode(wire.encode(spelled), Recipe).fresh == {}
