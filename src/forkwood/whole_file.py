"""Files of Forkwood's home that appear whole or not at all, with their mode from the first instant."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path


def put(path: Path, chunks: Iterable[bytes], *, mode: int) -> None:
    """Make CHUNKS the content of PATH, synced; its folders are made, private ones. Raises OSError, and leaves nothing.

    What stood there before is replaced in one step; where CHUNKS raise, it stays as it was.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # only POSIX systems open folders, and some of their disks do not sync them
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the names in DIRECTORY survive a power cut. Raises OSError."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
