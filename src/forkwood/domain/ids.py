"""Public names of things: UUIDv7 as 32 lowercase hexadecimal digits, made from a time and chance that are handed in."""

from __future__ import annotations

from typing import TypeAlias

Id: TypeAlias = str
"""A UUIDv7 in 32 lowercase hexadecimal digits: 16 bytes, sorted by time."""

ID_DIGITS = 32
ENDING_DIGITS_MIN = 4
_HEX = frozenset("0123456789abcdef")


def make_id(now_ms: int, chance: bytes) -> Id:
    """The UUIDv7 (RFC 9562 §5.7) for a time in Unix milliseconds and 10 bytes of chance."""
    assert 0 <= now_ms < 1 << 48 and len(chance) == 10
    number = int.from_bytes(chance, "big")
    high, low = number >> 62 & 0xFFF, number & (1 << 62) - 1
    return f"{now_ms << 80 | 7 << 76 | high << 64 | 2 << 62 | low:032x}"


def time_of(name: Id) -> int:
    """When an id was made, in Unix milliseconds, by the clock of then."""
    return int(name[:12], 16)


def is_id(text: str) -> bool:
    """Whether TEXT is a whole id."""
    return len(text) == ID_DIGITS and _HEX.issuperset(text)


def plain(name: str) -> str:
    """NAME as ids are spelled: lower case, without the dashes other programs put into UUIDs."""
    return name.replace("-", "").lower()


def is_ending(name: str) -> bool:
    """Whether NAME can be the ending of an id: 4 to 32 hexadecimal digits."""
    return ENDING_DIGITS_MIN <= len(name) <= ID_DIGITS and _HEX.issuperset(name)


def ending(name: Id) -> str:
    """The ending by which people see an id: its last eight digits."""
    return name[-8:]
