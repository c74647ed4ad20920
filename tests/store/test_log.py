"""The log: numbered, in order, each event with who did it by which door, and never changed."""

from __future__ import annotations

import apsw
import msgspec
import pytest

from forkwood.domain.act import HeadSwitched, Who
from forkwood.domain.event import ConversationUsed
from forkwood.domain.run_event import CancelAsked, RunSealed
from forkwood.store import log
from forkwood.store.db import Store, Tx

WHO = Who(by="user", via="cli")
RUN = "ab" * 16


def conversation(tx: Tx, number: int) -> int:
    return tx.insert(
        "INSERT INTO conversation (id, title, titled_by, created_ms, updated_ms) VALUES (?, '', 'rule', 1, 1)",
        (bytes([number]) * 16,),
    )


def test_an_event_comes_back_as_it_was_written() -> None:
    with Store.in_memory().write() as tx:
        here = conversation(tx, 1)
        seq = log.write(tx, RunSealed(manifest="x"), who=WHO, now_ms=7, conversation=here, run=RUN)
        event = log.event(tx, seq)
        assert event is not None
        assert (event.seq, event.at_ms, event.kind, event.by, event.via) == (seq, 7, "run.sealed", "user", "cli")
        assert (event.conversation, event.run, event.node) == ("01" * 16, RUN, None)
        assert event.payload["manifest"] == "x"
        assert log.newest(tx) == seq
        assert log.event(tx, seq + 1) is None


def test_events_are_read_behind_a_number_in_stretches_and_of_one_conversation() -> None:
    with Store.in_memory().write() as tx:
        one, two = conversation(tx, 1), conversation(tx, 2)
        written = [
            log.write(tx, ConversationUsed(), who=WHO, now_ms=1, conversation=where) for where in (one, two, one, one)
        ]
        assert [event.seq for event in log.events(tx, after=0, limit=9)] == written
        assert [event.seq for event in log.events(tx, after=written[0], limit=2)] == written[1:3]
        assert [event.seq for event in log.events(tx, after=0, limit=9, conversation=two)] == [written[1]]


def test_a_run_is_told_by_its_own_events_alone() -> None:
    with Store.in_memory().write() as tx:
        here = conversation(tx, 1)
        log.write(tx, CancelAsked(), who=WHO, now_ms=1, conversation=here, run=RUN)
        log.write(tx, CancelAsked(), who=WHO, now_ms=1, conversation=here, run="cd" * 16)
        assert log.of_run(tx, RUN) == [CancelAsked()]


def test_acts_are_read_newest_first() -> None:
    with Store.in_memory().write() as tx:
        here = conversation(tx, 1)
        first = log.write(tx, HeadSwitched(effects=()), who=WHO, now_ms=1, conversation=here)
        log.write(tx, ConversationUsed(), who=WHO, now_ms=1, conversation=here)
        last = log.write(tx, HeadSwitched(effects=()), who=WHO, now_ms=1, conversation=here)
        assert [(seq, kind) for seq, kind, _ in log.acts(tx, here)] == [
            (last, "head.switched"),
            (first, "head.switched"),
        ]


@pytest.mark.parametrize("sql", ["UPDATE event SET at_ms = 2", "DELETE FROM event"])
def test_no_event_ever_changes(sql: str) -> None:
    store = Store.in_memory()
    with store.write() as tx:
        log.write(tx, ConversationUsed(), who=WHO, now_ms=1)
    with pytest.raises(apsw.ConstraintError, match=r"events (never change|are never deleted)"), store.write() as tx:
        tx.run(sql)


def test_an_event_of_no_known_kind_cannot_be_read() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown kind song"):
        log.payload_of("song", "{}")
