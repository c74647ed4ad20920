"""Runs: rows are an index of events; who leads, who is active, who is asked to end."""

from __future__ import annotations

import pytest

from forkwood.domain.act import Who
from forkwood.domain.errors import NotFound
from forkwood.domain.ids import Id, make_id
from forkwood.domain.plan import plan
from forkwood.domain.run import Run
from forkwood.domain.run_event import InteractionClosed, ReplyKept, RunEnded
from forkwood.domain.step import UseTool
from forkwood.domain.tree import ROOT, Spot
from forkwood.store import conversations, holding, log, names, runs
from forkwood.store.db import Store, Tx
from tests.domain.happened import WRITE, kept, opened, settled, turn
from tests.store.said import NOW, say, talk

WHO = Who(by="user", via="tui")


def begin(tx: Tx, conversation: int, number: int, at: Spot = ROOT, *, leads: bool = True) -> Id:
    run = make_id(NOW, number.to_bytes(10, "big"))
    runs.open(tx, id=run, conversation=conversation, place=at, model="m", leads=leads, who=WHO, now_ms=NOW)
    return run


def drive(tx: Tx, run: Id, *events: object, node: int | None = None) -> holding.Held:
    held = holding.hold(tx, run, "d", NOW)
    for event in events:
        of = node if isinstance(event, ReplyKept) else None
        held = holding.append(tx, held, event, now_ms=NOW, node=of)  # type: ignore[arg-type]
    return held


@pytest.fixture
def store() -> Store:
    return Store.in_memory()


def test_a_run_is_queued_at_its_place_and_says_so_in_the_log(store: Store) -> None:
    with store.write() as tx:
        conversation = talk(tx)
        first = say(tx, conversation, "Hi")
        run = begin(tx, conversation, 1, Spot(first))
        row = runs.row(tx, run)
        assert (row.status, row.start, row.tip, row.turns, row.error) == ("queued", row.tip, row.start, 0, None)
        assert row.start is not None and names.node(tx, row.start) == first
        (event,) = log.events_of_run(tx, run, after=0)
        assert (event.kind, event.via, event.payload["place"]) == ("run.opened", "tui", row.start)
        assert runs.details(tx, run).door == "tui"
        assert isinstance(row, Run)


def test_a_run_nobody_knows_is_not_found(store: Store) -> None:
    with store.read() as tx:
        for ask in (runs.row, runs.details, runs.tip):
            with pytest.raises(NotFound):
                ask(tx, "0" * 32)


def test_lists_are_newest_first_and_active_ones_oldest_first(store: Store) -> None:
    with store.write() as tx:
        one, two = talk(tx), talk(tx)
        first, second = begin(tx, one, 1), begin(tx, one, 2)
        third = begin(tx, two, 3)
        drive(tx, second, turn(), kept(), RunEnded(status="done"))
        assert [run.id for run in runs.listed(tx)] == [third, second, first]
        assert [run.id for run in runs.listed(tx, one)] == [second, first]
        assert runs.active(tx) == [first, third] and runs.active(tx, two) == [third]
        assert runs.active_tips(tx) == [(first, ROOT), (third, ROOT)]


def test_who_stands_at_a_place(store: Store) -> None:
    with store.write() as tx:
        conversation = talk(tx)
        place = Spot(say(tx, conversation, "Hi"))
        assert runs.active_at(tx, conversation, place) is runs.leading_at(tx, conversation, place) is None
        leader, other = begin(tx, conversation, 1, place), begin(tx, conversation, 2, place, leads=False)
        assert runs.active_at(tx, conversation, place) == leader
        drive(tx, leader, turn(), kept(), RunEnded(status="done"))
        assert runs.active_at(tx, conversation, place) == other
        assert runs.leading_at(tx, conversation, place) == leader, "over or not"


def test_the_tip_and_the_head_follow_a_run_that_leads(store: Store) -> None:
    with store.write() as tx:
        conversation = talk(tx)
        place = Spot(say(tx, conversation, "Hi"))
        conversations.move_head(tx, conversation, place, NOW)
        for number, leads in ((1, False), (2, True)):
            reply = say(tx, conversation, "Hello", role="assistant", at=place)
            drive(tx, begin(tx, conversation, number, place, leads=leads), turn(), kept(), node=reply)
            assert conversations.head(tx, conversation) == (Spot(reply) if leads else place)
        late = say(tx, conversation, "late", role="assistant", at=place)
        run = begin(tx, conversation, 3, place)
        drive(tx, run, turn(), kept(), node=late)
        assert conversations.head(tx, conversation) == Spot(reply), "the head stood elsewhere"
        assert runs.tip(tx, run) == Spot(late) and runs.last_reply(tx, run) == late


def test_a_row_says_what_the_events_say_and_can_be_made_anew(store: Store) -> None:
    with store.write() as tx:
        conversation = talk(tx)
        place = Spot(say(tx, conversation, "Hi"))
        reply = say(tx, conversation, "Hello", role="assistant", at=place)
        run = begin(tx, conversation, 1, place)
        drive(tx, run, turn(), kept(), RunEnded(status="failed", error={"kind": "x"}), node=reply)
        before = runs.row(tx, run)
        assert (before.status, before.turns, before.usage.input, before.error) == ("failed", 1, 3, {"kind": "x"})
        assert runs.differing(tx) == []
        tx.run("UPDATE run SET status = 'running', turns = 9, input = 0, tip_node = NULL, error = NULL")
        assert runs.differing(tx) == [run]
        runs.repair(tx, run, NOW)
        assert runs.row(tx, run) == before and runs.differing(tx) == []


def test_a_run_nobody_has_begun_ends_when_it_is_asked_to(store: Store) -> None:
    with store.write() as tx:
        run = begin(tx, talk(tx), 1)
        assert runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
        assert runs.row(tx, run).status == "cancelled"
        assert not runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)


def test_a_run_that_is_driven_is_only_asked(store: Store) -> None:
    with store.write() as tx:
        run = begin(tx, talk(tx), 1)
        drive(tx, run, turn())
        assert runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
        assert not runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
        assert (runs.row(tx, run).status, runs.state(tx, run).cancelling) == ("running", True)


def test_a_run_that_waits_moves_again_when_it_is_asked_to_end(store: Store) -> None:
    with store.write() as tx:
        run = begin(tx, talk(tx), 1)
        held = drive(tx, run, turn(), kept(1, WRITE), opened("approval", "b"))
        holding.release(tx, held)
        assert runs.row(tx, run).status == "waiting"
        runs.ask_to_cancel(tx, run, who=WHO, now_ms=NOW)
        assert runs.row(tx, run).status == "running", "its call is still to be settled"
        assert settled("b") not in log.of_run(tx, run)


def test_an_answer_sets_a_run_that_waits_going(store: Store) -> None:
    with store.write() as tx:
        run = begin(tx, talk(tx), 1)
        holding.release(tx, drive(tx, run, turn(), kept(1, WRITE), opened("approval", "b")))
        allowed = InteractionClosed(interaction="i", status="answered", answer="allow")
        state = runs.add(tx, run, allowed, who=WHO, now_ms=NOW)
        assert plan(state) == UseTool(call=WRITE)
        assert runs.row(tx, run).status == "running" and runs.differing(tx) == []
