"""Doctor finds every kind of difference, mends what is an index, and names what it may not touch."""

from __future__ import annotations

from pathlib import Path

from forkwood.domain import limits
from forkwood.store import verify
from tests.store.breaking import broken, nobody
from tests.store.richness import rich
from tests.store.seeds import fill, opened


def test_a_whole_store_has_no_problem(home: Path) -> None:
    rich(home)
    report = verify.examine(opened(home), nobody)
    assert report == verify.Report(ok=True, problems=(), notices=())
    assert verify.mend(opened(home)) == ()


def test_mending_leaves_the_books_as_they_are(home: Path) -> None:
    rich(home)
    broken(home, "UPDATE node SET length = 99 WHERE seq = 60", "UPDATE conversation SET turns = 9")
    store = opened(home)
    assert verify.mend(store) == ("counts",)
    with store.read() as tx:
        assert tx.value("SELECT length FROM node WHERE seq = 60") == 99


def test_runs_nobody_drives_are_notices(home: Path) -> None:
    rich(home)
    broken(
        home,
        "DELETE FROM event WHERE kind = 'run.ended'",
        "UPDATE run SET status = 'running', driver = 'me'",
    )
    store = opened(home)
    assert [one.kind for one in verify.examine(store, lambda driver: driver == "me").problems] == []
    assert verify.examine(store, lambda driver: driver == "me").notices == ()
    (notice,) = verify.examine(store, nobody).notices
    assert "nobody drives it" in notice
    assert "forkwood resume" in notice


def test_a_broken_page_is_damage_and_nothing_else_is_asked(home: Path) -> None:
    store = opened(home)
    fill(store, 300, words="many words to fill pages " * 6)
    store.close()
    path = home / "forkwood.db"
    content = bytearray(path.read_bytes())
    content[-10 * 4096 :] = b"\xa5" * 40_960
    path.write_bytes(content)
    report = verify.examine(opened(home), nobody)
    assert {problem.kind for problem in report.problems} == {"damaged"}
    assert verify.is_damaged(report)


def test_of_one_kind_so_many_are_named_and_the_others_counted(home: Path) -> None:
    fill(opened(home), limits.problems_of_a_kind_max + 5)
    broken(home, "UPDATE event SET kind = 'song' WHERE seq > 2")
    problems = verify.examine(opened(home), nobody).problems
    assert len(problems) == limits.problems_of_a_kind_max + 1
    assert problems[-1].message == "… and 4 more like these"
    broken(home, "UPDATE event SET kind = 'message.sent' WHERE seq BETWEEN 3 AND 6")
    assert len(verify.examine(opened(home), nobody).problems) == limits.problems_of_a_kind_max
