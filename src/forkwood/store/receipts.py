"""Receipts: what a command that carried a key was answered, so that the same command sent twice is done once.

A receipt is written in the act's own transaction. Only a verb of several transactions gives one without a response
first and finishes it later; a receipt with a response never changes. It goes when its days are over, with whichever
receipt is given next; one without a response stays for whoever ends what has begun.
"""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

from forkwood.domain import limits
from forkwood.store.db import Tx

_VEIL = "purged:"
_DAY_MS = 24 * 3_600 * 1_000
_PRUNE = """DELETE FROM receipt WHERE (client, key) IN
  (SELECT client, key FROM receipt WHERE response IS NOT NULL AND created_ms < ? ORDER BY created_ms LIMIT ?)"""


class Receipt(Struct, frozen=True, kw_only=True):
    """What was done under a key. RESPONSE is JSON in UTF-8; None while the verb is still under way."""

    client: str
    key: str
    verb: str
    fingerprint: str
    response: bytes | None
    created_ms: int


def veiled(key: str) -> str:
    """What stands for a KEY when what was done under it is purged: it says nothing, and the key is known by it."""
    return key if key.startswith(_VEIL) else f"{_VEIL}{sha256(key.encode()).hexdigest()}"


def find(tx: Tx, client: str, key: str) -> Receipt | None:
    """The receipt of CLIENT for KEY, if it was given one."""
    row = tx.one(
        "SELECT verb, fingerprint, response, created_ms FROM receipt WHERE client = ? AND key IN (?, ?)",
        (client, key, veiled(key)),
    )
    if row is None:
        return None
    verb, fingerprint, response, created_ms = row
    return Receipt(
        client=client,
        key=key,
        verb=verb,
        fingerprint=fingerprint,
        response=None if response is None else response.encode(),
        created_ms=created_ms,
    )


def give(  # noqa: PLR0917 - the columns of the table, in its order
    tx: Tx, client: str, key: str, verb: str, fingerprint: str, response: bytes | None, now_ms: int
) -> None:
    """Write the receipt of an act done in this transaction; without RESPONSE: of one that has only begun.

    Some of those that are older than `limits.receipt_days_kept` go.
    """
    tx.run(_PRUNE, (now_ms - limits.receipt_days_kept * _DAY_MS, limits.receipts_pruned_max))
    tx.run(
        "INSERT INTO receipt (client, key, verb, fingerprint, response, created_ms) VALUES (?, ?, ?, ?, ?, ?)",
        (client, key, verb, fingerprint, None if response is None else response.decode(), now_ms),
    )


def finish(tx: Tx, client: str, key: str, response: bytes) -> None:
    """Complete a receipt that was given without a response; there must be one."""
    tx.run(
        "UPDATE receipt SET response = ? WHERE client = ? AND key = ? AND response IS NULL",
        (response.decode(), client, key),
    )
    assert tx.changes() == 1, f"no receipt of {client} is open for {key}"


def withdraw(tx: Tx, client: str, key: str) -> None:
    """Take back a receipt that was given without a response: what had begun was given up. A response stays."""
    tx.run("DELETE FROM receipt WHERE client = ? AND key = ? AND response IS NULL", (client, key))
