"""Summaries as they are kept: each with the digest of the visible path it stands for. Only purge removes one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from forkwood import wire
from forkwood.domain.errors import NotFound
from forkwood.domain.ids import Id, ending
from forkwood.domain.prompt import Said
from forkwood.domain.summary import Summary, fitting, prefix_digests
from forkwood.store.db import Tx

_SUMMARY = "SELECT id, digest, covers, text FROM summary"
KNOWN = "SELECT DISTINCT json_array_length(covers), digest FROM summary WHERE json_array_length(covers) < ?"
NEWEST = f"{_SUMMARY} WHERE json_array_length(covers) = ? AND digest = ? ORDER BY seq DESC LIMIT 1"


def add(tx: Tx, conversation: int, said: Sequence[Said], text: str, *, id: Id, now_ms: int) -> Summary:
    """Keep TEXT as what stands for all that is SAID, the beginning of a visible path of a conversation."""
    *_, digest = prefix_digests(said)
    covers = tuple(one.node for one in said)
    tx.run(
        "INSERT INTO summary (id, conversation, digest, covers, text, created_ms) VALUES (?,?,?,?,?,?)",
        (bytes.fromhex(id), conversation, digest, wire.text(covers), text, now_ms),
    )
    return Summary(id=id, digest=digest, covers=covers, text=text)


def best(tx: Tx, said: Sequence[Said]) -> Summary | None:
    """The summary that stands for the longest beginning of what is SAID, or None; of several for it, the newest."""
    found = fitting(said, tx.rows(KNOWN, (len(said),)))
    return None if found is None else _summary(tx.rows(NEWEST, found)[0])


def get(tx: Tx, id: Id) -> Summary:
    """The summary of that id. Raises NotFound where it was purged."""
    row = tx.one(f"{_SUMMARY} WHERE id = ?", (bytes.fromhex(id),))
    if row is None:
        raise NotFound(f"the summary {ending(id)} was purged", hint="forkwood log shows when", summary=id)
    return _summary(row)


def is_kept(tx: Tx, id: Id) -> bool:
    """Whether the summary of that id is there still."""
    return tx.value("SELECT 1 FROM summary WHERE id = ?", (bytes.fromhex(id),)) is not None


def says_purged(tx: Tx, ids: Collection[Id]) -> bool:
    """Whether one of the messages IDS was purged: what was made of them says what is to be gone."""
    found = tx.value(
        "SELECT 1 FROM json_each(?) AS one JOIN node n ON n.id = unhex(one.value) WHERE n.purged = 1 LIMIT 1",
        (wire.text(list(ids)),),
    )
    return found is not None


def forget(tx: Tx, ids: Collection[Id]) -> None:
    """Remove every summary that stands for one of the messages IDS: a purge takes their words."""
    tx.run(
        """DELETE FROM summary WHERE EXISTS (SELECT 1 FROM json_each(covers)
             WHERE value IN (SELECT value FROM json_each(?)))""",
        (wire.text(sorted(ids)),),
    )


def _summary(row: tuple[bytes, bytes, str, str]) -> Summary:
    id, digest, covers, text = row
    return Summary(id=id.hex(), digest=digest, covers=wire.decode(covers, tuple[Id, ...]), text=text)
