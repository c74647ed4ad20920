"""What the engine is handed: models at once or awaited, errors as a run keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.errors import LimitExceeded, ProviderFailed
from forkwood.engine.supplies import Supplies, defect, told
from tests.engine.stage import FakeModel, Stage

NAMED: dict[str, int] = {}


def supplied(stage: Stage, open_model: Any) -> Supplies:
    given = stage.engine._supplies
    return Supplies(
        store=given.store,
        clock=given.clock,
        new_id=given.new_id,
        open_model=open_model,
        drivers=given.drivers,
        settings=given.settings,
    )


async def test_a_model_is_opened_at_once_or_awaited(tmp_path: Path) -> None:
    stage, model = Stage(tmp_path), FakeModel()

    async def later(name: str) -> FakeModel:
        assert name == "fake:one"
        return model

    assert await supplied(stage, later).model("fake:one") is model
    assert await supplied(stage, lambda _: model).model("fake:one") is model


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
    assert found.facts["where"].startswith("test_supplies.py:") and "report" in found.hint
    assert defect(ValueError()).message == "Forkwood made a mistake (ValueError)"
    assert defect(ValueError()).facts == {"where": ""}
