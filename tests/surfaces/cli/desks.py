"""A command line in this process: bytes in, bytes out, exit code; and a screen that only seems to be one."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any
from unittest import mock

import msgspec
from msgspec import Struct

from forkwood.surfaces.cli.app import carry_out
from forkwood.surfaces.cli.desk import Desk
from forkwood.surfaces.cli.terminal import Terminal


class Ran(Struct, frozen=True, kw_only=True):
    """What came of a command line."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """The one JSON value on standard output."""
        return msgspec.json.decode(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON Lines on standard output. Only a line feed ends one: text may hold what Python splits lines at."""
        return [msgspec.json.decode(line) for line in self.out.removesuffix("\n").split("\n") if self.out]


class Stream(io.TextIOWrapper):
    """A standard stream in memory; IS_SCREEN: whether it claims to be a terminal."""

    def __init__(self, content: bytes = b"", *, is_screen: bool = False, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(content), encoding=encoding, write_through=True)
        self.is_screen = is_screen

    def isatty(self) -> bool:
        return self.is_screen

    @property
    def written(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode(self.encoding)


def terminal(stdin: bytes = b"", *, is_screen: bool = False, encoding: str = "utf-8", **environ: str) -> Terminal:
    """A terminal in memory."""
    return Terminal(
        Stream(stdin, is_screen=is_screen),
        Stream(is_screen=is_screen, encoding=encoding),
        Stream(is_screen=is_screen, encoding=encoding),
        {"TERM": "xterm", **environ},
    )


def written(stream: Any) -> str:
    """What was written to a stream of a terminal in memory."""
    assert isinstance(stream, Stream)
    return stream.written


def run_cli(
    *arguments: str, stdin: bytes = b"", environ: Mapping[str, str] | None = None, encoding: str = "utf-8"
) -> Ran:
    """Carry out one command line as a process with these streams and the environment of the test would."""
    streams = Stream(stdin), Stream(encoding=encoding), Stream(encoding=encoding)
    given = {**os.environ, **(environ or {})}
    with (
        mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
        Desk(Terminal(*streams, given)) as desk,
    ):
        code = carry_out(arguments, desk)
    return Ran(code=code, out=streams[1].written, err=streams[2].written)


def succeed(*arguments: str, **how: Any) -> Ran:
    """The same, where nothing may go wrong."""
    ran = run_cli(*arguments, **how)
    assert ran.code == 0, f"{arguments}: {ran.code} {ran.out} {ran.err}"
    return ran


def given(arguments: Sequence[str], **how: Any) -> Any:
    """The JSON value that a command gives."""
    return succeed(*arguments, "--json", **how).value
