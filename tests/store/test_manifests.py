"""Manifests: stored once for each digest, verified whenever they are read, never changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import Conflict, LimitExceeded
from forkwood.store import manifests
from forkwood.store.db import Store
from tests.domain.paths import LOOK, manifest


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


TOOL_AROUND = len(wire.canonical(LOOK)) - len(LOOK.spec.description)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


AT_LIMIT: dict[str, Callable[[int], dict[str, Any]]] = {
    "system_bytes_max": lambda size: {"system": "x" * size},
    "tools_max": lambda size: {"tools": (LOOK,) * size},
    "tool_bytes_max": lambda size: {
        "tools": (replace(LOOK, spec=replace(LOOK.spec, description="x" * (size - TOOL_AROUND))),)
    },
    "manifest_depth_max": lambda size: {"project": nested(size - 2)},
    "manifest_bytes_max": lambda size: {"memories": ("x" * (size - len(wire.canonical(manifest(memories=("",))))),)},
}


@pytest.mark.parametrize("limit", AT_LIMIT)
def test_panelot_67_each_bound_holds_at_its_limit_before_anything_is_stored(store: Store, limit: str) -> None:
    bound = getattr(limits, limit)
    with store.write() as tx:
        digest = manifests.put(tx, manifest(**AT_LIMIT[limit](bound)))
        assert manifests.get(tx, digest) == manifest(**AT_LIMIT[limit](bound))
        with pytest.raises(LimitExceeded) as over:
            manifests.put(tx, manifest(**AT_LIMIT[limit](bound + 1)))
        assert (over.value.facts["limit"], over.value.facts["got"]) == (limit, bound + 1)
        assert "forkwood set" in over.value.hint and "xxx" not in f"{over.value} {over.value.facts}"
        assert tx.value("SELECT count(*) FROM manifest") == 1


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


def test_an_altered_one_is_restored_by_the_next_that_is_sealed_so(store: Store) -> None:
    with store.write() as tx:
        digest, other = manifests.put(tx, manifest()), manifests.put(tx, manifest(system="Be long."))
        tx.run("DROP TRIGGER manifest_is_forever")
        tx.run("UPDATE manifest SET body = replace(body, 'brief', 'rude')")
        with pytest.raises(Conflict, match="not the one it was sealed with") as refused:
            manifests.get(tx, digest)
        assert "forkwood retry" in refused.value.hint and "forkwood doctor --repair" in refused.value.hint
        assert manifests.put(tx, manifest()) == digest
        assert (manifests.get(tx, digest), manifests.get(tx, other)) == (manifest(), manifest(system="Be long."))


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
