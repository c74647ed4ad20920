"""How far a message reaches: its branches, and the conversations it is carried into."""

from __future__ import annotations

from forkwood.store import reach
from tests.runtime.doors import door, said


def test_branches_below_a_message_and_where_it_is_carried() -> None:
    runtime = door()
    here = runtime.new(title="here").id
    ids = said(runtime, "q1", "a1", "q2")
    runtime.switch(ids[1], here=True)
    said(runtime, "r2")
    there = runtime.fork(ids[1]).id
    said(runtime, "s2")
    with runtime.house.store.read() as tx:
        assert reach.of_node(tx, 2) == (3, (here, there))
        assert reach.of_node(tx, 3) == (1, (here,))
        assert reach.messages_of(tx, 1) == {1, 2, 3, 4}
        assert reach.conversations_of(tx, [1, 6]) == {1, 2}
        assert reach.ids_of(tx, [2, 1]) == (ids[0], ids[1])


def test_a_branch_that_begins_inside_a_carry_counts_too() -> None:
    runtime = door()
    runtime.new(title="here")
    ids = said(runtime, "q1", "a1", "q2")
    graft = runtime.drop(ids[0]).node
    assert graft is not None
    runtime.send("beside q2", at=f"{graft.id}~1", run=False)
    with runtime.house.store.read() as tx:
        assert reach.of_node(tx, 2)[0] == 3
