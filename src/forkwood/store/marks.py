"""Marks: which nodes are hidden, now or as of a log number: a filter beside the tree, that no digest knows of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forkwood.domain.message import Role
from forkwood.store.db import Tx

_FEW = 16
_HIGHEST = (1 << 63) - 1


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
    if len(nodes) <= _FEW:
        query = "SELECT 1 FROM mark WHERE node = ? AND until IS NULL"
        return {node for node in nodes if tx.value(query, (node,)) is not None}
    return hidden_between(tx, min(nodes), max(nodes)).intersection(nodes)


def unseen(
    tx: Tx, path: Sequence[int], roles: Iterable[Role | None], low: int, high: int, *, log: int | None = None
) -> set[int]:  # fmt: skip
    """Which nodes from LOW to HIGH are hidden as of LOG (None: now): those with a mark, and on a PATH, given from its
    beginning on with its ROLES, results right behind a reply that has one."""
    found = hidden_between(tx, low, high) if log is None else hidden_at(tx, log, low, high)
    if found:
        after = zip(path, path[1:], list(roles)[1:], strict=False)
        found |= {node for reply, node, role in after if role == "tool" and reply in found}
    return found


def any_below(tx: Tx, node: int, log: int | None) -> bool:
    """Whether any node up to NODE can be hidden as of LOG (None: now). On a path no node is newer than its last."""
    if log is None:
        return tx.value("SELECT 1 FROM mark WHERE until IS NULL AND node <= ? LIMIT 1", (node,)) is not None
    return tx.value("SELECT 1 FROM mark WHERE node <= ? AND since <= ? LIMIT 1", (node, log)) is not None


def hidden_between(tx: Tx, low: int, high: int) -> set[int]:
    """The nodes from LOW to HIGH that are hidden now."""
    rows = tx.rows("SELECT node FROM mark WHERE until IS NULL AND node BETWEEN ? AND ?", (low, high))
    return {node for (node,) in rows}


def hidden_at(tx: Tx, log: int, low: int = 0, high: int = _HIGHEST) -> set[int]:
    """The nodes from LOW to HIGH that were hidden as of that log number."""
    rows = tx.rows(
        "SELECT node FROM mark WHERE node BETWEEN ? AND ? AND since <= ? AND (until IS NULL OR until > ?)",
        (low, high, log, log),
    )
    return {node for (node,) in rows}
