"""Responses are values with one JSON shape; what a verb gives back once, it gives back from its receipt."""

from __future__ import annotations

import pytest
from msgspec import Struct

from forkwood import wire
from forkwood.domain.response import Affects, Answering, LeftOut, Moved, Pulled, PurgeReport, Touched

VALUES: list[Struct] = [
    Affects(branches=2, conversations=("a",), note="n"),
    Moved(head=None, node=None),
    Touched(affects=Affects(branches=0, conversations=()), hidden=True, nodes=("a",)),
    PurgeReport(
        nodes=("a",), conversations=(), kept=("b",), affects=Affects(branches=1, conversations=()), out_of_reach=()
    ),
    LeftOut(id="a", reason="hidden"),
    Answering(model="m", why="w", notes=()),
    Pulled(path="/p", bytes=3, already=True),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_response_comes_back_from_its_json(value: Struct) -> None:
    assert wire.decode(wire.encode(value), type(value)) == value


def test_a_move_to_the_empty_path_says_null() -> None:
    assert wire.plain(Moved(head=None, node=None)) == {"head": None, "node": None, "gone": []}
