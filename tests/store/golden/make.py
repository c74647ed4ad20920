"""Makes the golden store of the present version: `python -m tests.store.golden.make`. Released, it is kept for ever."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from forkwood.store.migrations import SCHEMA_VERSION
from tests.store.richness import rich


def make(target: Path) -> None:
    """Write a rich store, compressed, to TARGET."""
    with tempfile.TemporaryDirectory() as folder:
        rich(Path(folder), messages=30)
        target.write_bytes(gzip.compress((Path(folder) / "forkwood.db").read_bytes(), mtime=0))


if __name__ == "__main__":
    make(Path(__file__).parent / f"v{SCHEMA_VERSION}.db.gz")
