"""Summaries: text that stands for the beginning of a visible path, where that is what the summary was made of."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from forkwood.domain.digest import START, folded
from forkwood.domain.ids import Id
from forkwood.domain.message import Text
from forkwood.domain.prompt import Said

INTRODUCTION = "What was said so far, in summary:"
"""The fixed words before a summary in a prompt; they are part of the canonical prompt."""


Mark: TypeAlias = tuple[int, bytes]
"""What a summary is known by: how many messages it stands for, and their digest."""


class Summary(Struct, frozen=True, kw_only=True):
    """Stands for the messages it COVERS, at the beginning of every visible path that begins with DIGEST."""

    id: Id
    digest: bytes
    covers: tuple[Id, ...]
    text: str


def prefix_digests(said: Sequence[Said]) -> Iterator[bytes]:
    """The digest of the first message, of the first two, and so on: SHA-256 folded over roles and parts."""
    digest = START
    for one in said:
        digest = folded(digest, [one.role, one.parts])
        yield digest


def fitting(said: Sequence[Said], known: Collection[Mark]) -> Mark | None:
    """Which of the KNOWN summaries stands for the longest beginning of what is SAID, never for all of it; None where
    none fits."""
    shorter = {mark for mark in known if 0 < mark[0] < len(said)}
    if not shorter:
        return None
    longest = max(covered for covered, _ in shorter)
    found = [mark for mark in enumerate(prefix_digests(said[:longest]), 1) if mark in shorter]
    return found[-1] if found else None


def with_summary(said: Sequence[Said], summary: Summary) -> list[Said]:
    """What is said after what SUMMARY stands for, with the summary before it as the user's first words.

    System messages are never summarised: those it stands for stay, and go first.
    """
    covered = len(summary.covers)
    system = [one for one in said[:covered] if one.role == "system"]
    first = Said(summary.id, "user", (Text(text=f"{INTRODUCTION}\n\n{summary.text}"),))
    return [*system, first, *said[covered:]]


def cuts(said: Sequence[Said], after: int = 0) -> list[int]:
    """How many messages of what is SAID a summary may stand for: more than AFTER, and what follows begins with a user
    message. So it stands never for all, and no tool group is torn. System messages alone are nothing to summarise."""
    first = next((at for at in range(after, len(said)) if said[at].role != "system"), len(said))
    return [at for at in range(first + 1, len(said)) if said[at].role == "user"]


def first_kept_within(places: Sequence[int], kept: Callable[[int], int], room: int) -> int:
    """The first of PLACES to cut at behind which no more than ROOM is KEPT: as much stays as it is as fits.

    The last one where even the newest exchange takes more. KEPT falls from place to place.
    """
    found = bisect_left(places, True, key=lambda at: kept(at) <= room)  # noqa: FBT003  (what is looked for)
    return places[min(found, len(places) - 1)]


def last_asked_within(places: Sequence[int], asked: Callable[[int], int], room: int) -> int | None:
    """The last of PLACES up to which all that is said can be ASKED about within ROOM; None where none is.

    ASKED rises from place to place.
    """
    found = bisect_right(places, room, key=asked)
    return places[found - 1] if found else None
