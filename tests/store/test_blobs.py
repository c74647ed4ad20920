"""Bytes are kept once, by their hash."""

from __future__ import annotations

from hashlib import sha256

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, NotFound
from forkwood.store import blobs
from forkwood.store.db import Store
from tests.store import said


def test_the_same_bytes_are_kept_once() -> None:
    store = Store.in_memory()
    with store.write() as tx:
        first, second = blobs.put(tx, b"\0bytes\xff"), blobs.put(tx, b"\0bytes\xff")
        assert first == second == sha256(b"\0bytes\xff").hexdigest()
        assert tx.value("SELECT count(*) FROM blob") == 1
        assert blobs.get(tx, first) == b"\0bytes\xff"
        assert blobs.get(tx, blobs.put(tx, b"")) == b""


def test_bytes_that_damage_altered_are_restored_where_they_come_again() -> None:
    with Store.in_memory().write() as tx:
        digest, other = blobs.put(tx, b"bytes"), blobs.put(tx, b"others")
        tx.run("UPDATE blob SET bytes = x'00', size = 1")
        assert blobs.put(tx, b"bytes") == digest
        assert (blobs.get(tx, digest), blobs.get(tx, other)) == (b"bytes", b"\0")
        assert tx.value("SELECT size FROM blob WHERE hash = ?", (digest,)) == 5


def test_bytes_of_a_node_go_with_it() -> None:
    with Store.in_memory().write() as tx:
        node = said.say(tx, said.talk(tx), "look")
        kept = {blobs.put_for(tx, b"long", node), blobs.put_for(tx, b"long", node)}
        assert tx.rows("SELECT node, blob FROM attachment") == [(node, *kept)]
        assert blobs.get(tx, kept.pop()) == b"long"


def test_what_is_not_there_is_said() -> None:
    store = Store.in_memory()
    with store.read() as tx, pytest.raises(NotFound) as caught:
        blobs.get(tx, "0" * 64)
    assert caught.value.facts == {"blob": "0" * 64}


def test_bytes_up_to_the_limit_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "attachment_bytes_max", 100)
    store = Store.in_memory()
    with store.write() as tx:
        assert len(blobs.get(tx, blobs.put(tx, b"x" * 100))) == 100
        with pytest.raises(LimitExceeded) as caught:
            blobs.put(tx, b"y" * 101)
        assert (caught.value.facts["bound"], caught.value.facts["got"]) == (100, 101)
        assert tx.value("SELECT count(*) FROM blob") == 1
