"""Hearing out the runs that a command started: they are driven and shown, and what is to know at their end is said."""

from __future__ import annotations

from collections.abc import Sequence

from forkwood.domain.ids import Id, ending
from forkwood.domain.response import Started
from forkwood.domain.watch import Result
from forkwood.surfaces.cli.desk import Call
from forkwood.surfaces.cli.failures import tell_words
from forkwood.surfaces.cli.live import follow
from forkwood.surfaces.cli.views import view_for


def hear(call: Call, started: Started) -> int:
    """Drive and show the runs that STARTED names, and say how they ended; the exit code."""
    view = view_for(call.terminal, _models(call, started), as_json=call.as_json)
    results, code = follow(call.runtime, started.runs, view, call.terminal)
    if not call.as_json:
        tell_ends(call, results)
    return code


def tell_ends(call: Call, results: Sequence[Result]) -> None:
    """Say why a run did not end well, and the way on."""
    for result in results:
        run = ending(result.run)
        if result.error:
            tell_words(
                str(result.error.get("message", "the run failed")), str(result.error.get("hint", "")), call.terminal
            )
        if result.status == "cancelled":
            kept = f" What came is kept as {ending(result.node)}, marked partial." if result.node else ""
            call.remark(f"The run was cancelled.{kept} forkwood resume {run} goes on.")
        elif result.status == "failed":
            call.remark(f"forkwood resume {run} goes on from where it stopped; forkwood retry NODE begins anew.")
        elif result.status in {"queued", "running"}:
            call.remark(f"The run is {result.status} in another process.")


def _models(call: Call, started: Started) -> dict[Id, str]:
    """The model of each run, where there are several to tell apart."""
    if len(started.runs) == 1:
        return {started.runs[0]: ""}
    models = {run.id: run.model for run in call.runtime.runs(conversation=started.conversation)}
    return {run: models.get(run, "") for run in started.runs}
