"""What `set` says."""

from __future__ import annotations

from typing import Any

import pytest

from forkwood.domain.response import Affects, SettingChange
from forkwood.domain.settings import Parameters
from forkwood.surfaces.cli.show_setting import setting_words
from tests.surfaces.cli.made import name
from tests.surfaces.cli.test_show_lists import conversation


@pytest.mark.parametrize(
    ("key", "before", "now", "said"),
    (
        ("model", None, {"model": "a:b"}, "model is now a:b (was not set)."),
        ("model", "a:b", {"model": None}, "model is now not set (was a:b)."),
        ("model", "a:b", {"model": "a:b"}, "model is a:b, as before."),
        ("temperature", {}, {"params": Parameters(temperature=0.5)}, "temperature is now 0.5 (was not set)."),
        ("seed", {"seed": 1, "top_p": 1.0}, {"params": Parameters(seed=2)}, "seed is now 2 (was 1)."),
        ("tools", [], {"tools_off": ("look",)}, "look is switched off."),
        ("tools", ["look"], {"tools_off": ()}, "look is switched on."),
        ("tools", ["look"], {"tools_off": ("a", "b", "look")}, "a, b are switched off. Off already: look."),
        ("tools", ["look"], {"tools_off": ("look",)}, "Nothing is switched by that; off: look."),
        ("tools", [], {"tools_off": ()}, "Nothing is switched by that; all are on."),
        ("tags", ["a"], {"tags": ("a",)}, "tags is a, as before."),
        ("pinned", False, {"pinned": True}, "pinned is now yes (was no)."),
        ("system", "x\ny\x1b", {"system": "z" * 90}, f"system is now {'z' * 59}… (was x y\\x1b)."),
    ),
)
def test_a_change_says_what_is_and_what_was(key: str, before: Any, now: dict[str, Any], said: str) -> None:
    assert setting_words(SettingChange(conversation=conversation(1, **now), key=key, before=before)) == said


def test_how_far_it_reaches_is_said() -> None:
    affects = Affects(branches=3, conversations=(name(1),), note="from the next turn")
    change = SettingChange(conversation=conversation(1, system="y"), key="system", before="x", affects=affects)
    assert setting_words(change).split("\n")[1:] == ["This touches 3 branches.", "From the next turn."]


def test_of_a_conversation_without_messages_no_reach_is_told() -> None:
    nothing = Affects(branches=0, conversations=(name(1),), note="from the next turn")
    change = SettingChange(conversation=conversation(1, system="y"), key="system", before="x", affects=nothing)
    assert setting_words(change) == "system is now y (was x)."
