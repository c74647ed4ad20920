"""Manifests: what runs were sealed with, stored once for each digest."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from forkwood import wire
from forkwood.domain.errors import Conflict
from forkwood.domain.manifest import RETRY, Manifest, checked, checked_size, verified
from forkwood.store.db import Tx


def put(tx: Tx, manifest: Manifest) -> str:
    """Keep MANIFEST; its digest. Raises LimitExceeded where it is out of bounds: nothing is stored then."""
    body = checked_size(wire.canonical(manifest))
    checked(wire.decode(body, dict[str, Any]))
    digest = sha256(body).hexdigest()
    tx.run("INSERT INTO manifest (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, body.decode()))
    return digest


def body(tx: Tx, digest: str) -> bytes | None:
    """The canonical JSON of a manifest as it stands in the store; None where there is none of that digest."""
    found: str | None = tx.value("SELECT body FROM manifest WHERE digest = ?", (digest,))
    return None if found is None else found.encode()


def get(tx: Tx, digest: str) -> Manifest:
    """The manifest of that digest, verified. Raises Conflict where it is gone, altered or of an unknown version."""
    found = body(tx, digest)
    if found is None:
        raise Conflict("the manifest of the run is gone", hint=RETRY, reason="manifest")
    return verified(digest, checked_size(found))
