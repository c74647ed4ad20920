"""How hard a test tries: a little in `make test`, fifty times as hard in `make soak`."""

from __future__ import annotations

from hypothesis import settings

TIMES = 50


def is_soaking() -> bool:
    """Whether this is `make soak`: asked while tests are collected, when the profile is chosen."""
    return settings.get_current_profile_name() == "thorough"


def trials(count: int, times: int = TIMES) -> int:
    """COUNT, or so many TIMES as many in a soak."""
    return count * times if is_soaking() else count
