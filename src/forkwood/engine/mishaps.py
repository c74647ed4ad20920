"""Errors as a run keeps them: those that phrase themselves, and those that nobody foresaw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forkwood.domain import limits
from forkwood.domain.errors import Defect, ForkwoodError
from forkwood.domain.text import first_line, storable


def told(error: ForkwoodError) -> dict[str, Any]:
    """ERROR as a run keeps it: kind, message, hint and facts."""
    return {**error.facts, "kind": error.kind, "message": error.message, "hint": error.hint}


def defect(error: Exception) -> Defect:
    """ERROR, which nobody foresaw, as a person and a report of it want it: what it is, and where it came up."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    words = first_line(storable(str(error)), limits.error_characters_max)
    return Defect(": ".join(filter(None, (type(error).__name__, words))), where=where)
