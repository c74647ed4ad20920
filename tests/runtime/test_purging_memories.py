"""What a purge takes of what is remembered: the words of a fact go with the message that proposed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from forkwood.domain.scrub import GONE
from forkwood.runtime import Runtime
from tests.runtime import seeded
from tests.runtime.doors import texts
from tests.runtime.seeded import MARKER, assert_gone, seeded_bytes


@pytest.fixture
def runtime(home: Path) -> Runtime:
    runtime = seeded.opened(home)
    runtime.new()
    return runtime


def test_a_fact_goes_with_the_message_that_proposed_it(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also out of what a provider quoted of a prompt in another conversation, which held it."""
    reply = seeded.seed_memory(runtime, tmp_path)
    runtime.new(title="others")
    failed = seeded.fail_quoting(runtime, tmp_path, monkeypatch)
    seeded.seed_files(runtime)
    runtime.purge([reply])
    assert_gone(runtime)
    (row,) = [run for run in runtime.runs() if run.id == failed]
    assert row.error is not None and row.error["message"] == GONE
    assert runtime.memory() == [] and texts(runtime) == ["what now?"]


def test_a_fact_that_a_person_stated_stays(runtime: Runtime, tmp_path: Path) -> None:
    """It comes from no message; forgetting it is for the person, and its versions are kept."""
    reply = seeded.seed_memory(runtime, tmp_path)
    stated = runtime.memory_add(f"{MARKER} name", "my own words")
    runtime.purge([reply])
    (left,) = runtime.memory()
    assert (left.id, left.value, left.version) == (stated.id, "my own words", 2)
    assert seeded_bytes(runtime)
