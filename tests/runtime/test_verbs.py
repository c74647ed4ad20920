"""A room is verbs over one house, and says which."""

from __future__ import annotations

from importlib import import_module

import pytest

from forkwood.runtime import ROOMS
from forkwood.runtime.verbs import Verbs
from tests.runtime.doors import door


def test_a_room_has_the_house_it_was_given() -> None:
    house = door().house
    assert Verbs(house).house is house


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_names_its_verbs(room: str) -> None:
    found = getattr(import_module(f"forkwood.runtime.{room.lower()}"), room)
    assert " ".join((found.__doc__ or "").split()) == f"{', '.join(ROOMS[room])}."
