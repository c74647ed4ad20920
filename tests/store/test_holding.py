"""Holding a run: by a number that rises, checked at every commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.errors import Conflict
from forkwood.domain.run_event import CancelAsked, RunEnded
from forkwood.store import holding, log, runs
from forkwood.store.db import Store
from forkwood.store.holding import Lost
from forkwood.store.opening import open_store
from tests.domain.happened import kept, turn
from tests.store.said import NOW, talk
from tests.store.test_runs import WHO, begin


@pytest.fixture
def store() -> Store:
    return Store.in_memory()


def test_the_number_rises_and_the_one_before_is_lost(store: Store) -> None:
    with store.write() as tx:
        run = begin(tx, talk(tx), 1)
        one = holding.hold(tx, run, "one", NOW)
        assert holding.renew(tx, one) == one
        two = holding.hold(tx, run, "two", NOW)
        assert (one.number, two.number) == (1, 2)
        with pytest.raises(Lost):
            holding.renew(tx, one)
        three = holding.hold(tx, run, "two", NOW)
        with pytest.raises(Lost):
            holding.renew(tx, two)
        assert holding.renew(tx, three).state.takeover == 3
        assert runs.row(tx, run).status == "running"


def test_what_others_added_is_folded(store: Store) -> None:
    with store.write() as tx:
        run = begin(tx, talk(tx), 1)
        held = holding.hold(tx, run, "me", NOW)
        log.write(tx, CancelAsked(), who=WHO, now_ms=NOW, run=run)
        renewed = holding.renew(tx, held)
        assert renewed.state.cancelling and renewed.seen > held.seen
        assert holding.renew(tx, renewed) == renewed


def test_a_run_that_is_over_is_held_by_nobody(store: Store) -> None:
    with store.write() as tx:
        run = begin(tx, talk(tx), 1)
        held = holding.hold(tx, run, "me", NOW)
        for event in (turn(), kept(), RunEnded(status="done")):
            held = holding.append(tx, held, event, now_ms=NOW)
        assert runs.details(tx, run).driver is None
        with pytest.raises(Conflict):
            holding.hold(tx, run, "late", NOW)


def test_letting_go_is_only_for_the_holder(store: Store) -> None:
    with store.write() as tx:
        run = begin(tx, talk(tx), 1)
        one = holding.hold(tx, run, "one", NOW)
        two = holding.hold(tx, run, "two", NOW)
        holding.release(tx, one)
        assert runs.details(tx, run).driver == "two"
        holding.release(tx, two)
        assert runs.details(tx, run).driver is None


def test_the_store_version_changes_with_others_commits_alone(tmp_path: Path) -> None:
    one, two = open_store(tmp_path / "home", now_ms=NOW), open_store(tmp_path / "home", now_ms=NOW)
    with one.read() as tx:
        before = holding.store_version(tx)
    with one.write() as tx:
        talk(tx)
    with one.read() as tx:
        assert holding.store_version(tx) == before
    with two.write() as tx:
        talk(tx)
    with one.read() as tx:
        assert holding.store_version(tx) != before
    one.close()
    two.close()
