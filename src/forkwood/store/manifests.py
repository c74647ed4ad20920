"""Manifests: what runs were sealed with, stored once for each digest."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from forkwood import wire
from forkwood.domain.errors import Conflict
from forkwood.domain.manifest import RETRY, Manifest, checked, checked_size, too_deep, verified
from forkwood.store.db import Tx

HUSK = "null"
"""What a purge leaves of a manifest: runs still name it, and nobody takes it for one that was lost."""


NEEDED = """WITH sealed (run, conversation, digest) AS (
    SELECT run, conversation, payload ->> '$.manifest' FROM event WHERE kind = 'run.sealed'
    UNION SELECT id, conversation, manifest FROM run WHERE manifest IS NOT NULL
  ) SELECT DISTINCT digest FROM sealed s JOIN conversation c ON c.seq = s.conversation
  WHERE c.purged = 0 OR EXISTS (SELECT 1 FROM node n WHERE n.run = s.run AND n.purged = 0)"""


def put(tx: Tx, manifest: Manifest) -> str:
    """Keep MANIFEST; its digest. What else stands under that digest, a husk or what damage made of it, gives way: the
    digest proves which is right. Raises LimitExceeded where it is out of bounds: nothing is stored then."""
    body = spelled(manifest)
    digest, text = sha256(body).hexdigest(), body.decode()
    tx.run("DELETE FROM manifest WHERE digest = ? AND body <> ?", (digest, text))
    tx.run("INSERT INTO manifest (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, text))
    return digest


def spelled(manifest: Manifest) -> bytes:
    """The canonical JSON of MANIFEST, to be digested and stored. Raises LimitExceeded where it is out of bounds."""
    try:
        body = checked_size(wire.canonical(manifest))
        checked(wire.decode(body, dict[str, Any]))
    except RecursionError:
        raise too_deep() from None
    return body


def body(tx: Tx, digest: str) -> bytes | None:
    """The canonical JSON of a manifest as it stands in the store; None where there is none, or a husk."""
    found: str | None = tx.value("SELECT body FROM manifest WHERE digest = ?", (digest,))
    return None if found is None or found == HUSK else found.encode()


def is_husk(tx: Tx, digest: str) -> bool:
    """Whether a purge took what the manifest said."""
    return bool(tx.value("SELECT body = ? FROM manifest WHERE digest = ?", (HUSK, digest)))


def needed(tx: Tx) -> frozenset[str]:
    """The digests of those that can be asked for: of runs in conversations that stand, or of replies that do."""
    return frozenset(digest for (digest,) in tx.rows(NEEDED))


def forget_unneeded(tx: Tx) -> None:
    """Leave husks of all others: only a purge may."""
    kept = needed(tx)
    going = [digest for (digest,) in tx.rows("SELECT digest FROM manifest") if digest not in kept]
    tx.connection.executemany("UPDATE manifest SET body = ? WHERE digest = ?", ((HUSK, digest) for digest in going))


def get(tx: Tx, digest: str | None) -> Manifest:
    """The manifest of that digest, verified; None is that of a run whose log has lost it. Raises Conflict where it is
    gone, altered, out of bounds or of an unknown version."""
    found = None if digest is None else body(tx, digest)
    if found is None or digest is None:
        raise Conflict("the manifest of the run is gone", hint=RETRY, reason="manifest")
    return verified(digest, found)
