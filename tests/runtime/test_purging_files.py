"""Purge beside the store: what belongs to others stays in every file, what may hold the purged goes and is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from forkwood.domain.act import Who
from forkwood.domain.event import StoreSalvaged
from forkwood.domain.model import Delta
from forkwood.runtime import Runtime
from forkwood.store import aside, backups, drafts, log
from forkwood.store.opening import open_store
from tests.runtime import seeded
from tests.runtime.doors import NOON, door, said
from tests.runtime.seeded import MARKER, assert_gone

OTHERS = "words of others"
NAMED = ("id", "conversation", "revises", "role", "at_node", "run")


@pytest.fixture
def runtime(home: Path) -> Runtime:
    """Two conversations with a run each: the first says the marker, the second what must stay. The first is current."""
    runtime = seeded.opened(home)
    first = runtime.new().id
    runtime.new(title="others")
    said(runtime, f"{OTHERS} 1", f"{OTHERS} 2")
    [run] = runtime.send(f"{OTHERS} 3").runs
    with runtime.house.store.write() as tx:
        drafts.append(tx, run, 1, 0, [Delta(index=0, kind="text", text=OTHERS)])
    runtime.use(first)
    return runtime


def rows_of(path: Path, conversation: int) -> list[dict[str, Any]]:
    """The lines of a side file whose rows say that they are of a conversation."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        line for line in lines if isinstance(line.get("row"), dict) and line["row"].get("conversation") == conversation
    ]


def test_a_salvage_that_put_rows_of_two_conversations_aside_loses_those_of_the_purged_one(
    runtime: Runtime, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation, side = runtime.conversation().id, home / "salvage-1.jsonl"
    seeded.seed_settings(runtime)
    seeded.seed_messages(runtime, tmp_path)
    seeded.fail_quoting(runtime, tmp_path, monkeypatch)
    seeded.set_aside(runtime, side)
    before, size = rows_of(side, 2), len(side.read_text().splitlines())
    assert len(before) > 8
    [file] = runtime.purge_preview([conversation]).files
    assert (file.path, file.fate) == ("salvage-1.jsonl", "rewritten")
    assert f" of {size} lines in it belong to what is purged, or may: of 3 nobody can tell" in file.why
    assert runtime.purge([conversation]).files == (file,)
    assert_gone(runtime)
    assert rows_of(side, 2) == before
    assert rows_of(side, 1) == []
    left = [json.loads(line) for line in side.read_text().splitlines()]
    assert [line["row"]["deltas"] for line in left if line.get("table") == "draft"] != []
    assert [OTHERS in str(line["row"]) for line in left if line.get("table") == "?"] == [True]
    assert [line for line in left if "row" not in line] == [
        {"table": "node", "why": "unreadable", "first": 900, "last": 902},
        {"page": 7, "why": "unreadable"},
    ]
    assert side.stat().st_mode & 0o777 == 0o600


def test_a_purge_of_something_else_leaves_every_file_as_it_was(runtime: Runtime, home: Path) -> None:
    said(runtime, MARKER)
    seeded.seed_files(runtime)
    (home / "forkwood.db.corrupt-1").unlink()
    (home / "salvage-1.jsonl").unlink()
    later = runtime.new(title="later").id
    said(runtime, "said after all those were made")
    for begun in (home / "backups").glob("*.part-*"):
        begun.unlink()
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and "forkwood.db" not in path.name}
    assert len(before) == 2
    side = home / "salvage-2.jsonl"
    unowned = [line for line in side.read_bytes().splitlines(keepends=True) if b'"?"' in line]
    report = runtime.purge([later])
    assert [(file.path, file.fate) for file in report.files] == []
    assert {path: path.read_bytes() for path in before} == before
    assert len(unowned) == 1


def test_a_backup_is_written_anew_without_the_purged_and_keeps_all_else(runtime: Runtime, home: Path) -> None:
    ids = said(runtime, MARKER, "a1")
    with runtime.house.store.read() as tx:
        copy = backups.make(tx.connection, home, version=tx.connection.pragma("user_version"), now_ms=NOON)
    report = runtime.purge([ids[0]])
    assert [(file.path, file.fate) for file in report.files] == [(f"backups/{copy.name}", "rewritten")]
    assert_gone(runtime)
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]
    (home / "restored").mkdir()
    copy.rename(home / "restored" / "forkwood.db")
    restored = door(open_store(home / "restored", now_ms=NOON))
    assert [entry.node.text for entry in restored.path(hidden=True)] == ["", "a1"]
    assert OTHERS in str(restored.search(["others"]))


@pytest.mark.parametrize("content", [b"", b"no store at all", b"SQLite format 3\0" + bytes(900)])
def test_a_backup_that_cannot_be_read_goes_and_the_reason_is_told(runtime: Runtime, home: Path, content: bytes) -> None:
    [message] = said(runtime, MARKER)
    broken = home / "backups" / backups.name_of(1, NOON)
    broken.parent.mkdir()
    broken.write_bytes(content)
    [file] = runtime.purge([message]).files
    assert (file.fate, broken.exists()) == ("removed", False)
    assert file.why.startswith("it may hold what is purged, and cannot be written anew: ")


