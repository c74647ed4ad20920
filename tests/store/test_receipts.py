"""A receipt is given once, finished once, and never changes."""

from __future__ import annotations

import apsw
import pytest

from forkwood.store import receipts
from forkwood.store.db import Store
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
