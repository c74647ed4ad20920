"""Ids: the time is in front, chance behind, and people see endings."""

from __future__ import annotations

import uuid

import pytest

from forkwood.domain.ids import ending, is_ending, is_id, make_id, plain, time_of

NOW = 1_700_000_000_000


def test_an_id_is_a_uuid_of_version_7_with_its_time_in_front() -> None:
    spelled = make_id(NOW, bytes(range(10)))
    read = uuid.UUID(spelled)
    assert read.version == 7
    assert read.variant == uuid.RFC_4122
    assert read.int >> 80 == NOW


def test_ids_of_later_milliseconds_sort_behind() -> None:
    assert make_id(NOW, b"\xff" * 10) < make_id(NOW + 1, b"\x00" * 10)


def test_every_bit_of_chance_counts_but_six() -> None:
    seen = {make_id(NOW, (1 << bit).to_bytes(10, "big")) for bit in range(80)}
    assert len(seen) == 74 + 1


@pytest.mark.parametrize(
    ("now_ms", "chance"), [(-1, bytes(10)), (1 << 48, bytes(10)), (NOW, bytes(9)), (NOW, bytes(11))]
)
def test_a_time_or_chance_of_the_wrong_size_is_a_programming_error(now_ms: int, chance: bytes) -> None:
    with pytest.raises(AssertionError):
        make_id(now_ms, chance)


@pytest.mark.parametrize(
    ("text", "whole", "part"),
    [
        ("0189" * 8, True, True),
        ("0189" * 8 + "0", False, False),
        ("abcd", False, True),
        ("abc", False, False),
        ("ABCD", False, False),
        ("wxyz", False, False),
        ("", False, False),
    ],
)
def test_what_reads_as_an_id_or_an_ending(text: str, whole: bool, part: bool) -> None:
    assert is_id(text) is whole
    assert is_ending(text) is part


def test_uuids_of_other_programs_are_read_too() -> None:
    spelled = make_id(NOW, bytes(10))
    assert plain(str(uuid.UUID(spelled)).upper()) == spelled


def test_people_see_the_last_eight_digits() -> None:
    assert ending("0" * 24 + "3f9a12c4") == "3f9a12c4"


def test_an_id_tells_when_it_was_made() -> None:
    assert time_of(make_id(1_770_000_000_123, b"\xff" * 10)) == 1_770_000_000_123
