"""The list of tools: their names are the contract's, their schemas strict, and what each may do is said."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from forkwood.domain.arguments import fault
from forkwood.domain.policy import Policy, judge
from forkwood.domain.tool import Tool
from forkwood.store.db import Store
from forkwood.tools.offered import offered

TOOLS = offered(Store.in_memory(), lambda: 0, lambda: "0" * 32)
ONE = [{"text": "Which?"}]
FITS: dict[str, list[dict[str, Any]]] = {
    "ask_user": [{"questions": ONE}, {"questions": [{"text": "Which?", "options": ["a", "b"]}] * 3}],
    "current_time": [{}],
    "recall": [{}, {"name": "tea"}],
    "remember": [{"name": "tea", "value": "green"}],
    "search_conversations": [{"words": "tea"}, {"words": "tea", "limit": 50}],
}
FITS_NOT: dict[str, list[dict[str, Any]]] = {
    "ask_user": [{}, {"questions": []}, {"questions": ONE * 4}, {"questions": [{"text": ""}]}, {"questions": ["a"]}],
    "current_time": [{"zone": "UTC"}],
    "recall": [{"name": ""}, {"names": "tea"}, {"name": "x" * 101}],
    "remember": [{"name": "tea"}, {"value": "green"}, {"name": "tea", "value": "x" * 4_001}, {"name": 1, "value": "x"}],
    "search_conversations": [{}, {"words": ""}, {"words": "tea", "limit": 51}, {"words": "tea", "limit": 0}],
}


def test_windie_51_the_tools_are_those_of_the_contract() -> None:
    assert list(TOOLS) == ["ask_user", "current_time", "recall", "remember", "search_conversations"]
    assert [name for name, tool in TOOLS.items() if tool.sealed.question] == ["ask_user"]
    assert [name for name, tool in TOOLS.items() if judge(Policy(), tool.sealed) == "ask"] == ["search_conversations"]


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_a_schema_is_strict_and_says_what_everything_is(tool: Tool) -> None:
    schema = tool.sealed.spec.schema
    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False and len(tool.sealed.spec.description) > 80
    assert all(len(one["description"]) > 10 for one in schema["properties"].values())
    assert (tool.sealed.effect, tool.sealed.after_crash) == ("read", "again")


@pytest.mark.parametrize("name", TOOLS)
def test_what_fits_is_taken_and_what_does_not_is_said(name: str) -> None:
    schema = TOOLS[name].sealed.spec.schema
    assert [fault(arguments, schema) for arguments in FITS[name]] == [None] * len(FITS[name])
    assert all(fault(arguments, schema) for arguments in FITS_NOT[name])
    assert fault({**FITS[name][0], "more": 1}, schema)
