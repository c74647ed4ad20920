"""The way in: `forkwood` and `python -m forkwood`. Says its version without loading anything."""

from __future__ import annotations

import sys


def main() -> None:
    """Carry out the command line of this process and end it with the exit code."""
    if sys.argv[1:] != ["--version"] or not _say_version():
        try:
            code = run(sys.argv[1:])
        except KeyboardInterrupt:  # before anything was begun, or when all was done
            code = 130
        sys.exit(code)


def _say_version() -> bool:
    """Say it, loading nothing; False where it cannot be written so."""
    from forkwood import __version__

    try:
        sys.stdout.write(f"forkwood {__version__}\n")
        sys.stdout.flush()
    except (OSError, AttributeError):  # a full disk, a reader that left, or no stream at all
        return False
    return True


def run(arguments: list[str]) -> int:
    """Carry out ARGUMENTS on this process's standard streams; the exit code."""
    import os

    from forkwood.surfaces.cli.app import carry_out
    from forkwood.surfaces.cli.desk import Desk
    from forkwood.surfaces.cli.terminal import Terminal

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started this
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    with Desk(Terminal(sys.stdin, sys.stdout, sys.stderr, os.environ)) as desk:
        return carry_out(arguments, desk)


if __name__ == "__main__":
    main()
