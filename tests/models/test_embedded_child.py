"""The child's own program, spoken to as its parent does: one line in, one line out, and an end with the pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from forkwood.models import embedded_server
from forkwood.models.embedded_child import Start, Started

PROGRAM = [sys.executable, "-P", "-m", "forkwood.models.embedded_child"]
PATIENT = 60.0
"""Seconds in which any machine gets to its end; one that does not is killed, and its test fails."""


class Child(Struct, frozen=True, kw_only=True):
    process: subprocess.Popen[bytes]
    into: IO[bytes]
    out: IO[bytes]
    errors: IO[bytes]

    def tell(self, line: bytes) -> None:
        self.into.write(line)
        self.into.flush()

    def end(self) -> tuple[int, bytes, bytes]:
        """Exit code, and all it still said, once it has ended by itself."""
        code = self.process.wait(PATIENT)
        return code, self.out.read(), self.errors.read()


@contextmanager
def running() -> Iterator[Child]:
    pipe = subprocess.PIPE
    with subprocess.Popen(PROGRAM, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        try:
            yield Child(process=process, into=process.stdin, out=process.stdout, errors=process.stderr)
        finally:
            process.kill()


def start(weights: str, parent: int) -> bytes:
    wanted = Start(weights=weights, alias="a", key="k", parent=parent, context=512, output_max=16)
    return msgspec.json.encode(wanted) + b"\n"


def test_it_serves_until_its_pipe_closes_and_writes_nothing_else() -> None:
    weights = embedded_server.weights_in(Path("/nowhere"))
    with running() as child:
        child.tell(start(str(weights), os.getpid()))
        started = msgspec.json.decode(child.out.readline(), type=Started)
        child.into.close()
        assert (started.url or "").startswith("http://127.0.0.1:")
        assert child.end() == (0, b"", b"")


def test_it_says_why_it_cannot_load(tmp_path: Path) -> None:
    with running() as child:
        child.tell(start(str(tmp_path / "absent.gguf"), os.getpid()))
        started = msgspec.json.decode(child.out.readline(), type=Started)
        assert started.url is None
        assert started.error
        assert child.end()[:2] == (1, b"")


def test_it_ends_at_once_where_its_parent_has_gone_already() -> None:
    with running() as child:
        child.tell(start("any", parent=1))
        assert child.end() == (0, b"", b"")


def test_it_says_nothing_to_one_who_is_no_parent() -> None:
    with running() as child:
        child.tell(b"hello\n")
        code, said, _ = child.end()
        assert (code, said) == (1, b"")
