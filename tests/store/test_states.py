"""The states that SQL names are those of the domain, in the words of the indexes that serve them."""

from __future__ import annotations

import re
from collections.abc import Collection

import pytest

from forkwood.domain.queued import IN_QUEUE
from forkwood.domain.run import ACTIVE
from forkwood.store import states
from forkwood.store.db import Store

CASES = (("run_active", states.ACTIVE, ACTIVE), ("queued_waiting", states.IN_QUEUE, IN_QUEUE))


@pytest.mark.parametrize(("index", "sought", "meant"), CASES)
def test_states_are_sought_as_the_index_has_them(index: str, sought: str, meant: Collection[str]) -> None:
    assert set(re.findall("'(.+?)'", sought)) == set(meant)
    with Store.in_memory().read() as tx:
        assert tx.value("SELECT sql FROM sqlite_schema WHERE name = ?", (index,)).endswith(f" WHERE {sought}")
