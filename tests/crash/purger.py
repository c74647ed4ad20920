"""A command line that kills itself at one of its steps: `python -m tests.crash.purger STEP ARGUMENTS…`.

A step is a statement begun, so many operations of SQLite's machine, or a file removed. With STEP 0 it lives, and says
at the end how many steps there were.
"""

from __future__ import annotations

import os
import signal
import sys

import apsw

from forkwood.__main__ import run
from forkwood.store.db import Store

OPERATIONS = 300


class Fate:
    """Counts steps, and ends the process at one of them."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def statement(self, *_: object) -> bool:
        self.step()
        return True

    def operations(self) -> bool:
        self.step()
        return False

    def audited(self, event: str, _: object) -> None:
        if event == "os.remove":
            self.step()


def main() -> int:
    fate = Fate(int(sys.argv[1]))
    opened = Store.__init__

    def watched(store: Store, connection: apsw.Connection, path: str = ":memory:") -> None:
        opened(store, connection, path)
        connection.exec_trace = fate.statement
        connection.set_progress_handler(fate.operations, OPERATIONS)

    Store.__init__ = watched  # type: ignore[method-assign, assignment]
    sys.addaudithook(fate.audited)
    code = run(sys.argv[2:])
    sys.stderr.write(f"{fate.steps}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
