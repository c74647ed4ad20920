"""What `set` says: the value now, the value before, and how far the change reaches."""

from __future__ import annotations

from typing import Any

from forkwood.domain.response import SettingChange
from forkwood.domain.settings import Parameters
from forkwood.surfaces.cli.screen_text import cropped, visible_line
from forkwood.surfaces.cli.words import reach_words

VALUE_WIDTH = 60


def setting_words(change: SettingChange) -> str:
    """`model is now X (was Y).`, and what that touches."""
    now, before = _value_now(change), _value_before(change)
    name = "tools switched off:" if change.key == "tools" else f"{change.key} is"
    said = f"{name} {_shown(now)}, as before." if now == before else f"{name} now {_shown(now)} (was {_shown(before)})."
    return said + (f"\n{reach_words(change.affects)}" if change.affects else "")


def _value_now(change: SettingChange) -> Any:
    if change.key in Parameters.__struct_fields__:
        return getattr(change.conversation.params, change.key)
    return getattr(change.conversation, "tools_off" if change.key == "tools" else change.key)


def _value_before(change: SettingChange) -> Any:
    if change.key in Parameters.__struct_fields__:
        return (change.before or {}).get(change.key)
    return tuple(change.before) if isinstance(change.before, list) else change.before


def _shown(value: Any) -> str:
    match value:
        case None | "" | () | []:
            return "not set"
        case bool():
            return "yes" if value else "no"
        case tuple() | list():
            return ", ".join(visible_line(str(item)) for item in value)
        case _:
            return cropped(visible_line(str(value)), VALUE_WIDTH)
