"""Drafts: what has come of a reply, put together again, and gone when it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkwood.domain.message import Part, Text, Thinking
from forkwood.domain.model import Delta, DeltaKind
from forkwood.store import drafts
from forkwood.store.db import Store

RUN, OTHER = "1" * 32, "2" * 32


def delta(index: int, kind: DeltaKind, text: str) -> Delta:
    return Delta(index=index, kind=kind, text=text)


CAME = [
    delta(0, "thinking", "hm"),
    delta(1, "text", "Hel"),
    delta(1, "text", "lo\0"),
    delta(2, "tool_call", '{"a'),
    delta(3, "text", ""),
    delta(1, "text", "é"),
]


@pytest.fixture
def store() -> Store:
    return Store.in_memory()


def test_scraps_make_up_the_parts_in_their_order_without_calls(store: Store) -> None:
    with store.write() as tx:
        drafts.append(tx, RUN, 1, 0, CAME[:2])
        drafts.append(tx, RUN, 1, 1, CAME[2:])
        drafts.append(tx, OTHER, 1, 0, [delta(0, "text", "another's")])
        assert drafts.parts(tx, RUN) == (Thinking(text="hm"), Text(text="Hello\0é"))


def test_readers_get_what_is_new_also_of_the_next_turn(store: Store) -> None:
    with store.write() as tx:
        for turn, n in ((1, 0), (1, 1), (2, 0)):
            drafts.append(tx, RUN, turn, n, [delta(0, "text", f"{turn}.{n}")])
        assert [(turn, n) for turn, n, _ in drafts.since(tx, RUN, 1, 0)] == [(1, 1), (2, 0)]
        assert [deltas[0].text for _, _, deltas in drafts.since(tx, RUN, 0, -1)] == ["1.0", "1.1", "2.0"]
        assert drafts.since(tx, RUN, 2, 0) == []


def test_a_cleared_draft_is_gone_and_no_other(store: Store) -> None:
    with store.write() as tx:
        for run in (RUN, OTHER):
            drafts.append(tx, run, 1, 0, [delta(0, "text", "a")])
        drafts.clear(tx, RUN)
        assert drafts.parts(tx, RUN) == () and drafts.parts(tx, OTHER) == (Text(text="a"),)


def joined(parts: Sequence[Part]) -> list[tuple[str, str]]:
    return [(type(part).__name__, part.text) for part in parts if isinstance(part, Text | Thinking)]


@given(
    st.lists(
        st.builds(
            delta, st.integers(0, 3), st.sampled_from(["text", "tool_call"]), st.sampled_from(["", "a", "bc", "\n"])
        )
    )
)
def test_merging_changes_no_reply(came: list[Delta]) -> None:
    merged = drafts.merged(came)
    assert joined(drafts.assembled(merged)) == joined(drafts.assembled(came))
    assert all((one.index, one.kind) != (two.index, two.kind) for one, two in pairwise(merged))
    assert "".join(one.text for one in merged) == "".join(one.text for one in came)
