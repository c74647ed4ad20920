"""Blobs: bytes by the SHA-256 of them. The same bytes are kept once."""

from __future__ import annotations

from hashlib import sha256

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, NotFound
from forkwood.store.db import Tx


def put(tx: Tx, content: bytes) -> str:
    """Keep CONTENT; its hash in 64 hexadecimal digits. What damage made of the same bytes gives way: the hash proves
    which are right. Raises LimitExceeded over `limits.attachment_bytes_max`."""
    if len(content) > limits.attachment_bytes_max:
        raise LimitExceeded(
            "the attachment is too large (bytes)",
            limit="attachment_bytes_max",
            bound=limits.attachment_bytes_max,
            got=len(content),
        )
    digest = sha256(content).hexdigest()
    tx.run(
        """INSERT INTO blob (hash, size, bytes) VALUES (?, ?, ?) ON CONFLICT (hash) DO UPDATE
           SET size = excluded.size, bytes = excluded.bytes WHERE size <> excluded.size OR bytes <> excluded.bytes""",
        (digest, len(content), content),
    )
    return digest


def put_for(tx: Tx, content: bytes, node: int) -> str:
    """Keep CONTENT as a thing of NODE's, whose purge takes it along; its hash. Raises as `put`."""
    digest = put(tx, content)
    tx.run("INSERT OR IGNORE INTO attachment (node, blob) VALUES (?, ?)", (node, digest))
    return digest


def get(tx: Tx, digest: str) -> bytes:
    """The bytes whose hash is DIGEST. Raises NotFound."""
    content: bytes | None = tx.value("SELECT bytes FROM blob WHERE hash = ?", (digest,))
    if content is None:
        raise NotFound(
            f"there are no bytes under {digest}", hint="`forkwood doctor` tells what else is missing", blob=digest
        )
    return content
