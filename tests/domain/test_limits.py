"""Every bound is a positive number whose name ends in its unit."""

from __future__ import annotations

import pytest

from forkwood.domain import limits

BOUNDS = {name: value for name, value in vars(limits).items() if name[0].islower() and isinstance(value, int | float)}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_is_positive(name: str) -> None:
    assert BOUNDS[name] > 0


def test_a_large_paste_is_over_the_limit_of_a_message() -> None:
    assert limits.message_bytes_max < 64 * limits.MIB


def test_a_whole_reply_fits_into_a_message() -> None:
    assert limits.reply_bytes_max <= limits.message_bytes_max