def test_a_backup_of_an_older_version_is_brought_to_this_one(runtime: Runtime, home: Path) -> None:
    old = home / "backups" / backups.name_of(1, NOON)
    old.parent.mkdir()
    old.write_bytes(gzip.decompress((Path(__file__).parents[1] / "store" / "golden" / "v1.db.gz").read_bytes()))
    kept = old.read_bytes()
    runtime.purge([said(runtime, MARKER)[0]])
    assert old.read_bytes() == kept
    changed = backups.rewrite(old, lambda tx: tx.run("UPDATE conversation SET title = 'rewritten'"))
    assert [path.name for path in old.parent.iterdir()] == [changed.name]
    assert backups.looked_into(changed, lambda tx: tx.rows("SELECT DISTINCT title FROM conversation")) == [
        ("rewritten",)
    ]


def salvaged(runtime: Runtime, home: Path, now_ms: int) -> Path:
    """What a salvage at NOW_MS leaves: its event, the damaged file and its log, rows aside and rows lost."""
    when = backups.moment(now_ms)
    with runtime.house.store.write() as tx:
        log.write(tx, StoreSalvaged(rows=1, lost=1), who=Who(by="user", via="cli"), now_ms=now_ms)
    damaged = home / f"forkwood.db.corrupt-{when}"
    damaged.write_bytes(b"damaged")
    damaged.with_name(f"{damaged.name}-wal").write_bytes(b"its log")
    with aside.opened(home / f"salvage-{when}.jsonl") as side:
        side.missing("node", 70, 79)
        side.row("node", {"seq": 60, **dict.fromkeys(NAMED)}, "homeless")
        side.changed("node", {"seq": 61, **dict.fromkeys(NAMED)}, "its run is lost")
    return damaged


def test_a_damaged_store_goes_with_what_it_may_hold_and_what_only_it_has_is_told_before(
    runtime: Runtime, home: Path
) -> None:
    ids = said(runtime, MARKER)
    damaged = salvaged(runtime, home, NOON + 86_400_000)
    told = {file.path: (file.fate, file.why) for file in runtime.purge_preview(ids).files}
    side = home / f"salvage-{backups.moment(NOON + 86_400_000)}.jsonl"
    fate, why = told[damaged.name]
    assert (fate, why.split("; ")) == (
        "removed",
        [
            "a damaged store, which may hold what is purged and cannot be written anew",
            "10 rows that could not be read may be in it and nowhere else",
            f"1 rows that were taken out stand in {side.name} too",
        ],
    )
    assert told[f"{damaged.name}-wal"] == ("removed", "the log of a damaged store that may hold what is purged")
    assert damaged.exists()
    runtime.purge(ids)
    assert not damaged.exists()
    assert side.exists()


def test_a_damaged_store_that_is_older_than_what_is_purged_stays(runtime: Runtime, home: Path) -> None:
    said(runtime, "before")
    damaged = salvaged(runtime, home, NOON - 86_400_000)
    later = said(runtime, "after the salvage")
    conversation = runtime.new(title="new").id
    assert [file.path for file in runtime.purge(later).files if "corrupt" in file.path] == []
    runtime.purge([conversation])
    assert damaged.exists()


def test_one_whose_clock_was_set_back_is_taken_for_older(runtime: Runtime, home: Path) -> None:
    damaged = salvaged(runtime, home, NOON + 86_400_000)
    runtime.purge(said(runtime, "after the salvage, by a clock that was set back"))
    assert not damaged.exists()


def test_a_salvage_at_an_impossible_time_tells_nothing_of_what_is_older(runtime: Runtime, home: Path) -> None:
    damaged = salvaged(runtime, home, NOON)
    with runtime.house.store.write() as tx:
        tx.run("INSERT INTO purging VALUES (1)")
        tx.run("UPDATE event SET at_ms = 9223372036854775807 WHERE kind = 'store.salvaged'")
        tx.run("DELETE FROM purging")
    runtime.purge(said(runtime, "after the salvage"))
    assert not damaged.exists()


def test_what_lies_beside_a_store_that_is_linked_to_is_found(tmp_path: Path, home: Path) -> None:
    far = tmp_path / "far"
    open_store(far, now_ms=NOON).close()
    home.mkdir()
    (home / "forkwood.db").symlink_to(far / "forkwood.db")
    runtime = seeded.opened(home)
    runtime.new()
    ids = said(runtime, MARKER)
    seeded.set_aside(runtime, far / "salvage-1.jsonl")
    runtime.purge(ids)
    assert MARKER not in (far / "salvage-1.jsonl").read_text()
