"""The guard: messages on the path of a run at work are neither hidden nor purged; all else goes on."""

from __future__ import annotations

import pytest

from forkwood.domain.errors import Refused
from forkwood.runtime import Runtime, guard
from tests.runtime.doors import door, said, texts


@pytest.fixture
def runtime() -> Runtime:
    runtime = door()
    runtime.new(title="t")
    return runtime


def test_windie_70_71_hide_is_refused_on_the_path_of_a_run_naming_message_and_run(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    [run] = runtime.send("q2").runs
    with pytest.raises(Refused, match=f"{ids[0]} cannot be hidden") as refused:
        runtime.hide(ids[0])
    assert refused.value.facts == {"run": run}
    assert run[-8:] in refused.value.hint
    runtime.cancel(run)
    assert runtime.hide(ids[0]).nodes == (ids[0],)


def test_a_message_beside_the_path_is_hidden(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    runtime.retry(ids[1])
    assert runtime.hide(ids[1]).nodes == (ids[1],)


def test_windie_72_edits_and_new_branches_under_a_run_are_free(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1")
    runtime.send("q2")
    runtime.edit(ids[0], "q1'", run=False)
    assert texts(runtime) == ["q1'"]


def test_a_purge_names_the_first_message_that_a_run_needs_and_counts_out_what_it_ends_itself(runtime: Runtime) -> None:
    ids = said(runtime, "q1", "a1", "beside")
    runtime.switch(ids[1], here=True)
    [run] = runtime.send("q2").runs
    with runtime.house.store.read() as tx:
        guard.not_under_active_run(tx, [3], but=())
        guard.not_under_active_run(tx, [1, 2, 3], but=[1])
        with pytest.raises(Refused, match="cannot be purged") as refused:
            guard.not_under_active_run(tx, [3, 2, 1], but=())
    assert refused.value.facts == {"run": run, "node": ids[0]}
    assert run[-8:] in refused.value.hint
