"""Where a message stands, with its tool group: on a path, in a carry, or where it was appended."""

from __future__ import annotations

from forkwood.domain.tree import Spot
from forkwood.store import conversations, locate
from tests.runtime.doors import door, said, with_tools


def test_a_message_on_the_path_beside_it_and_carried() -> None:
    runtime = door()
    runtime.new()
    said(runtime, "q1", "a1", "q2", "a2")
    runtime.drop("#2")
    with runtime.house.store.read() as tx:
        head = conversations.head(tx, 1)
        assert locate.entry(tx, head, 1) == locate.Located(Spot(0), Spot(1), (1,))
        assert locate.entry(tx, head, 2) is None
        assert locate.entry(tx, head, 3) == locate.Located(Spot(1), Spot(5, 1), (3,))
        assert locate.entry(tx, head, 4) == locate.Located(Spot(5, 1), Spot(5), (4,))
        assert locate.appended(tx, 3) == locate.Located(Spot(2), Spot(3), (3,))
        assert locate.entry(tx, Spot(0), 1) is None
        assert locate.entry(tx, head, 5) is None, "a graft is no message"


def test_members_of_a_tool_group_stand_together() -> None:
    runtime = door()
    runtime.new()
    with_tools(runtime)
    with runtime.house.store.read() as tx:
        head = conversations.head(tx, 1)
        assert locate.entry(tx, head, 2) == locate.entry(tx, head, 3) == locate.Located(Spot(1), Spot(3), (2, 3))
        assert locate.appended(tx, 2) == locate.appended(tx, 3) == locate.Located(Spot(1), Spot(3), (2, 3))
