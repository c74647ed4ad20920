"""Whatever happens to the file: no crash, a clear word, and after a repair a whole store with all that was spared."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from forkwood.domain.errors import ForkwoodError, StoreUnusable
from forkwood.domain.settings import Settings
from forkwood.runtime import Runtime
from forkwood.runtime.upkeep import examine
from forkwood.store.verify import Report
from tests.runtime.doors import answered
from tests.soak import trials
from tests.store.damage import damaged, opened, seeded, untouched, words

MESSAGES = 14
SPOKEN = (*range(MESSAGES), *range(1_000, 1_000 + MESSAGES), *range(MESSAGES + 1, MESSAGES + 6), 2_000, 2_001)
REFUSED = frozenset({"foreign", "unversioned", "newer", "too old", "empty"})
"""What a damaged beginning can look like: another program's file, or another version's."""

LOOKS: tuple[Callable[[Runtime, str | None], object], ...] = (
    lambda runtime, here: runtime.path(conversation=here, hidden=True),
    lambda runtime, here: runtime.tree(conversation=here),
    lambda runtime, here: runtime.branches(conversation=here),
    lambda runtime, here: list(runtime.log(conversation=here)),
    lambda runtime, here: runtime.search("answer", conversation=here),
    lambda runtime, here: runtime.search("word0002x", substring=True),
    lambda runtime, here: runtime.runs(conversation=here),
    lambda runtime, here: runtime.labels(conversation=here),
    lambda runtime, here: runtime.listed(),
    lambda runtime, here: runtime.trash(),
    lambda runtime, here: runtime.stats(),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    home = tmp_path_factory.mktemp("whole") / "home"
    seeded(home, MESSAGES)
    assert {words(number) for number in SPOKEN} <= texts(home)
    return (home / "forkwood.db").read_bytes()


@pytest.mark.parametrize("seed", range(trials(32)))
def test_a_damaged_store_is_salvaged_or_refused_and_works_again(home: Path, whole: bytes, seed: int) -> None:
    content = damaged(whole, seed)
    laid(home, content)
    look_at_all(home)
    send_into(home)
    laid(home, content)
    spared = {number for number in SPOKEN if untouched(whole, content, number)}
    report = repaired(home)
    if isinstance(report, StoreUnusable):
        assert report.facts["reason"] in REFUSED, report.message
        assert content[:100] != whole[:100] or not spared
        assert (home / "forkwood.db").read_bytes() == content
        return
    assert report.problems == ()
    assert looked(home).ok
    works(home)
    assert looked(home).ok
    lost = {number for number in SPOKEN if words(number) not in texts(home)}
    assert not lost & spared


@pytest.mark.parametrize("seed", range(trials(8)))
def test_a_damaged_log_costs_no_more_than_what_stood_in_it(home: Path, whole: bytes, seed: int) -> None:
    laid(home, whole)
    with closing(opened(home)) as runtime:
        here = runtime.listed()[0].id
        for number in range(4):
            runtime.send(words(3_000 + number), run=False, conversation=here)
        log = (home / "forkwood.db-wal").read_bytes()
    laid(home, whole)
    (home / "forkwood.db-wal").write_bytes(damaged(log, seed))
    look_at_all(home)
    laid(home, whole)
    (home / "forkwood.db-wal").write_bytes(damaged(log, seed))
    assert looked(home, repair=True).ok
    works(home)
    assert {words(number) for number in SPOKEN} <= texts(home)


def laid(home: Path, content: bytes) -> None:
    """A home with that file and nothing else."""
    home.mkdir(exist_ok=True)
    for file in home.iterdir():
        if file.is_file():
            file.unlink()
    (home / "forkwood.db").write_bytes(content)


def looked(home: Path, *, repair: bool = False) -> Report:
    return examine(Settings(home=str(home), model="scripted:/nowhere.json"), "cli", repair=repair)


def repaired(home: Path) -> Report | StoreUnusable:
    try:
        return looked(home, repair=True)
    except StoreUnusable as error:
        return error


def look_at_all(home: Path) -> None:
    """Doctor and every verb that reads say what they see, or why not."""
    with suppress(StoreUnusable):
        looked(home)
    for look in LOOKS:
        with suppress(ForkwoodError), closing(opened(home)) as runtime:
            look(runtime, None)


def send_into(home: Path) -> None:
    """A message is taken and answered, or refused with a reason."""
    with suppress(ForkwoodError), closing(opened(home)) as runtime:
        answered(runtime, runtime.send("still there?"))


def works(home: Path) -> None:
    """Everything can be read, and something said in every conversation."""
    with closing(opened(home)) as runtime:
        for conversation in [one.id for one in (*runtime.listed(), *runtime.listed(archived=True))]:
            for look in LOOKS:
                look(runtime, conversation)
            for node in runtime.tree(conversation=conversation):
                runtime.show(node.id, conversation=conversation)
            result = answered(runtime, runtime.send("still there?", conversation=conversation))
            assert (result.status, result.text) == ("done", "an answer")
            assert runtime.path(conversation=conversation)[-1].node.text == "an answer"
        runtime.new(title="and a new one")
        assert answered(runtime, runtime.send("and here?")).status == "done"


def texts(home: Path) -> set[str]:
    """What every message of the home says."""
    with closing(opened(home)) as runtime, runtime.house.store.read() as tx:
        found = tx.rows("SELECT parts FROM node WHERE parts IS NOT NULL")
    return {part["text"] for (parts,) in found for part in json.loads(parts) if "text" in part}
