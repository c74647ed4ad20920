"""The table: lines with a value, a target and what was compared, and how they differ from the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct


class Line(Struct, frozen=True, kw_only=True):
    """One thing measured: its VALUE in UNIT, which is OVER where it is more than MOST (None: only told)."""

    name: str
    value: float
    unit: str = "×"
    most: float | None = None
    against: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target is met."""
        if self.most is None:
            return ""
        return "ok" if self.value <= self.most else "OVER"


def ratio(name: str, ours: float, floor: float, most: float | None = None) -> Line:
    """A line that says how many times the floor ours takes; both in seconds."""
    return Line(name=name, value=ours / floor, most=most, against=f"{spelled(ours)} to {spelled(floor)}")


def spelled(seconds: float) -> str:
    """A time as people read it."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


HEADINGS = ("what", "value", "most", "", "baseline", "measured")


def render(lines: Iterable[Line], baseline: Mapping[str, float]) -> str:
    """The table in Markdown, so that it reads the same in a terminal and in a file."""
    rows = [HEADINGS, *(_row(line, baseline.get(line.name)) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    told = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    told.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(told)


def _row(line: Line, before: float | None) -> tuple[str, ...]:
    most = "" if line.most is None else f"{line.most:g}"
    return line.name, f"{line.value:.2f} {line.unit}", most, line.verdict, _change(line.value, before), line.against


def _change(value: float, before: float | None) -> str:
    if before is None:
        return "new"
    if not before:
        return ""
    return f"{before:.2f} ({(value - before) / before:+.0%})"
