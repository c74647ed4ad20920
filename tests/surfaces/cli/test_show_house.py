"""The house as a person reads it."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.domain.model import ModelListed, Price
from forkwood.surfaces.cli.glyphs import PLAIN, UNICODE, Pen
from forkwood.surfaces.cli.show_house import draw_models, draw_report, draw_stats, draw_value
from tests.surfaces.cli.made import name

PEN = Pen(glyphs=UNICODE, inks=PLAIN, width=80)


def listed(model: str, **facts: Any) -> ModelListed:
    return ModelListed(name=model, provider="p", dialect="chat", origin="http://localhost", **facts)


def test_models_are_told_by_what_is_known_of_them() -> None:
    found = [
        listed("ollama:qwen3:8b", context=40960, tools=True, loaded=True, default=True),
        listed("x:y\x1b", price=Price(input=0.15, output=0.6), images=True, note="slow"),
    ]
    assert draw_models(found, PEN) == (
        "● ollama:qwen3:8b  40,960 tokens  tools  loaded\n"
        "  x:y\\x1b          $0.15 in, $0.6 out per million  images  slow"
    )


def report(**fields: Any) -> dict[str, Any]:
    return {"ok": True, "problems": [], "notices": [], "mended": [], **fields}


REPAIR = "forkwood doctor --repair makes indexes anew, or saves what is sound into a new store."


@pytest.mark.parametrize(
    ("found", "said"),
    (
        (report(), "Everything is as the books say."),
        (
            report(notices=["a run waits"], mended=["search"]),
            "repaired  search\nnotice  a run waits\nEverything is as the books say.",
        ),
        (
            report(ok=False, problems=[{"kind": "length", "message": "7, not 8", "node": name(3), "mendable": True}]),
            f"length  7, not 8  node 00000003\n{REPAIR}\n1 problem.",
        ),
        (
            report(ok=False, problems=[{"kind": "file", "message": "torn"}], mended=["search"]),
            "file  torn\nrepaired  search\n1 problem.",
        ),
    ),
)
def test_a_report_says_what_differs_and_the_way(found: dict[str, Any], said: str) -> None:
    assert draw_report(found, PLAIN) == said


def test_counts_and_sizes_have_their_units() -> None:
    usage = {"turns": 1, "input": 3000, "output": 900, "cost": 0.02}
    stats = {"path": "p", "usage": usage, "file_bytes": 2_000_000, "messages": 1234, "runs": {"done": 2}}
    assert draw_stats({**stats, "tables": [{"name": "node", "bytes": 4096}]}).split("\n") == [
        "path           p",
        "used           1 reply, 3,000 tokens sent, 900 received, $0.02",
        "file bytes     2.0 MB",
        "messages       1,234",
        "runs           done 2",
        "tables",
        "  node               4.1 kB",
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    (
        ("word", "word"),
        (None, "not set"),
        (True, "true"),
        (1.5, "1.5"),
        (["a", "b"], "a, b"),
        ([], "nothing"),
        ({}, "nothing is set"),
        ({"a": {"b": 1, "c": {"d": None}}, "e": False}, "a.b = 1\na.c.d = not set\ne = false"),
        ("two\x1b", "two\\x1b"),
    ),
)
def test_a_setting_is_told(value: Any, said: str) -> None:
    assert draw_value(value) == said
