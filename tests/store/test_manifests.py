"""Manifests: stored once for each digest, verified whenever they are read, never changed."""

from __future__ import annotations

import apsw
import pytest

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded
from forkwood.store import manifests
from forkwood.store.db import Store
from tests.domain.paths import manifest


@pytest.fixture
def store() -> Store:
    return Store.in_memory()


def test_equal_manifests_are_stored_once(store: Store) -> None:
    with store.write() as tx:
        digest = manifests.put(tx, manifest())
        assert manifests.put(tx, manifest()) == digest != manifests.put(tx, manifest(system="Be long."))
        assert tx.value("SELECT count(*) FROM manifest") == 2
        assert manifests.get(tx, digest) == manifest()
        assert manifests.body(tx, digest) == wire.canonical(manifest())
        assert digest == wire.digest(manifest())


def test_one_that_is_too_large_is_not_stored(store: Store) -> None:
    with store.write() as tx:
        with pytest.raises(LimitExceeded):
            manifests.put(tx, manifest(system="x" * (limits.system_bytes_max + 1)))
        with pytest.raises(LimitExceeded):
            manifests.put(tx, manifest(memories=("x" * limits.manifest_bytes_max,)))
        assert tx.value("SELECT count(*) FROM manifest") == 0


def test_a_manifest_never_changes_and_an_altered_one_is_refused(store: Store) -> None:
    with store.write() as tx:
        digest = manifests.put(tx, manifest())
    with pytest.raises(apsw.ConstraintError), store.write() as tx:
        tx.run("UPDATE manifest SET body = '{}'")
    with store.write() as tx:
        tx.run("DROP TRIGGER manifest_is_forever")
        tx.run("UPDATE manifest SET body = replace(body, 'brief', 'rude')")
        with pytest.raises(Conflict):
            manifests.get(tx, digest)


def test_one_that_is_gone_is_named(store: Store) -> None:
    with store.read() as tx:
        assert manifests.body(tx, "0" * 64) is None
        with pytest.raises(Conflict):
            manifests.get(tx, "0" * 64)


def test_a_purge_leaves_a_husk_that_is_told_from_one_that_is_missing(store: Store) -> None:
    with store.write() as tx:
        digest = manifests.put(tx, manifest())
        assert not manifests.is_husk(tx, digest)
        tx.run("INSERT INTO purging VALUES (1)")
        manifests.forget_unneeded(tx)
        tx.run("DELETE FROM purging")
        assert (manifests.is_husk(tx, digest), manifests.body(tx, digest)) == (True, None)
        assert not manifests.is_husk(tx, "0" * 64)
        with pytest.raises(Conflict, match="gone"):
            manifests.get(tx, digest)
        assert manifests.put(tx, manifest()) == digest
        assert manifests.get(tx, digest) == manifest(), "a run is sealed with the same anew"
