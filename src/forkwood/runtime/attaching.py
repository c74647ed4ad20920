"""Files that go with a message: read whole from where a person named them, kept as blobs by their SHA-256."""

from __future__ import annotations

import mimetypes
import os
import stat
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from forkwood.domain import fences, limits
from forkwood.domain.errors import Conflict, LimitExceeded, Misused, NotFound
from forkwood.domain.message import Attachment
from forkwood.store import blobs
from forkwood.store.db import Tx

_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


class ReadFile(Struct, frozen=True, kw_only=True):
    """A file that was read: the part that speaks of it, and its bytes."""

    part: Attachment
    content: bytes


def read(paths: Sequence[Path]) -> tuple[ReadFile, ...]:
    """The files of these paths. Raises NotFound, Misused (no regular file), LimitExceeded (checked before reading)."""
    if len(paths) > limits.attachments_max:
        raise LimitExceeded(
            "attachments of one message", limit="attachments_max", bound=limits.attachments_max, got=len(paths)
        )
    return tuple(_read(path) for path in paths)


def blobs_again(paths: Sequence[Path], sent: Sequence[Attachment], key: str) -> list[str]:
    """The SHA-256 of each file of a command that comes again by KEY.

    A file that cannot be read any more is taken for what was SENT in its place, if that has its name: the bytes are
    in the store. Raises Conflict where it has not: whether the command is the same cannot be told.
    """
    return [_blob_again(path, sent[at] if at < len(sent) else None, key) for at, path in enumerate(paths)]


def keep(tx: Tx, files: Sequence[ReadFile]) -> tuple[Attachment, ...]:
    """Put the bytes into the store; the parts that speak of them."""
    for file in files:
        blobs.put(tx, file.content)
    return tuple(file.part for file in files)


def image_type(content: bytes) -> str | None:
    """The MIME type of a picture that models can see, judged by its first bytes; None for anything else."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _IMAGES.items() if content.startswith(magic)), None)


def _read(path: Path) -> ReadFile:
    try:
        content = _whole(path)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"there is no file {path}", hint="--attach takes the path of a file", path=str(path)) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Misused(f"{path} cannot be read: {why}", hint="attach a file you may read", path=str(path)) from error
    if len(content) > limits.attachment_bytes_max:
        raise LimitExceeded(
            f"the bytes of {path.name}",
            limit="attachment_bytes_max",
            bound=limits.attachment_bytes_max,
            got=max(len(content), path.stat().st_size),
        )
    return ReadFile(part=_described(path.name, content), content=content)


def _whole(path: Path) -> bytes:
    """The bytes of PATH, as many as may be and one more. Raises Misused where it is no regular file, also where it has
    become one that would be waited for since it was looked at."""
    _must_be_regular(path, path.stat())
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _must_be_regular(path, os.fstat(handle))
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(limits.attachment_bytes_max + 1) or b""
    finally:
        os.close(handle)


def _must_be_regular(path: Path, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise Misused(f"{path} is no regular file", hint="attach one file at a time", path=str(path))


def _blob_again(path: Path, sent: Attachment | None, key: str) -> str:
    try:
        return _read(path).part.blob
    except (NotFound, Misused) as gone:
        if sent is not None and sent.name == _spelled(path.name):
            return sent.blob
        raise Conflict(
            f"the key '{key}' was used, and {path} cannot be read: whether this is the same command cannot be told",
            hint="put the file back, or use a key of its own for another command",
            key=key,
            path=str(path),
        ) from gone


def _spelled(name: str) -> str:
    """The name of a file as a message has it: bytes that are no UTF-8 are spelled out."""
    return name.encode(errors="backslashreplace").decode()


def _described(name: str, content: bytes) -> Attachment:
    image = image_type(content)
    return Attachment(
        blob=sha256(content).hexdigest(),
        media="image" if image else "file",
        name=_spelled(name),
        mime=image or _type_by_name(name) or _plain_type(content),
        size=len(content),
    )


def _type_by_name(name: str) -> str | None:
    """What the ending of NAME says, but for pictures: models are sent those by their type, and would refuse these."""
    found = mimetypes.guess_type(name)[0]
    return None if found in fences.PICTURES else found


def _plain_type(content: bytes) -> str:
    try:
        is_text = "\0" not in content.decode()
    except UnicodeDecodeError:
        is_text = False
    return "text/plain" if is_text else "application/octet-stream"
