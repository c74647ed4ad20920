"""Settings are values with defaults that are the limits'."""

from __future__ import annotations

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.settings import Parameters, Settings, Timeouts


def test_what_is_not_set_is_not_there() -> None:
    assert wire.encode(Parameters()) == b"{}"
    assert wire.encode(Parameters(temperature=0.0)) == b'{"temperature":0.0}'


def test_a_local_server_may_take_longer_to_begin() -> None:
    assert Timeouts().first_byte_local == limits.first_byte_local_seconds > Timeouts().first_byte


def test_times_are_the_limits_where_nobody_set_others() -> None:
    times = Timeouts()
    assert (times.connect, times.first_byte, times.stall) == (
        limits.connect_seconds,
        limits.first_byte_seconds,
        limits.stall_seconds,
    )


def test_settings_need_a_home_alone() -> None:
    settings = Settings(home="/home")
    assert (settings.client, settings.model, settings.profiles, settings.title_by_model) == ("cli", None, {}, False)
