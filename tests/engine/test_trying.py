"""What becomes of a failed try: a wait, another key where one was refused and there is one, or neither."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed
from forkwood.engine.trying import judged
from tests.engine.stage import FakeModel, Stage, failed, gripped

CASES = (
    ("a moment", failed(503, "unavailable"), 1, 2, (0.25, False)),
    ("longer each time", failed(503, "unavailable"), 2, 2, (0.5, False)),
    ("as long as it asks for", failed(503, "unavailable", retry_after=7), 1, 2, (7, False)),
    ("another key at once", failed(429, "rate_limit", retry_after=7), 1, 2, (0.0, True)),
    ("no other key", failed(429, "rate_limit", retry_after=7), 1, 1, (7, False)),
    ("a key that is none", failed(401, "auth"), 1, 1, (None, False)),
    ("nothing a wait mends", failed(400, "rejected"), 1, 2, (None, False)),
    ("too many", failed(503, "unavailable"), limits.tries_max, 2, (None, False)),
)


@pytest.mark.parametrize(
    ("failure", "number", "keys", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_what_follows(
    tmp_path: Path, failure: Exception, number: int, keys: int, expected: tuple[float | None, bool]
) -> None:
    model = FakeModel(keys=keys)
    found = judged(gripped(Stage(tmp_path)), model, cast("ProviderFailed", failure), number=number, hint="")
    assert (found.wait, found.next_key) == expected
    assert model.keys_left == keys - 1 - found.next_key, "a key is given up only where it was refused"


def test_what_is_kept_names_the_way_that_works_and_no_reason_twice(tmp_path: Path) -> None:
    failure = cast("ProviderFailed", failed(503, "unavailable"))
    found = judged(gripped(Stage(tmp_path)), FakeModel(), failure, number=1, hint="do this")
    assert found.kept == {"reason": "unavailable", "message": "said 503", "hint": "do this", "facts": {"status": 503}}
