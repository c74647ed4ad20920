"""A driver: a process (or an engine in it) that may drive runs, alive for as long as it holds the lock of its file.

The lock is the operating system's: it is free at once when the process dies, and never while it sleeps. No clock, no
lease. Files of the dead are swept away by whoever meets them; a driver that misses its own makes it anew.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from forkwood.domain.errors import StoreUnusable
from forkwood.domain.ids import is_id

FOLDER = "drivers"
"""Where the locks are, beside the store itself."""
_SUFFIX = ".lock"
_TRIES = 100
"""A sweeper that meets a file before it is locked holds it for an instant."""

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class Driver:
    """The holder of one lock file."""

    def __init__(self, folder: Path, name: str, handle: int) -> None:
        self._folder = folder
        self._handle = handle
        self.name = name

    @classmethod
    def start(cls, folder: Path, new_name: Callable[[], str]) -> Self:
        """A new living driver in FOLDER (made where it is missing); files of dead ones are removed.

        Raises StoreUnusable where no lock can be held there.
        """
        with _usable(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sweep(folder)
            while True:
                name = new_name()
                handle = os.open(_file(folder, name), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                # A sweeper may have met the file before it was locked, and taken it for one of the dead.
                if _try_lock(handle) and _stands(folder, name, handle):
                    return cls(folder, name, handle)
                os.close(handle)

    def stand(self) -> bool:
        """Make sure that others see that this driver lives: where its file was taken away, it is made anew.

        Whether it had to be: who looked meanwhile took this driver for dead, and may have taken its runs over. Raises
        StoreUnusable where no lock can be held there any more.
        """
        with _usable(self._folder):
            if _stands(self._folder, self.name, self._handle):
                return False
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for _ in range(_TRIES):
                handle = os.open(_file(self._folder, self.name), os.O_RDWR | os.O_CREAT, 0o600)
                if _try_lock(handle) and _stands(self._folder, self.name, handle):
                    os.close(self._handle)
                    self._handle = handle
                    return True
                os.close(handle)
            raise OSError("another program holds the lock of this one")

    def close(self) -> None:
        """Let the lock go, and with it all that is driven."""
        os.close(self._handle)
        with suppress(OSError):
            _file(self._folder, self.name).unlink(missing_ok=True)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}{_SUFFIX}"


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """While the body works in FOLDER, what the disk refuses is said as what it is: this home drives nothing."""
    try:
        yield
    except OSError as error:
        raise StoreUnusable(
            f"The folder of those who drive runs, {folder}, cannot be used: {error.strerror or error}",
            hint="make it a folder you may write, or move what stands there away; what was said is kept, and "
            "forkwood resume goes on with its run",
            reason="drivers",
            path=str(folder),
        ) from error


def _sweep(folder: Path) -> None:
    for file in folder.glob(f"*{_SUFFIX}"):
        name = file.name.removesuffix(_SUFFIX)
        if is_id(name):  # where the folder is a link to one of another program, its locks are not ours
            with suppress(OSError):  # it stays, and whoever asks for that driver is told
                _holds(folder, name)


def lives(folder: Path, name: str) -> bool:
    """Whether a driver of that NAME holds its lock in FOLDER. A dead one's file is removed.

    Raises StoreUnusable where that cannot be told.
    """
    with _usable(folder):
        return _holds(folder, name)


def _holds(folder: Path, name: str) -> bool:
    try:
        handle = os.open(_file(folder, name), os.O_RDWR | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        if not _try_lock(handle):
            return True
        if sys.platform != "win32":
            # while it is locked: a starting driver then sees that it is gone
            _file(folder, name).unlink(missing_ok=True)
        return False
    finally:
        os.close(handle)


def _stands(folder: Path, name: str, handle: int) -> bool:
    """Whether the locked file is still the one of that name."""
    try:
        found = _file(folder, name).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    mine = os.fstat(handle)
    return (found.st_dev, found.st_ino) == (mine.st_dev, mine.st_ino)
