"""Of many problems of one kind the first are named and the others counted."""

from __future__ import annotations

from forkwood.domain import limits
from forkwood.store.problem import Problem, bounded

MOST = limits.problems_of_a_kind_max


def problems(count: int) -> list[Problem]:
    return [Problem(kind="head", message=str(number), mendable=True) for number in range(count)]


def test_up_to_the_limit_all_are_named() -> None:
    assert list(bounded(problems(0))) == []
    assert list(bounded(problems(MOST))) == problems(MOST)


def test_over_the_limit_the_others_are_counted() -> None:
    *named, last = bounded(problems(MOST + 2_000))
    assert named == problems(MOST)
    assert last == Problem(kind="head", message="… and 2,000 more like these", mendable=True)
