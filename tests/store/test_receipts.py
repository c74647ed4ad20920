"""A receipt is given once, finished once, and never changes."""

from __future__ import annotations

import apsw
import pytest

from forkwood.domain import limits
from forkwood.store import receipts
from forkwood.store.db import Store, Tx
from forkwood.store.receipts import Receipt


def test_a_receipt_is_found_by_client_and_key() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        receipts.give(tx, "cli", "k", "send", "f", b'{"a":"\xc3\xa4"}', 7)
        assert receipts.find(tx, "cli", "k") == Receipt(
            client="cli", key="k", verb="send", fingerprint="f", response=b'{"a":"\xc3\xa4"}', created_ms=7
        )
        assert receipts.find(tx, "web", "k") is None
        assert receipts.find(tx, "cli", "K") is None


def test_a_key_is_given_one_receipt() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        receipts.give(tx, "cli", "k", "send", "f", b"1", 7)
        with pytest.raises(apsw.ConstraintError):
            receipts.give(tx, "cli", "k", "send", "f", b"2", 8)
        receipts.give(tx, "web", "k", "send", "f", b"2", 8)


def test_one_that_only_began_is_finished_once() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        receipts.give(tx, "cli", "k", "purge", "f", None, 7)
        begun = receipts.find(tx, "cli", "k")
        assert begun is not None
        assert begun.response is None
        receipts.finish(tx, "cli", "k", b"[]")
        done = receipts.find(tx, "cli", "k")
        assert done is not None
        assert done.response == b"[]"
        with pytest.raises(AssertionError):
            receipts.finish(tx, "cli", "k", b"[1]")
        with pytest.raises(apsw.ConstraintError, match="never changes"):
            tx.run("UPDATE receipt SET response = '[2]'")


def test_what_was_given_up_leaves_no_receipt_and_what_was_answered_stays() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        receipts.give(tx, "cli", "k", "purge", "f", None, 7)
        receipts.withdraw(tx, "cli", "k")
        assert receipts.find(tx, "cli", "k") is None
        receipts.give(tx, "cli", "k", "purge", "f", b"1", 7)
        receipts.withdraw(tx, "cli", "k")
        assert receipts.find(tx, "cli", "k") is not None


DAY_MS = 24 * 3_600 * 1_000


def keys(tx: Tx) -> list[str]:
    return [key for (key,) in tx.rows("SELECT key FROM receipt ORDER BY key")]


def test_panelot_25_26_a_receipt_goes_when_its_days_are_over_and_one_that_is_open_never() -> None:
    assert limits.receipt_days_kept >= 30
    store, kept_ms = Store.in_memory(), limits.receipt_days_kept * DAY_MS
    with store.write() as tx:
        receipts.give(tx, "cli", "old", "send", "f", b"1", 0)
        receipts.give(tx, "cli", "open", "purge", "f", None, 0)
        receipts.give(tx, "cli", "young", "send", "f", b"1", 1)
        receipts.give(tx, "cli", "now", "send", "f", b"1", kept_ms)
        assert keys(tx) == ["now", "old", "open", "young"], "its last day is not over"
        receipts.give(tx, "cli", "soon", "send", "f", b"1", kept_ms + 1)
        assert keys(tx) == ["now", "open", "soon", "young"]
        receipts.finish(tx, "cli", "open", b"2")
        receipts.give(tx, "cli", "then", "send", "f", b"1", kept_ms + 2)
        assert keys(tx) == ["now", "soon", "then"], "when it is answered its days count as well"


def test_many_go_some_at_a_time_the_oldest_first() -> None:
    store, more = Store.in_memory(), limits.receipts_pruned_max + 1
    with store.write() as tx:
        for number in range(more):
            receipts.give(tx, "cli", f"{number:04}", "send", "f", b"1", number)
        receipts.give(tx, "cli", "x", "send", "f", b"1", (limits.receipt_days_kept + 1) * DAY_MS)
        assert keys(tx) == [f"{more - 1:04}", "x"]


def test_what_is_over_is_found_without_reading_all() -> None:
    with Store.in_memory().read() as tx:
        plan = tx.rows(f"EXPLAIN QUERY PLAN {receipts._PRUNE}", (1, 1))
    assert any("receipt_age" in row[3] for row in plan)


def test_a_key_that_was_veiled_is_known_when_it_comes_again() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        receipts.give(tx, "cli", receipts.veiled("k"), "send", "f", b"1", 7)
        found = receipts.find(tx, "cli", "k")
        assert found is not None
        assert (found.key, found.response) == ("k", b"1")
        assert receipts.find(tx, "cli", "K") is None
        assert receipts.veiled(receipts.veiled("k")) == receipts.veiled("k")
