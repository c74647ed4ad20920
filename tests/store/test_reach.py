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


def test_several_messages_reach_as_far_as_all_their_branches_together() -> None:
    runtime = door()
    here = runtime.new(title="here").id
    ids = said(runtime, "q1", "a1", "q2")
    runtime.switch(ids[1], here=True)
    said(runtime, "r2")
    graft = runtime.drop(ids[0]).node
    assert graft is not None
    runtime.send("beside r2", at=f"{graft.id}~1", run=False)
    there = runtime.fork("@").id
    with runtime.house.store.read() as tx:
        assert reach.of_nodes(tx, [3]) == (1, (here,)), "q2"
        assert reach.of_nodes(tx, [4]) == (2, (here,)), "r2, and the graft that carries it; not what was said beside it"
        assert reach.of_nodes(tx, [3, 4]) == (3, (here,))
        assert reach.of_nodes(tx, [1, 2, 3, 4, 6]) == (5, (here, there))
        assert reach.of_nodes(tx, []) == (0, ())
        for node in (1, 2, 3, 4, 6):
            assert reach.of_nodes(tx, [node]) == reach.of_node(tx, node)


def test_who_carries_what_is_known_through_nested_carries() -> None:
    runtime = door()
    runtime.new(title="here")
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.drop(ids[1])
    runtime.fork(ids[3], title="there")
    with runtime.house.store.read() as tx:
        found = [(one.graft, one.conversation, set(one.nodes), one.cut) for one in reach.carriers(tx, [1, 2, 3])]
    assert found == [(5, 1, {3}, 1), (6, 2, {1, 3}, 2)]


def test_runs_whose_prompts_held_a_message_are_those_that_began_below_it() -> None:
    runtime = door()
    runtime.new(title="here")
    ids = said(runtime, "q1", "a1", "q2")
    [above] = runtime.retry(ids[1]).runs
    runtime.cancel(above)
    [below] = runtime.retry(ids[2]).runs
    runtime.cancel(below)
    with runtime.house.store.read() as tx:
        assert reach.runs_over(tx, reach.holders(tx, [3])) == {bytes.fromhex(below)}
        assert reach.runs_over(tx, reach.holders(tx, [1])) == {bytes.fromhex(below), bytes.fromhex(above)}


def test_a_whole_conversation_is_looked_at_once_however_long_it_is() -> None:
    asked: list[int] = []
    for length in (4, 40):
        runtime = door()
        runtime.new(title="here")
        said(runtime, *map(str, range(length)))
        with runtime.house.store.read() as tx:
            count: list[str] = []
            tx.connection.exec_trace = lambda _, sql, __, count=count: count.append(sql) or True
            reach.of_nodes(tx, reach.messages_of(tx, 1))
            tx.connection.exec_trace = None
        asked.append(len(count))
    assert asked[0] == asked[1]
