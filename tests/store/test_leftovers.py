"""What lies beside the store and holds words of it is found by name and removed; nothing else is."""

from __future__ import annotations

from pathlib import Path

from forkwood.store import backups, leftovers


def test_copies_and_what_was_set_aside_go_and_all_else_stays(tmp_path: Path) -> None:
    backups.folder(tmp_path).mkdir()
    gone = [
        backups.folder(tmp_path) / backups.name_of(1, 1_800_000_000_000),
        backups.folder(tmp_path) / "forkwood-2027-01-15T08-00-00-000Z-v1.part-4242",
        tmp_path / "forkwood.db.corrupt-20270115T080000Z",
        tmp_path / "salvage-20270115T080000Z.jsonl",
        tmp_path / ".forkwood.salvage",
    ]
    stays = [tmp_path / name for name in ("forkwood.db", "config.toml", "notes.jsonl")]
    for path in (*gone, *stays):
        path.write_text("words")
    assert sorted(leftovers.remove(tmp_path)) == sorted(gone)
    assert [path for path in (*gone, *stays) if path.exists()] == stays
    assert leftovers.remove(tmp_path) == []
