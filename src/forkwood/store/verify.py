"""Doctor: everything that can be derived is derived anew and compared; what is an index can be made anew.

The books themselves are never rewritten: a message, an event or a blob that is wrong is named and stays as it is, until
a salvage moves what can be kept into a new store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import apsw
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, StoreUnusable
from forkwood.domain.ids import ending
from forkwood.store import book_checks, cell_checks, digests, grants, runs, search, tree_checks
from forkwood.store.db import Store, Tx
from forkwood.store.failures import UNREADABLE
from forkwood.store.problem import Problem, bounded


class Check(Struct, frozen=True):
    """A question to the store, and how its answer is mended where what it is about is an index."""

    find: Callable[[Tx], Iterator[Problem]]
    mend: Callable[[Tx], None] | None = None


CHECKS: tuple[Check, ...] = (
    Check(book_checks.numbers, book_checks.mend_numbers),  # first: nothing is written while one is wrong
    Check(book_checks.schema, book_checks.mend_schema),
    Check(book_checks.purge_marker, book_checks.mend_purge_marker),
    Check(cell_checks.values),
    Check(book_checks.references),
    Check(book_checks.marks),
    Check(tree_checks.places),
    Check(tree_checks.grafts),
    Check(tree_checks.pointers),
    Check(tree_checks.neighbours),
    Check(tree_checks.parts),
    Check(tree_checks.groups),
    Check(tree_checks.heads, tree_checks.mend_heads),
    Check(tree_checks.kept_digests, digests.forget),
    Check(book_checks.events),
    Check(book_checks.counts, book_checks.mend_counts),
    Check(book_checks.run_rows, book_checks.mend_runs),
    Check(grants.checked, grants.rebuild),
    Check(book_checks.manifests),
    Check(book_checks.blobs),
    Check(book_checks.searches, search.rebuild),
)


LOSSES = frozenset({"missing", "attachment"})
"""What remains for ever where a salvage could not save everything: known, told then, and no problem any more."""


class Report(Struct, frozen=True, kw_only=True):
    """What doctor found. OK: no problem is left. `mended`: what was made anew, in words."""

    ok: bool
    problems: tuple[Problem, ...]
    notices: tuple[str, ...]
    mended: tuple[str, ...] = ()


def examine(store: Store, driven: Callable[[str], bool]) -> Report:
    """Ask everything. DRIVEN says whether the driver of that name is alive.

    Problems that lie in the file itself come first; where there are any, only salvage helps (`is_damaged`).
    """
    damage = damages(store)
    if damage:
        return Report(ok=False, problems=damage, notices=())
    with store.read() as tx:
        found = [problem for check in CHECKS for problem in bounded(_asked(tx, check))]
        losses = (
            [problem for problem in found if problem.kind in LOSSES and not problem.mendable] if _has_lost(tx) else []
        )
        problems = tuple(problem for problem in found if problem not in losses)
        notices = (*undriven(tx, driven), *(f"lost in a salvage: {loss.message}" for loss in losses))
        return Report(ok=not problems, problems=problems, notices=notices)


def mend(store: Store) -> tuple[str, ...]:
    """Make every index anew that is not as the books say; the kinds that were mended."""
    mended: list[str] = []
    for check in CHECKS:
        with store.write() as tx:
            found = next((problem for problem in _asked(tx, check) if problem.mendable), None)
            if found is not None and check.mend is not None:
                check.mend(tx)
                mended.append(found.kind)
    return tuple(mended)


def is_damaged(report: Report) -> bool:
    """Whether the file itself is broken, so that what it still holds must be salvaged into a new one."""
    return any(problem.kind == "damaged" for problem in report.problems)


def damages(store: Store) -> tuple[Problem, ...]:
    """Pages, indexes and constraints as SQLite itself judges them, and text that is none."""
    said: list[str] = []
    try:
        with store.read() as tx:
            said += (line for (line,) in tx.each("PRAGMA integrity_check(20)") if line != "ok")
            said += () if said else islice(cell_checks.garbled(tx), limits.problems_of_a_kind_max)
    except StoreUnusable as error:
        said.append(error.message)
    return tuple(Problem(kind="damaged", message=line, mendable=True) for line in said)


def undriven(tx: Tx, driven: Callable[[str], bool]) -> Iterator[str]:
    """Runs that are not over and that nobody drives: no problem, but something to know."""
    for run in runs.moving(tx):
        if not (run.driver and driven(run.driver)):
            name = ending(run.run)
            yield f"run {name} is {run.status} and nobody drives it; `forkwood resume {name}` goes on with it"


def _has_lost(tx: Tx) -> bool:
    sql = "SELECT 1 FROM event WHERE kind = 'store.salvaged' AND payload ->> '$.lost' > 0"
    return tx.value(sql) is not None


def _asked(tx: Tx, check: Check) -> Iterator[Problem]:
    """The answer; what turns out to be broken on the way is an answer too, whatever it breaks."""
    try:
        yield from check.find(tx)
    except (apsw.CorruptError, *UNREADABLE) as error:
        yield Problem(kind="damaged", message=str(error), mendable=True)
    except apsw.SQLError as error:
        yield Problem(kind="schema", message=str(error))
    except ForkwoodError as error:
        yield Problem(kind="path", message=error.message)
    except (AssertionError, LookupError, TypeError, ValueError) as error:  # rules met what no rule lets in
        yield Problem(kind="path", message=f"what stands here cannot be: {type(error).__name__} {error}".rstrip())
