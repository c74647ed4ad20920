"""current_time: weekday, local time with its distance to UTC, and UTC."""

from __future__ import annotations

from datetime import timedelta, timezone, tzinfo

import pytest

from forkwood.store.db import Store
from forkwood.tools.current_time import CurrentTime
from tests.tools.bench import call, occasion, used


@pytest.mark.parametrize(
    ("now_ms", "hours", "told"),
    [
        (0, 0, "Thursday, 1970-01-01 00:00:00+00:00 (1970-01-01 00:00:00 UTC)"),
        (1_790_000_000_999, 2, "Monday, 2026-09-21 16:13:20+02:00 (2026-09-21 14:13:20 UTC)"),
        (1_790_000_000_000, -15, "Sunday, 2026-09-20 23:13:20-15:00 (2026-09-21 14:13:20 UTC)"),
        (1_790_000_000_000, 5.5, "Monday, 2026-09-21 19:43:20+05:30 (2026-09-21 14:13:20 UTC)"),
    ],
)
async def test_now_is_told_where_the_person_is(now_ms: int, hours: float, told: str) -> None:
    zone: tzinfo = timezone(timedelta(hours=hours))
    tool, at = CurrentTime(lambda: now_ms, zone), occasion(Store.in_memory())
    assert await used(tool, at) == ("ok", told)
    assert await tool.inspect(call(tool), at) is None


async def test_without_a_zone_it_is_that_of_the_machine() -> None:
    outcome, told = await used(CurrentTime(lambda: 0), occasion(Store.in_memory()))
    assert outcome == "ok" and told.endswith("(1970-01-01 00:00:00 UTC)")
