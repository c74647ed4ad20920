"""A program that says things through the door: `python -m tests.corpus.speaker NAME COUNT`, in $FORKWOOD_HOME.

It prints the id of each message once it is kept: what it printed is what it may be held to.
"""

from __future__ import annotations

import os
import sys

from forkwood.config import load_settings
from forkwood.domain.errors import ForkwoodError
from forkwood.runtime import Runtime


def speak(name: str, count: int) -> None:
    with Runtime.open(load_settings(os.environ), os.environ, via="cli") as runtime:
        for number in range(count):
            said = runtime.send(f"{name} {number}", run=False).node.id
            sys.stdout.write(f"{said} {name} {number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    try:
        speak(sys.argv[1], int(sys.argv[2]))
    except ForkwoodError as error:
        sys.exit(error.message)
