"""The embedded model's own program: llama.cpp's server on loopback, in a process that can be killed.

It is told what to load in one line of JSON on stdin, answers with one line on stdout, and lives as long as stdin is
open. It never returns: its libraries can hang when a process ends in good order.
"""

from __future__ import annotations

import os
import signal
import sys
from threading import Event, Thread
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

CACHE_MIB = 256
"""For the state of other branches, so that switching between them does not read them anew."""


THREADS_MAX = 4


class Start(Struct, frozen=True, kw_only=True):
    """What to serve, and for whom."""

    weights: str
    alias: str
    key: str
    parent: int
    context: int
    output_max: int


class Started(Struct, frozen=True, kw_only=True):
    """Where it is served, or why not."""

    url: str | None = None
    error: str | None = None


def main() -> NoReturn:
    """Serve until the parent is gone."""
    start = msgspec.json.decode(sys.stdin.buffer.readline(), type=Start)
    _die_with(start.parent)
    Thread(target=_watch, daemon=True).start()
    try:
        server = _serve(start)
    except Exception as error:  # whatever its libraries raise is told, and ends this process
        _say(Started(error=f"{type(error).__name__}: {error}"))
        os._exit(1)
    _say(Started(url=str(server.listening_address)))
    Event().wait()
    os._exit(0)


def _serve(start: Start) -> Any:
    """The running server; it serves from threads of its own as long as it is referred to."""
    import xllamacpp  # type: ignore[import-untyped]  # it has no types

    wanted = xllamacpp.CommonParams()
    wanted.model.path = start.weights
    wanted.model_alias = {start.alias}
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    wanted.api_keys = [start.key]
    # By default it has no key, shows a page and reflects any Origin: any web page could ask it.
    wanted.cors_origins = ""
    wanted.ui = False
    wanted.endpoint_slots = False
    wanted.offline = True
    wanted.verbosity = -1
    wanted.n_ctx = start.context
    wanted.n_parallel = 1  # the context is divided among sequences
    wanted.n_predict = start.output_max
    wanted.cache_ram_mib = CACHE_MIB
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = _threads()
    # The likeliest word each time, for the same answer each time; without DRY so small a model repeats itself for ever.
    wanted.sampling.temp = 0.0
    wanted.sampling.dry_multiplier = 0.8
    wanted.sampling.dry_allowed_length = 4
    wanted.sampling.dry_penalty_last_n = 512
    return xllamacpp.Server(wanted)


def _threads() -> int:
    """Half of the processors, and no more than help so small a model.

    Its threads wait for each other after every layer: where one of them is held up by another program all are, and with
    a thread on each processor of a busy machine a word was measured to take 40 times as long as with one thread alone.
    """
    processors = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(THREADS_MAX, processors // 2))


def _watch() -> None:
    """End with the pipe: its other end is closed whatever happens to the parent."""
    while sys.stdin.buffer.read(1024):
        pass
    os._exit(0)


def _die_with(parent: int) -> None:
    """On Linux also ask the kernel: loading may hold every thread of this process up."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)


def _say(started: Started) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(started) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
