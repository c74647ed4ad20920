"""Errors as a run keeps them: with their facts, and with where a defect came up."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import LimitExceeded, ProviderFailed
from forkwood.engine.mishaps import defect, told

NAMED: dict[str, int] = {}


def test_an_error_is_kept_with_its_facts() -> None:
    assert told(ProviderFailed("quota", "no money", hint="pay", status=402)) == {
        "kind": "provider",
        "reason": "quota",
        "status": 402,
        "message": "no money",
        "hint": "pay",
    }
    assert told(LimitExceeded("it", limit="x_max", bound=1, got=2))["kind"] == "limit"


def test_a_defect_says_what_it_is_and_where_it_came_up() -> None:
    with pytest.raises(KeyError) as caught:
        NAMED["no such \udc00 key"]
    found = defect(caught.value)
    assert (found.kind, found.message) == ("defect", "Forkwood made a mistake (KeyError: 'no such \\udc00 key')")
    assert found.facts["where"].startswith("test_mishaps.py:") and "report" in found.hint
    assert defect(ValueError()).message == "Forkwood made a mistake (ValueError)"
    assert defect(ValueError()).facts == {"where": ""}
