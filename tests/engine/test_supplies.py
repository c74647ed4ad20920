"""What the engine is handed: models at once or awaited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forkwood.engine.supplies import Supplies
from tests.engine.stage import FakeModel, Stage


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
