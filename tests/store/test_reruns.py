"""Runs that lost events are over, those that lost none go on, and what is left of their events follows one another."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from forkwood.store import aside, reruns, runs, verify
from forkwood.store.book_checks import mend_schema
from tests.store.breaking import broken, nobody
from tests.store.richness import RUN, rich
from tests.store.seeds import ME, NOW, opened


class Case(Struct, frozen=True):
    name: str
    breaks: tuple[str, ...]
    status: str


GONE = "DELETE FROM event WHERE run IS NOT NULL"
AT_WORK = "UPDATE run SET status = 'running'"
FIRST_REPLY = "DELETE FROM event WHERE kind = 'reply.kept' AND payload ->> '$.turn' = 1"
BEGUN = "DELETE FROM event WHERE run IS NOT NULL AND kind <> 'run.opened'"
REPLACED = "UPDATE event SET kind = 'conversation.used', payload = '{}', run = NULL WHERE kind = 'run.ended'"
UNENDED = "DELETE FROM event WHERE kind = 'run.ended'"
CASES = [
    Case("whole", (), "done"),
    Case("its row", ("DELETE FROM run",), "done"),
    Case("its end, which its row knows", (UNENDED,), "done"),
    Case("its end and its row", (UNENDED, "DELETE FROM run"), "failed"),
    Case("its row, and it is at work", (REPLACED, "DELETE FROM run"), "running"),
    Case("its row, and all but its beginning", (BEGUN, "DELETE FROM run"), "failed"),
    Case("its beginning", ("DELETE FROM event WHERE kind = 'run.opened'",), "done"),
    Case("all of it", (GONE,), "done"),
    Case("all of a failed one", (GONE,
         "UPDATE run SET status = 'failed', error = '{\"kind\":\"x\"}'"), "failed"),
    Case("all of one at work", (GONE, AT_WORK), "failed"),
    Case("a reply in the middle", (FIRST_REPLY,), "done"),
    Case("the end of a call", ("DELETE FROM event WHERE kind = 'call.settled'",), "done"),
    Case("the end of a call and of the run", ("DELETE FROM event WHERE kind IN ('call.settled', 'run.ended')",
         "UPDATE run SET status = 'running'"), "failed"),
    Case("nothing, and it is at work", (UNENDED, "UPDATE run SET status = 'running', takeover = 1"), "running"),
    Case("nothing, and it was never begun", ("DELETE FROM event WHERE run IS NOT NULL AND kind <> 'run.opened'",
         "UPDATE run SET status = 'queued', turns = 0, takeover = 0"), "queued"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_run_is_what_its_events_are_or_over(home: Path, tmp_path: Path, case: Case) -> None:
    rich(home)
    broken(home, "UPDATE run SET takeover = 1", *case.breaks)
    store = opened(home)
    with store.write() as tx:
        for (trigger,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
            tx.run(f"DROP TRIGGER {trigger}")
        all_events = tx.value("SELECT max(seq) = count(*) FROM event")
        with aside.opened(tmp_path / "side.jsonl") as left:
            reruns.settle(tx, left, all_events=all_events, now_ms=NOW, who=ME)
        mend_schema(tx)
    verify.mend(store)
    assert verify.examine(store, nobody).problems == ()
    with store.read() as tx:
        assert runs.row(tx, RUN).status == case.status
        assert runs.details(tx, RUN).door == "cli"
        assert not runs.state(tx, RUN).open_calls
