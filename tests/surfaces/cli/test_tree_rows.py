"""The shape of a tree as rows: branches before the line they leave, the head's line straight down."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from forkwood.domain.tree import Node
from forkwood.surfaces.cli.tree_rows import Fold, branched_at, cut_of, folded, node_of, places_of, rows_of
from tests.surfaces.cli.made import entry, graft, message, name


def shape(nodes: list[Node], head: int | None = None) -> list[str]:
    """Each row as its depth in dots, `>` where it opens a branch, and its seq."""
    return [
        f"{'.' * row.depth}{'>' * row.opens}{row.node.seq}"
        for row in rows_of(nodes, None if head is None else name(head))
    ]


LINE = [message(1, None), message(2, 1), message(3, 2)]
FORK = [*LINE, message(4, 1), message(5, 4)]


@pytest.mark.parametrize(
    ("nodes", "head", "rows"),
    (
        ([], None, []),
        (LINE, 3, ["1", "2", "3"]),
        (FORK, 5, ["1", ".>2", ".3", "4", "5"]),
        (FORK, 3, ["1", ".>4", ".5", "2", "3"]),
        (FORK, None, ["1", ".>2", ".3", "4", "5"]),
        ([message(1, None), message(2, None), message(3, 1)], 3, [".>2", "1", "3"]),
        (
            [message(1, None), message(2, 1), message(3, 2), message(4, 2), message(5, 1)],
            5,
            ["1", ".>2", "..>3", ".4", "5"],
        ),
        ([message(1, None), graft(2, 1, 9, 3), message(3, f"{name(2)}~1"), message(4, 2)], 4, ["1", "2", ".>3", "4"]),
    ),
)
def test_branches_stand_before_the_line_they_leave(nodes: list[Node], head: int | None, rows: list[str]) -> None:
    assert shape(nodes, head) == rows


def test_every_node_is_drawn_once_at_any_depth() -> None:
    deep = [message(1, None), *(message(seq, seq - 1) for seq in range(2, 10_001))]
    bushy = [message(1, None), *(message(seq, seq // 2) for seq in range(2, 4_097))]
    for nodes in (deep, bushy):
        rows = list(rows_of(nodes, name(len(nodes))))
        assert sorted(row.node.seq for row in rows) == list(range(1, len(nodes) + 1))
    assert {row.depth for row in rows_of(deep, None)} == {0}


def test_a_head_that_is_not_here_leaves_the_youngest_line_straight() -> None:
    assert shape(FORK, 77)[-1] == "5"


def test_straight_runs_fold_and_what_matters_does_not() -> None:
    nodes = [message(1, None), *(message(seq, seq - 1) for seq in range(2, 12))]
    assert [_spelled(row) for row in folded(rows_of(nodes, name(11)), {name(11)})] == ["10 folded", "11"]
    kept = [_spelled(row) for row in folded(rows_of(nodes, name(11)), {name(5), name(11)})]
    assert kept == ["4 folded", "5", "5 folded", "11"]


@pytest.mark.parametrize("state", ({"hidden": True}, {"partial": True}, {"purged": True}, {"revises": name(50)}))
def test_a_node_in_a_state_is_never_folded(state: dict[str, Any]) -> None:
    nodes = [message(seq, seq - 1 or None, **(state if seq == 4 else {})) for seq in range(1, 9)]
    assert "4" in [_spelled(row) for row in folded(rows_of(nodes, None), ())]


def test_runs_of_two_are_drawn() -> None:
    nodes = [message(1, None), message(2, 1), message(3, 2)]
    assert [_spelled(row) for row in folded(rows_of(nodes, name(3)), {name(3)})] == ["1", "2", "3"]


def _spelled(row: object) -> str:
    return f"{row.count} folded" if isinstance(row, Fold) else str(row.node.seq)  # type: ignore[attr-defined]


def test_places_are_taken_apart() -> None:
    assert (node_of(f"{name(3)}~2"), cut_of(f"{name(3)}~2")) == (name(3), 2)
    assert (node_of(name(3)), cut_of(name(3))) == (name(3), 0)
    assert (node_of(None), cut_of(None)) == (None, 0)


@pytest.mark.parametrize(
    ("leaf", "shared"),
    [
        (name(2), 2),
        (name(6), 2),
        (name(8), 3),
        (f"{name(4)}~1", 3),
        (name(9), None),
        (name(77), None),
    ],
)
def test_a_branch_leaves_the_path_of_the_head_at_the_last_message_they_share(leaf: str, shared: int | None) -> None:
    """1, 2, then a graft that carries 3 and 5; 6 hangs at 2, 7 and 8 inside the graft behind 3, 9 begins anew."""
    one, two, three, five = message(1, None), message(2, 1), message(3, 2), message(5, 3)
    hanging = [message(6, 2), message(7, f"{name(4)}~1"), message(8, 7), message(9, None)]
    nodes = {node.id: node for node in (one, two, three, five, graft(4, 2, 5, 2), *hanging)}
    entries = [entry(one), entry(two), entry(three, graft=name(4)), entry(five, graft=name(4))]
    entries[3] = replace(entries[3], at=f"{name(4)}~1")
    found = branched_at(leaf, nodes, places_of(entries, name(4)))
    assert (found and found.seq) == shared
