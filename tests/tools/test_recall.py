"""recall: accepted facts alone, one by its name or all, within a bound."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.store.db import Store
from forkwood.tools.recall import Recall
from tests.tools.bench import call, occasion, remembered, used


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"name": "tea"}, "tea: green"),
        ({"name": " tea "}, "tea: green"),
        ({}, "coffee: none\ntea: green"),
        ({"name": "milk"}, "Nothing is remembered under the name 'milk'. Remembered are: coffee, tea."),
        ({"name": "sugar"}, "Nothing is remembered under the name 'sugar'. Remembered are: coffee, tea."),
    ],
)
async def test_only_what_was_accepted_is_recalled(arguments: dict[str, Any], told: str) -> None:
    store = Store.in_memory()
    remembered(store, "tea", "green")
    remembered(store, "coffee", "none")
    remembered(store, "sugar", "two", "rejected")
    assert await used(Recall(store), occasion(store), **arguments) == ("ok", told)


async def test_an_empty_memory_says_so() -> None:
    store = Store.in_memory()
    tool, at = Recall(store), occasion(store)
    assert await used(tool, at) == ("ok", "Nothing is remembered yet.")
    assert "Nothing is remembered yet." in (await used(tool, at, name="x"))[1]
    assert await tool.inspect(call(tool), at) is None


async def test_of_many_facts_the_first_are_shown_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memories_recalled_max", 2)
    store = Store.in_memory()
    for name in "abcd":
        remembered(store, name, name)
    assert (await used(Recall(store), occasion(store)))[1] == "a: a\nb: b\n(and 2 more: recall them by name)"
    assert (await used(Recall(store), occasion(store), name="d"))[1] == "d: d"
