"""remember: a proposal and no more, once for each call, within bounds."""

from __future__ import annotations

from itertools import count

import pytest

from forkwood.domain.errors import Refused
from forkwood.domain.ids import make_id
from forkwood.store import memories
from forkwood.store.db import Store
from forkwood.tools.remember import Remember
from tests.store.said import NOW
from tests.tools.bench import RUN, call, occasion, remembered, used


def remember(store: Store) -> Remember:
    draws = count(1)
    return Remember(store, lambda: NOW, lambda: make_id(NOW + 1, next(draws).to_bytes(10, "big")))


def rows(store: Store) -> list[tuple[object, ...]]:
    with store.read() as tx:
        return tx.rows("SELECT name, value, version, state, lower(hex(run)), call, by, via FROM memory ORDER BY seq")


async def test_a_proposal_says_where_it_comes_from_and_counts_for_nothing_yet() -> None:
    store = Store.in_memory()
    tool, at = remember(store), occasion(store)
    told = "'the tea' is proposed. It is remembered once the person accepts it."
    assert await used(tool, at, name=" the  tea", value=" green\nhot ") == ("ok", told)
    assert rows(store) == [("the tea", "green\nhot", 1, "proposed", RUN, "c", "model", "cli")]
    with store.read() as tx:
        assert memories.accepted(tx) == []


async def test_what_waits_already_is_proposed_once_and_other_words_are_a_new_version() -> None:
    store = Store.in_memory()
    tool, at = remember(store), occasion(store)
    for name, value in (("c", "green"), ("c", "green"), ("d", "black"), ("e", "black")):
        assert (await used(tool, at, name, name="tea", value=value))[0] == "ok"
    assert [row[1:3] for row in rows(store)] == [("green", 1), ("black", 2)]
    assert await tool.inspect(call(tool), at) is None


async def test_what_is_remembered_so_already_is_not_proposed() -> None:
    store = Store.in_memory()
    remembered(store, "tea", "green")
    tool, at = remember(store), occasion(store)
    assert await used(tool, at, name="tea", value="green ") == ("ok", "'tea' is remembered so already.")
    await used(tool, at, name="tea", value="black")
    assert [row[1:4] for row in rows(store)] == [("green", 1, "accepted"), ("black", 2, "proposed")]


async def test_blanks_are_refused() -> None:
    store = Store.in_memory()
    with pytest.raises(Refused, match="a name and a value"):
        await used(remember(store), occasion(store), name="  ", value="x")
    assert rows(store) == []
