"""What lies beside the store and holds words of it: backups, and what was set aside when a store was salvaged."""

from __future__ import annotations

from pathlib import Path

from forkwood.store import backups

ASIDE = ("*.corrupt-*", "salvage-*.jsonl", ".forkwood.salvage*")
"""How files kept aside are named, in the home itself."""

BEGUN = "*.part-*"
"""How copies in the folder of backups are named while they are made: a program that was killed leaves its own."""


def remove(home: Path) -> list[Path]:
    """Remove them all, as a purge must; those that were there."""
    begun = backups.folder(home).glob(BEGUN)
    found = [*backups.kept(home), *sorted(begun), *(path for pattern in ASIDE for path in sorted(home.glob(pattern)))]
    for path in found:
        path.unlink(missing_ok=True)
    return found
