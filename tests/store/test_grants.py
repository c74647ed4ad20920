"""Grants: given, holding for a run or a conversation, revoked once; whoever opens the store sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from forkwood.domain.act import Who
from forkwood.domain.errors import NotFound
from forkwood.domain.ids import Id, make_id
from forkwood.domain.policy import Grant
from forkwood.domain.run_event import RunEnded
from forkwood.store import conversations, grants, log, names, purge
from forkwood.store.db import Store, Tx
from forkwood.store.opening import open_store
from tests.store.said import NOW, talk
from tests.store.test_runs import begin, drive

WHO = Who(by="user", via="tui")


def named(number: int) -> Id:
    return make_id(NOW + 1, number.to_bytes(10, "big"))


def conversation_id(tx: Tx, seq: int) -> Id:
    return conversations.row(tx, seq).id


def give(tx: Tx, conversation: int, number: int = 1, tool: str = "edit", **fields: Any) -> Id:
    values = {"scope": "conversation", "of": conversation_id(tx, conversation)} | fields
    grant = Grant(id=named(number), tool=tool, **values)
    return grants.give(tx, grant, conversation=conversation, who=WHO, now_ms=NOW)


@pytest.fixture
def store() -> Store:
    return Store.in_memory()


def test_a_grant_for_a_conversation_holds_for_every_run_of_it_and_no_other(store: Store) -> None:
    with store.write() as tx:
        here, other = talk(tx), talk(tx)
        run = begin(tx, here, 1)
        given = give(tx, here)
        held, revision = grants.holding(tx, run=run, conversation=here)
        assert [(one.id, one.tool, one.scope) for one in held] == [(given, "edit", "conversation")]
        assert revision == log.newest(tx)
        assert grants.holding(tx, run=begin(tx, other, 2), conversation=other) == ((), 0)
        (event,) = [event for event in log.events(tx, after=0, limit=99) if event.kind == "grant.given"]
        assert (event.by, event.via, event.payload["tool"]) == ("user", "tui", "edit")
        assert event.payload["of"] == conversation_id(tx, here)


def test_a_grant_for_a_run_ends_with_it(store: Store) -> None:
    with store.write() as tx:
        here = talk(tx)
        run, beside = begin(tx, here, 1), begin(tx, here, 2)
        given = give(tx, here, scope="run", of=run)
        assert [one.id for one in grants.holding(tx, run=run, conversation=here)[0]] == [given]
        assert grants.holding(tx, run=beside, conversation=here)[0] == ()
        assert [one.id for one in grants.listed(tx)] == [given]
        drive(tx, run, RunEnded(status="done"))
        assert grants.listed(tx) == []


def test_a_revoked_grant_holds_no_more_and_ends_once(store: Store) -> None:
    with store.write() as tx:
        here = talk(tx)
        run, given = begin(tx, here, 1), give(tx, here)
        ended = grants.revoke(tx, given, who=WHO, now_ms=NOW)
        assert ended.until == log.newest(tx)
        assert grants.holding(tx, run=run, conversation=here) == ((), ended.until)
        assert grants.revoke(tx, given, who=WHO, now_ms=NOW) == ended == grants.row(tx, given)
        assert grants.listed(tx) == []
        with pytest.raises(apsw.ConstraintError, match="a grant only ever ends"):
            tx.run("UPDATE granted SET until = NULL")
        again = give(tx, here, 2)
        assert again != given and [one.id for one in grants.listed(tx)] == [again]


def test_the_same_grant_is_given_once(store: Store) -> None:
    with store.write() as tx:
        here = talk(tx)
        first = give(tx, here)
        assert give(tx, here, 2) == first
        assert give(tx, here, 3, tool="build") != first
        assert [one.tool for one in grants.listed(tx, here)] == ["build", "edit"], "newest first"
        assert grants.listed(tx, talk(tx)) == []


def test_a_grant_is_named_by_its_ending(store: Store) -> None:
    with store.write() as tx:
        given = give(tx, talk(tx))
        assert names.grant(tx, given[-4:]) == names.grant(tx, given) == given
        with pytest.raises(NotFound, match="no grant is named 'beef'"):
            names.grant(tx, "beef")
        with pytest.raises(NotFound, match="there is no grant"):
            grants.row(tx, named(99))


def test_panelot_75_grants_survive_the_process_and_end_with_their_conversation(home: Path) -> None:
    store = open_store(home, now_ms=NOW)
    with store.write() as tx:
        here = talk(tx)
        given = give(tx, here)
    store.close()
    with open_store(home, now_ms=NOW).write() as tx:
        assert [one.id for one in grants.listed(tx)] == [given]
        purge.destroy(tx, purge.condemned(tx, (), (here,)))
        assert grants.listed(tx) == []


FORGED = """INSERT INTO granted (id, tool, scope, holds_for, conversation, since, created_ms)
  VALUES (randomblob(16), 'build', 'conversation', 'x', 1, 1, 1)"""
WRONG = {
    "one that nobody gave": FORGED,
    "one that is lost": "DELETE FROM granted WHERE until IS NULL",
    "one that holds again": "DELETE FROM granted WHERE until IS NOT NULL",
    "one that ended by itself": "UPDATE granted SET until = 1 WHERE until IS NULL",
    "one of another conversation": "UPDATE granted SET conversation = 2 WHERE until IS NULL",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_grant_that_the_log_does_not_tell_is_found_and_lets_nothing_run(store: Store, name: str) -> None:
    with store.write() as tx:
        here, _ = talk(tx), talk(tx)
        ended, kept = give(tx, here), give(tx, here, 2, tool="build")
        grants.revoke(tx, ended, who=WHO, now_ms=NOW)
        before = tx.rows("SELECT * FROM granted ORDER BY since")
        assert list(grants.checked(tx)) == []
        tx.run(WRONG[name])
        (problem,) = grants.checked(tx)
        assert (problem.kind, problem.mendable) == ("grant", True)
        grants.rebuild(tx)
        assert list(grants.checked(tx)) == []
        assert [row[1:] for row in tx.rows("SELECT * FROM granted ORDER BY since")] == [row[1:] for row in before]
        assert [one.id for one in grants.listed(tx)] == [kept]
