"""Interactions out of the log: open ones of all or one conversation, any one by its name, and what is overdue."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forkwood.domain.act import Who
from forkwood.domain.errors import NotFound
from forkwood.domain.ids import Id, make_id
from forkwood.domain.interaction import Question, Sort
from forkwood.domain.message import ToolCall
from forkwood.domain.run_event import CallAsked, InteractionClosed, InteractionOpened, ResultsKept, RunEvent
from forkwood.domain.tree import Spot
from forkwood.store import interactions, log, names, purge, runs
from forkwood.store.db import Store, Tx
from tests.domain.happened import QUESTION, TEST, WRITE, kept, settled, turn
from tests.store.said import NOW, say, talk
from tests.store.test_runs import begin, drive

WHO = Who(by="user", via="web")


def named(number: int) -> Id:
    return make_id(NOW + number, number.to_bytes(10, "big"))


def opened(number: int, call: str | None = "b", sort: Sort = "approval", **fields: Any) -> InteractionOpened:
    return InteractionOpened(interaction=named(number), sort=sort, call=call, **fields)


def stopped(tx: Tx, conversation: int, number: int, *asked: RunEvent, calls: tuple[CallAsked, ...] = (WRITE,)) -> Id:
    """A run that called tools and asks."""
    run = begin(tx, conversation, number)
    at = Spot(say(tx, conversation, f"question {number}"))
    parts = [ToolCall(call=call.call, name=call.name, arguments={"path": "a\u202eb"}) for call in calls]
    reply = say(tx, conversation, *parts, role="assistant", at=at)
    drive(tx, run, turn(), kept(1, *calls), *asked, node=reply)
    return run


@pytest.fixture
def store() -> Store:
    return Store.in_memory()


def test_what_waits_is_shown_with_the_call_as_it_will_run(store: Store) -> None:
    with store.write() as tx:
        here, other = talk(tx), talk(tx)
        run = stopped(tx, here, 1, opened(1, hash="h" * 64, about="May it?", expires_ms=NOW + 9))
        stopped(tx, other, 2, opened(2))
        assert [one.id for one in interactions.pending(tx)] == [named(1), named(2)]
        (asked,) = interactions.pending(tx, here)
        assert (asked.kind, asked.run, asked.status, asked.about) == ("approval", run, "open", "May it?")
        assert (asked.answers, asked.questions, asked.expires_ms) == (("allow", "deny"), None, NOW + 9)
        assert asked.call is not None
        assert (asked.call.name, asked.call.arguments, asked.call.hash) == ("write", {"path": "a\u202eb"}, "h" * 64)
        assert asked.call.shown == 'write {\n  "path": "a\\u202eb"\n}'


def test_what_was_answered_is_found_and_waits_no_more(store: Store) -> None:
    with store.write() as tx:
        here = talk(tx)
        questions = (Question(text="Which?", options=("a",)), Question(text="Why?"))
        run = stopped(tx, here, 1, opened(1, "q", "question", questions=questions), calls=(QUESTION,))
        (asked,) = interactions.pending(tx)
        assert (asked.questions, asked.answers) == (questions, ())
        interactions.close(tx, asked, ("a", "so"), grant=None, who=WHO, now_ms=NOW + 5)
        assert interactions.pending(tx) == []
        closed = interactions.row(tx, asked.id)
        assert (closed.status, closed.answer, closed.grant) == ("answered", ("a", "so"), None)
        assert (closed.by, closed.via, closed.answered_ms) == ("user", "web", NOW + 5)
        assert runs.row(tx, run).status == "running"


def test_an_interaction_is_named_by_its_ending_open_or_closed(store: Store) -> None:
    with store.write() as tx:
        stopped(tx, talk(tx), 1, opened(0xABCDE))
        whole = named(0xABCDE)
        for name in (whole, whole.upper(), whole[-4:], whole[-8:], whole[-8:-3]):
            assert names.interaction(tx, name) == whole
        interactions.close(tx, interactions.row(tx, whole), "deny", grant=None, who=WHO, now_ms=NOW)
        assert names.interaction(tx, whole[-4:]) == whole
        for missing in ("beef", "xyz", "f" * 32):
            with pytest.raises(NotFound, match="no interaction is named"):
                names.interaction(tx, missing)
        with pytest.raises(NotFound, match="there is no interaction"):
            interactions.row(tx, "f" * 32)


def test_what_fits_several_is_listed_and_never_guessed(store: Store) -> None:
    with store.write() as tx:
        here = talk(tx)
        stopped(tx, here, 1, opened(0x1BCDE))
        stopped(tx, here, 2, opened(0x2BCDE))
        with pytest.raises(NotFound, match="'bcde' fits 2 interactions") as several:
            names.interaction(tx, "bcde")
        assert several.value.facts["candidates"] == [named(0x1BCDE), named(0x2BCDE)]


def test_panelot_47_what_is_overdue_is_closed_by_whoever_looks(store: Store) -> None:
    with store.write() as tx:
        here = talk(tx)
        late = stopped(tx, here, 1, opened(1, expires_ms=NOW + 10))
        stopped(tx, here, 2, opened(2))
        assert interactions.overdue(tx, NOW + 9) == []
        assert interactions.overdue(tx, NOW + 10) == interactions.overdue(tx, NOW + 99, here) == [late]
        assert interactions.overdue(tx, NOW + 10, talk(tx)) == []
        interactions.expire(tx, late, via="cli", now_ms=NOW + 10)
        assert interactions.overdue(tx, NOW + 99) == []
        assert [one.id for one in interactions.pending(tx)] == [named(2)]
        closed = interactions.row(tx, named(1))
        assert (closed.status, closed.answer, closed.by, closed.answered_ms) == ("expired", None, None, None)
        assert runs.row(tx, late).status == "running"
        before = log.newest(tx)
        interactions.expire(tx, late, via="cli", now_ms=NOW + 99)
        assert log.newest(tx) == before


def test_a_go_on_counts_for_its_model_in_its_conversation_and_only_to_a_doubt(store: Store) -> None:
    with store.write() as tx:
        here, other = talk(tx), talk(tx)
        stopped(tx, here, 1, opened(1, "q", "question"), calls=(QUESTION,))
        interactions.close(tx, interactions.row(tx, named(1)), "go-on", grant=None, who=WHO, now_ms=NOW)
        assert not interactions.may_go_on(tx, here, "m")
        stopped(tx, here, 2, opened(2, None, "doubt"), calls=(TEST,))
        (doubt,) = interactions.pending(tx, here)
        assert (doubt.call, doubt.answers) == (None, ("go-on", "stop"))
        interactions.close(tx, doubt, "go-on", grant=None, who=WHO, now_ms=NOW)
        assert interactions.may_go_on(tx, here, "m")
        assert not interactions.may_go_on(tx, here, "another")
        assert not interactions.may_go_on(tx, other, "m")


def test_of_a_turn_are_those_between_two_log_numbers(store: Store) -> None:
    with store.write() as tx:
        run = stopped(tx, talk(tx), 1, opened(1), calls=(WRITE,))
        last = log.newest(tx)
        assert [one.id for one in interactions.of_turn(tx, run, 0, last)] == [named(1)]
        assert interactions.of_turn(tx, run, 0, last - 1) == interactions.of_turn(tx, run, last, last + 9) == []


def test_of_a_purged_call_the_tool_is_left(store: Store) -> None:
    with store.write() as tx:
        here = talk(tx)
        run = stopped(tx, here, 1, opened(1, questions=(Question(text="Is it Ada?", options=("Ada",)),)))
        interactions.close(tx, interactions.row(tx, named(1)), "allow", grant=None, who=WHO, now_ms=NOW)
        reply = runs.last_reply(tx, run)
        assert reply is not None
        purge.destroy(tx, purge.condemned(tx, (reply,), ()))
        left = interactions.row(tx, named(1))
        assert left.call is not None and (left.call.name, left.call.arguments, left.call.shown) == (
            "write",
            "",
            "write",
        )
        assert (left.answer, left.questions) == ("allow", (Question(text=""),))


def test_a_run_that_is_withdrawn_leaves_nothing_that_waits(store: Store) -> None:
    with store.write() as tx:
        run = stopped(tx, talk(tx), 1, opened(1))
        held = drive(tx, run, InteractionClosed(interaction=named(1), status="withdrawn"))
        assert held.state.open_interactions == ()
        assert (interactions.pending(tx), interactions.row(tx, named(1)).status) == ([], "withdrawn")


CLOSED: st.SearchStrategy[Literal["answered", "expired", "withdrawn"]] = st.sampled_from(
    ("answered", "expired", "withdrawn")
)


@st.composite
def turns_with_asks(draw: st.DrawFn) -> list[RunEvent]:
    """A run of some turns in which each of several calls may be asked about, with or without a time limit, and closed
    in any way; in the last one some stay open."""
    events, count, names_given = list[RunEvent](), draw(st.integers(1, 3)), itertools.count(1)
    for number in range(1, count + 1):
        calls = tuple(replace(WRITE, call=name) for name in "abc"[: draw(st.integers(1, 3))])
        events += [turn(number), kept(number, *calls)]
        asked = [
            opened(next(names_given), call.call, expires_ms=draw(st.none() | st.integers(NOW, NOW + 4)))
            for call in calls
            if draw(st.booleans())
        ]
        closing = draw(st.permutations(asked))
        if number == count:
            closing = closing[: draw(st.integers(0, len(closing)))]
        events += asked
        events += [InteractionClosed(interaction=one.interaction, status=draw(CLOSED)) for one in closing]
        if number < count:
            events += [*(settled(call.call) for call in calls), ResultsKept(turn=number)]
    return events


@given(turns_with_asks(), st.integers(NOW - 1, NOW + 5))
def test_the_log_and_the_machine_say_the_same_of_what_is_overdue(events: list[RunEvent], now_ms: int) -> None:
    with Store.in_memory().write() as tx:
        run = begin(tx, talk(tx), 1)
        late = drive(tx, run, *events).state.overdue(now_ms)
        assert interactions.overdue(tx, now_ms) == ([run] if late else [])
        before = {one.id for one in interactions.pending(tx)}
        interactions.expire(tx, run, via="cli", now_ms=now_ms)
        assert before - {one.id for one in interactions.pending(tx)} == set(late)
        assert runs.state(tx, run).overdue(now_ms) == ()
