"""Marks: which nodes are hidden, now or as of a log number: a filter beside the tree, that no digest knows of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forkwood import wire
from forkwood.domain.message import Role
from forkwood.store.db import Tx

_FEW = 16

NOW = "m.until IS NULL"
THEN = "m.since <= ? AND (m.until IS NULL OR m.until > ?)"
RANGE = "SELECT m.node FROM mark m WHERE m.node BETWEEN ? AND ? AND {holds} LIMIT ?"
_ANY = "SELECT 1 FROM mark LIMIT 1"
EACH = "SELECT m.node FROM json_each(?) place CROSS JOIN mark m ON m.node = place.value AND {holds}"


def hide(tx: Tx, nodes: Iterable[int], event_seq: int) -> list[int]:
    """Hide nodes from that log number on; those whose state changed."""
    already = hidden_now(tx, wanted := list(dict.fromkeys(nodes)))
    changed = [node for node in wanted if node not in already]
    for node in changed:
        tx.run("INSERT INTO mark (node, since) VALUES (?, ?)", (node, event_seq))
    return changed


def show(tx: Tx, nodes: Iterable[int], event_seq: int) -> list[int]:
    """End the marks of nodes at that log number; those whose state changed."""
    already = hidden_now(tx, wanted := list(dict.fromkeys(nodes)))
    changed = [node for node in wanted if node in already]
    for node in changed:
        tx.run("UPDATE mark SET until = ? WHERE node = ? AND until IS NULL", (event_seq, node))
    return changed


def hidden_now(tx: Tx, nodes: Sequence[int]) -> set[int]:
    """Which of these nodes are hidden now."""
    return _among(tx, nodes, NOW, ())


def hidden_at(tx: Tx, log: int, nodes: Sequence[int]) -> set[int]:
    """Which of these nodes were hidden as of that log number."""
    return _among(tx, nodes, THEN, (log, log))


def unseen(
    tx: Tx, path: Sequence[int], roles: Iterable[Role | None], beside: Sequence[int] = (), *, log: int | None = None
) -> set[int]:  # fmt: skip
    """Which nodes of a PATH, given from its beginning on with its ROLES, and of those BESIDE it are hidden as of LOG
    (None: now): those with a mark; on the path results are as hidden as the reply right before them is."""
    wanted = [*path, *beside] if beside else path
    found = hidden_now(tx, wanted) if log is None else hidden_at(tx, log, wanted)
    if found:
        for reply, node, role in zip(path, path[1:], list(roles)[1:], strict=False):
            if role == "tool":
                (found.add if reply in found else found.discard)(node)
    return found


def any_below(tx: Tx, node: int, log: int | None) -> bool:
    """Whether any node up to NODE can be hidden as of LOG (None: now). On a path no node is newer than its last."""
    if log is None:
        return tx.value("SELECT 1 FROM mark WHERE until IS NULL AND node <= ? LIMIT 1", (node,)) is not None
    return tx.value("SELECT 1 FROM mark WHERE node <= ? AND since <= ? LIMIT 1", (node, log)) is not None


def _among(tx: Tx, nodes: Sequence[int], holds: str, args: tuple[int, ...]) -> set[int]:
    """Which of NODES have a mark that HOLDS: read from where they lie, or one by one where others have more there."""
    if len(nodes) > _FEW:
        if tx.value(_ANY) is None:
            return set()
        rows = tx.rows(RANGE.format(holds=holds), (min(nodes), max(nodes), *args, len(nodes) + 1))
        if len(rows) <= len(nodes):
            return {node for (node,) in rows}.intersection(nodes)
    return {node for (node,) in tx.rows(EACH.format(holds=holds), (wire.text(nodes), *args))} if nodes else set()
