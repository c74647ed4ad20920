"""The guard: what would change the prompt of a run at work is refused, naming the message and the run."""

from __future__ import annotations

from collections.abc import Sequence

from forkwood.domain.errors import Refused
from forkwood.store import locate, runs
from forkwood.store.db import Tx


def not_on_active_path(tx: Tx, group: Sequence[int], name: str, done: str) -> None:
    """Refuse where any node of GROUP stands on the path of a run that is not over. DONE says what was to be done."""
    for run, tip in runs.active_tips(tx):
        if any(locate.entry(tx, tip, node) is not None for node in group):
            raise Refused(
                f"{name} cannot be {done}: run {run[-8:]} is at work on a path that holds it",
                hint=f"forkwood cancel {run[-8:]}, or wait until it is done",
                run=run,
            )
