"""Purge in the store: the marker lets it through in its own transaction alone, and only what is condemned goes."""

from __future__ import annotations

import apsw
import pytest

from forkwood.domain.message import Origin, ToolCall, ToolResult
from forkwood.domain.run_event import CallAsked, CallSettled, ReplyKept, ResultsKept, RunEnded, RunStopped
from forkwood.domain.scrub import GONE
from forkwood.domain.tree import Spot
from forkwood.runtime import Runtime
from forkwood.store import append, holding, purge, runs
from forkwood.store.db import Tx
from tests.runtime.doors import NOON, door, said
from tests.runtime.seeded import MARKER


def test_the_books_are_closed_again_when_a_purge_is_done() -> None:
    runtime = door()
    runtime.new(title="t")
    said(runtime, "q1", "a1")
    with runtime.house.store.write() as tx:
        purge.destroy(tx, purge.condemned(tx, [1], []))
        assert tx.value("SELECT count(*) FROM purging") == 0
        assert tx.rows("SELECT parts, purged FROM node ORDER BY seq")[0] == ("[]", 1)
    with pytest.raises(apsw.ConstraintError, match="nodes never change"), runtime.house.store.write() as tx:
        tx.run("UPDATE node SET parts = '[]'")


def test_what_others_carry_is_known_through_nested_carries() -> None:
    runtime = door()
    runtime.new(title="here")
    ids = said(runtime, "q1", "a1", "q2", "a2")
    runtime.drop(ids[1])
    runtime.fork(ids[3], title="there")
    with runtime.house.store.read() as tx:
        assert purge.carried_outside(tx, [1, 2, 3, 4], [1]) == {1, 3, 4}
        assert purge.carried_outside(tx, [1, 2, 3, 4], [1, 2]) == set()


def test_a_conversation_that_is_about_to_be_purged_is_closed() -> None:
    runtime = door()
    runtime.new(title="t")
    with runtime.house.store.write() as tx:
        assert not purge.closing(tx, 1)
        purge.close(tx, 1)
        assert purge.closing(tx, 1)


def test_a_short_first_line_goes_as_a_title_and_is_not_hunted_for_inside_others() -> None:
    runtime = door()
    runtime.new()
    said(runtime, "ok")
    runtime.fork("@")
    runtime.new(title="oklahoma")
    runtime.new()
    said(runtime, "oklahoma too")
    with runtime.house.store.write() as tx:
        purge.destroy(tx, purge.condemned(tx, [1], []))
    assert [row.title for row in runtime.listed()] == ["oklahoma too", "oklahoma", "", ""]


def test_what_is_given_up_is_open_again_and_a_husk_stays_closed() -> None:
    runtime = door()
    runtime.new(title="t")
    runtime.new(title="u")
    with runtime.house.store.write() as tx:
        purge.close(tx, 1)
        purge.close(tx, 2)
        purge.destroy(tx, purge.condemned(tx, [], [2]))
        purge.reopen(tx, [1, 2])
        assert [purge.closing(tx, seq) for seq in (1, 2)] == [False, True]


def test_whether_anything_is_said_still() -> None:
    runtime = door()
    runtime.new(title="t")
    said(runtime, "q1", "a1")
    with runtime.house.store.write() as tx:
        assert purge.says_anything(tx, [1], [])
        purge.destroy(tx, purge.condemned(tx, [1], []))
        assert [purge.says_anything(tx, nodes, []) for nodes in ([1], [1, 2], [])] == [False, True, False]
        assert purge.says_anything(tx, [], [1])


def test_runs_rows_say_what_their_scrubbed_events_say() -> None:
    runtime = door()
    runtime.new(title="t")
    [run] = runtime.send("q1").runs
    with runtime.house.store.write() as tx:
        held = holding.hold(tx, run, "one", NOON)
        error = {"kind": "provider", "reason": "refused", "message": "no q1", "hint": "", "body": "q1"}
        for event in (RunStopped(error=error), RunEnded(status="failed", error=error)):
            held = holding.append(tx, held, event, now_ms=NOON)
    with runtime.house.store.write() as tx:
        purge.destroy(tx, purge.condemned(tx, [1], []))
        assert runs.row(tx, run).error == {"kind": "provider", "reason": "refused", "message": GONE, "hint": ""}
        assert runs.differing(tx) == []


def called(runtime: Runtime, run: str, turn: int, call: str) -> int:
    """A turn of RUN that asks for one call, by the name its provider gave it, and its results; the seq of the reply."""
    made = Origin(by="model", via="cli", run=run, model="m")
    asked = CallAsked(call=call, name="look", effect="read", verdict="allow", after_crash="again")
    with runtime.house.store.write() as tx:
        held = holding.hold(tx, run, "one", NOON)
        kept = ReplyKept(turn=turn, usage=None, cost=None, finish=MARKER, partial=None, calls=(asked,))
        settled = CallSettled(call=call, outcome="ok")
        asking = ToolCall(call=call, name="look", arguments={})
        reply = append.add_message(
            tx,
            id=runtime.house.new_id(),
            conversation=1,
            at=held.tip,
            role="assistant",
            parts=(asking,),
            origin=made,
            now_ms=NOON,
        )
        held = holding.append(tx, held, kept, now_ms=NOON, node=reply)
        held = holding.append(tx, held, settled, now_ms=NOON)
        result = ToolResult(call=call, name="look", outcome="ok", parts=())
        results = append.add_results(
            tx, id=runtime.house.new_id(), at=Spot(reply), parts=(result,), origin=made, now_ms=NOON
        )
        holding.append(tx, held, ResultsKept(turn=turn), now_ms=NOON, node=results)
    return reply


def calls_of(tx: Tx, run: str) -> list[str]:
    sql = """SELECT called.value FROM event e, json_tree(e.payload) called
             WHERE e.run = ? AND called.key = 'call' ORDER BY e.seq"""
    return [call for (call,) in tx.rows(sql, (bytes.fromhex(run),))]


def test_names_that_a_provider_gave_to_calls_go_and_what_was_one_call_stays_one() -> None:
    runtime = door()
    runtime.new(title="t")
    [run] = runtime.send("q1").runs
    first = called(runtime, run, 1, f"call of {MARKER}")
    called(runtime, run, 2, "call-1")
    with runtime.house.store.write() as tx:
        purge.destroy(tx, purge.condemned(tx, [first, first + 1], []))
        assert calls_of(tx, run) == ["call-2", "call-2", "call-1", "call-1"]
        assert MARKER not in str(tx.rows("SELECT payload FROM event"))
        before = runs.state(tx, run)
        assert before.turns == 2
        assert runs.differing(tx) == []
        purge.destroy(tx, purge.condemned(tx, range(1, first + 4), [1]))
        assert calls_of(tx, run) == ["call-1", "call-1", "call-2", "call-2"]
        assert runs.differing(tx) == []


def test_what_a_lost_message_left_is_told_of_until_it_is_purged() -> None:
    runtime = door()
    runtime.new()
    said(runtime, MARKER, "a1")
    with runtime.house.store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("UPDATE node SET parts = '[]', purged = 1 WHERE seq = 1")  # as a salvage leaves it
        tx.run("DELETE FROM purging")
        assert not purge.says_anything(tx, [1], [])
        assert purge.tells_anything(tx, [1], [], [])
        purge.destroy(tx, purge.condemned(tx, [1], []))
        assert not purge.tells_anything(tx, [1], [], [])
        assert tx.value("SELECT title FROM conversation") == ""
        tx.run("INSERT INTO label (conversation, name, node) VALUES (1, 'kept', 1)")
        assert purge.tells_anything(tx, [1], [], [])
