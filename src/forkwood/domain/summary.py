"""Summaries: text that stands for the beginning of a visible path, where that is what the summary was made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from forkwood.domain.digest import START, folded
from forkwood.domain.ids import Id
from forkwood.domain.message import Text
from forkwood.domain.prompt import Said

INTRODUCTION = "What was said so far, in summary:"
"""The fixed words before a summary in a prompt; they are part of the canonical prompt."""


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


def fitting(said: Sequence[Said], summaries: Sequence[Summary]) -> Summary | None:
    """The summary that stands for the longest beginning of what is SAID, never for all of it; None where none fits."""
    by_length = {(len(one.covers), one.digest): one for one in summaries if 0 < len(one.covers) < len(said)}
    if not by_length:
        return None
    longest = max(entries for entries, _ in by_length)
    digests = enumerate(prefix_digests(said[:longest]), 1)
    found = [by_length[key] for key in digests if key in by_length]
    return found[-1] if found else None


def with_summary(said: Sequence[Said], summary: Summary) -> list[Said]:
    """What is said after what SUMMARY stands for, with the summary before it as the user's first words."""
    first = Said(summary.id, "user", (Text(text=f"{INTRODUCTION}\n\n{summary.text}"),))
    return [first, *said[len(summary.covers) :]]
