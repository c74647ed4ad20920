"""What `set` says: the value now, the value before, and how far the change reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forkwood.domain.response import SettingChange
from forkwood.domain.settings import Parameters
from forkwood.surfaces.cli.screen_text import cropped, visible_line
from forkwood.surfaces.cli.words import reach_words

VALUE_WIDTH = 60


def setting_words(change: SettingChange) -> str:
    """`model is now X (was Y).`, and what that touches."""
    now, before = _value_now(change), _value_before(change)
    if change.key == "tools":
        said = _switched(now, before or ())
    elif now == before:
        said = f"{change.key} is {shown(now)}, as before."
    else:
        said = f"{change.key} is now {shown(now)} (was {shown(before)})."
    return said + (f"\n{reach_words(change.affects)}" if change.affects and change.affects.branches else "")


def _switched(now: Sequence[str], before: Sequence[str]) -> str:
    """`recall is switched off.`, and what else is."""
    turned = [(sorted({*now} - {*before}), "off"), (sorted({*before} - {*now}), "on")]
    said = [f"{shown(names)} {'is' if len(names) == 1 else 'are'} switched {way}." for names, way in turned if names]
    if not said:
        return f"Nothing is switched by that; off: {shown(now)}." if now else "Nothing is switched by that; all are on."
    others = sorted({*now} & {*before})
    return " ".join([*said, *([f"Off already: {shown(others)}."] if others else [])])


def _value_now(change: SettingChange) -> Any:
    if change.key in Parameters.__struct_fields__:
        return getattr(change.conversation.params, change.key)
    return getattr(change.conversation, "tools_off" if change.key == "tools" else change.key)


def _value_before(change: SettingChange) -> Any:
    if change.key in Parameters.__struct_fields__:
        return (change.before or {}).get(change.key)
    return tuple(change.before) if isinstance(change.before, list) else change.before


def shown(value: Any) -> str:
    """A value of a setting as a person reads it."""
    match value:
        case None | "" | () | []:
            return "not set"
        case bool():
            return "yes" if value else "no"
        case tuple() | list():
            return ", ".join(visible_line(str(item)) for item in value)
        case _:
            return cropped(visible_line(str(value)), VALUE_WIDTH)
