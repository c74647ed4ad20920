"""The child's own program, spoken to as its parent does: one line in, one line out, and an end with the pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from forkwood.models import embedded_server
from forkwood.models.embedded_child import Start, Started

PROGRAM = [sys.executable, "-P", "-m", "forkwood.models.embedded_child"]


def start(weights: str, parent: int) -> bytes:
    wanted = Start(weights=weights, alias="a", key="k", parent=parent, context=512, output_max=16)
    return msgspec.json.encode(wanted) + b"\n"


def run(source: bytes) -> subprocess.CompletedProcess[bytes]:
    """The program with SOURCE as all of its stdin, after which the pipe is closed."""
    return subprocess.run(PROGRAM, check=False, input=source, capture_output=True)


def test_it_serves_until_its_pipe_closes_and_writes_nothing_else() -> None:
    weights = embedded_server.weights_in(Path("/nowhere"))
    child = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdin
    assert child.stdout
    assert child.stderr
    child.stdin.write(start(str(weights), os.getpid()))
    child.stdin.flush()
    started = msgspec.json.decode(child.stdout.readline(), type=Started)
    child.stdin.close()
    assert (started.url or "").startswith("http://127.0.0.1:")
    assert (child.stdout.read(), child.stderr.read()) == (b"", b"")
    assert child.wait() == 0
    child.stdout.close()
    child.stderr.close()


def test_it_says_why_it_cannot_load(tmp_path: Path) -> None:
    ended = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert ended.stdin
    assert ended.stdout
    ended.stdin.write(start(str(tmp_path / "absent.gguf"), os.getpid()))
    ended.stdin.flush()
    started = msgspec.json.decode(ended.stdout.readline(), type=Started)
    assert (started.url, ended.wait()) == (None, 1)
    assert started.error
    ended.stdin.close()
    ended.stdout.close()


def test_it_ends_at_once_where_its_parent_has_gone_already() -> None:
    ended = run(start("any", parent=1))
    assert (ended.returncode, ended.stdout) == (0, b"")


def test_it_says_nothing_to_one_who_is_no_parent() -> None:
    ended = run(b"hello\n")
    assert ended.returncode == 1
    assert ended.stdout == b""
