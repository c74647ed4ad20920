"""The guard: what would change the prompt of a run at work is refused, naming the message and the run."""

from __future__ import annotations

from collections.abc import Collection

from forkwood.domain.errors import Refused
from forkwood.domain.ids import ending
from forkwood.store import places, reach, runs
from forkwood.store.db import Tx


def not_on_active_path(tx: Tx, node: int, name: str, done: str) -> None:
    """Refuse where NODE, of a tool group the reply, stands on the path of a run that is not over. DONE says what was
    to be done."""
    for run, tip in runs.active_tips(tx):
        if places.standing(tx, tip, node) is not None:
            raise Refused(
                f"{name} cannot be {done}: run {ending(run)} is at work on a path that holds it",
                hint=f"forkwood cancel {ending(run)}, or wait until it is done",
                run=run,
            )


def not_under_active_run(tx: Tx, nodes: Collection[int], but: Collection[int]) -> None:
    """Refuse to purge NODES where a run that is not over has one on its path, or made one.

    Runs of the conversations BUT do not count: they are ended first.
    """
    for run, tip in runs.active_tips(tx):
        if runs.details(tx, run).conversation in but:
            continue
        held = reach.under_run(tx, run, tip).intersection(nodes)
        if held:
            [name] = reach.ids_of(tx, [min(held)])
            raise Refused(
                f"{ending(name)} cannot be purged: run {ending(run)} is at work on a path that holds it",
                hint=f"forkwood cancel {ending(run)}, or wait until it is done",
                run=run,
                node=name,
            )
