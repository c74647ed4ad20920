"""The house as a person reads it: models, the doctor's report, counts and sizes, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from forkwood.domain.ids import ending
from forkwood.domain.model import ModelListed, Price
from forkwood.surfaces.cli.glyphs import Inks, Pen
from forkwood.surfaces.cli.screen_text import visible, visible_line
from forkwood.surfaces.cli.words import bytes_of, count_of, dollars


def draw_models(found: Sequence[ModelListed], pen: Pen) -> str:
    """Each model with what is known of it; the one that answers by default is marked."""
    wide = max(len(model.name) for model in found)
    return "\n".join(_model(model, pen, min(wide, 50)) for model in found)


def _model(model: ModelListed, pen: Pen, wide: int) -> str:
    mark = pen.inks.mark(pen.glyphs.reply) if model.default else " "
    facts = [f"{model.context:,} tokens" if model.context else "", _price(model.price)]
    facts += [
        word for word, holds in (("tools", model.tools), ("images", model.images), ("loaded", model.loaded)) if holds
    ]
    facts.append(visible_line(model.note or ""))
    return f"{mark} {visible_line(model.name):<{wide}}  {pen.inks.dim('  '.join(filter(None, facts)))}".rstrip()


def _price(price: Price | None) -> str:
    return "" if price is None else f"${price.input:g} in, ${price.output:g} out per million"


def draw_report(report: Mapping[str, Any], inks: Inks) -> str:
    """What doctor found, in its JSON shape: problems first, then what it repaired, then what is worth knowing."""
    problems = report["problems"]
    lines = [inks.alarm(f"{problem['kind']}  {visible(problem['message'])}{_about(problem)}") for problem in problems]
    lines += [f"repaired  {visible(mended)}" for mended in report["mended"]]
    lines += [f"notice  {visible(notice)}" for notice in report["notices"]]
    if report["ok"]:
        return "\n".join([*lines, "Everything is as the books say."])
    if not report["mended"]:
        lines.append("forkwood doctor --repair makes indexes anew, or saves what is sound into a new store.")
    return "\n".join([*lines, f"{count_of(len(problems), 'problem')}."])


def _about(problem: Mapping[str, Any]) -> str:
    named = ((name, problem.get(name)) for name in ("conversation", "node", "run"))
    return "".join(f"  {name} {ending(value)}" for name, value in named if value)


def draw_stats(stats: Any) -> str:
    """What was used, then each count and size on a line of its own."""
    return "\n".join(_stat(name, value) for name, value in msgspec.to_builtins(stats).items())


def _used(usage: Mapping[str, Any]) -> str:
    """`12 replies, 3,000 + 900 tokens, $0.02`."""
    cost = dollars(usage["cost"]) or "cost unknown"
    replies = count_of(usage["turns"], "reply")
    return f"{replies}, {usage['input']:,} tokens sent, {usage['output']:,} received, {cost}"


def _stat(name: str, value: Any) -> str:
    label = name.replace("_", " ")
    match value:
        case dict() if name == "usage":
            return f"{'used':<14} {_used(value)}"
        case dict():
            return f"{label:<14} {', '.join(f'{key} {number:,}' for key, number in value.items()) or 'none'}"
        case list() | tuple():
            rows = (f"  {row['name']:<18} {bytes_of(row['bytes'])}" for row in value)
            return "\n".join((label, *rows))
        case int() if name.endswith("bytes"):
            return f"{label:<14} {bytes_of(value)}"
        case int():
            return f"{label:<14} {value:,}"
        case _:
            return f"{label:<14} {visible_line(str(value))}"


def draw_value(value: Any) -> str:
    """A setting: a word as it is, a table as lines with dotted keys."""
    if isinstance(value, dict):
        return (
            "\n".join(f"{visible_line(key)} = {_scalar(found)}" for key, found in _flat(value, "")) or "nothing is set"
        )
    return _scalar(value)


def _flat(table: Mapping[str, Any], before: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        if isinstance(value, dict):
            found += _flat(value, f"{before}{name}.")
        else:
            found.append((before + name, value))
    return found


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "not set"
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return ", ".join(map(_scalar, value)) or "nothing"
        case _:
            return visible(str(value))
