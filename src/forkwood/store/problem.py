"""What doctor finds: a problem, its kind, and whether it can be mended from the books."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.ids import Id


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that is not as the books say. MENDABLE: it is an index, which `doctor --repair` makes anew."""

    kind: str
    message: str
    node: Id | None = None
    conversation: Id | None = None
    run: Id | None = None
    event: int | None = None
    mendable: bool = False


def bounded(found: Iterable[Problem]) -> Iterator[Problem]:
    """The first `limits.problems_of_a_kind_max` of FOUND, and one that says how many more there are."""
    rest = iter(found)
    first = list(islice(rest, limits.problems_of_a_kind_max))
    yield from first
    more = sum(1 for _ in rest)
    if more:
        yield Problem(
            kind=first[-1].kind, message=f"… and {more:,} more like these", mendable=all(one.mendable for one in first)
        )
