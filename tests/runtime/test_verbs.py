"""A room is verbs over one house."""

from __future__ import annotations

from forkwood.runtime.verbs import Verbs
from tests.runtime.doors import door


def test_a_room_has_the_house_it_was_given() -> None:
    house = door().house
    assert Verbs(house).house is house
