"""The real command in a process of its own: exit codes, streams, and what is loaded to say the version."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forkwood import __version__


def forkwood(*arguments: str, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "forkwood", *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **environ},
        timeout=60,
        check=False,
    )


def test_the_version_is_said_without_loading_anything() -> None:
    program = (
        "import sys; sys.argv = ['forkwood', '--version']\n"
        "from forkwood.__main__ import main\nmain()\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'click', 'msgspec', 'apsw', 'rich', 'asyncio'}))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout == f"forkwood {__version__}\n[]\n"


@pytest.mark.parametrize("command", ("path", "ls"))
def test_reading_loads_nothing_that_only_talking_needs(command: str) -> None:
    program = (
        "import sys\nfrom forkwood.__main__ import run\n"
        f"run(['new']); run(['{command}'])\n"
        "heavy = {'rich', 'asyncio', 'httpx2', 'prompt_toolkit', 'genai_prices', 'keyring', 'tomlkit', 'ssl'}\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & heavy))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.splitlines()[-1] == "[]"


def test_exit_codes_and_streams_are_the_commands() -> None:
    told = forkwood("path")
    assert (told.returncode, told.stdout) == (3, b"")
    assert told.stderr.startswith(b"forkwood: there is no current conversation")
    as_json = forkwood("path", "--json")
    assert (as_json.returncode, as_json.stderr) == (3, b"")
    assert as_json.stdout.startswith(b'{"error":{"kind":"not_found"')


def test_bytes_that_are_no_text_are_refused_from_the_shell_too() -> None:
    forkwood("new")
    refused = subprocess.run(
        [sys.executable.encode(), b"-m", b"forkwood", b"send", b"a\xff"], capture_output=True, timeout=60, check=False
    )
    assert (refused.returncode, b"byte 1" in refused.stderr) == (2, True)


@pytest.mark.parametrize("encoding", ("ascii", "latin-1", "utf-8"))
def test_no_locale_makes_it_fail(encoding: str) -> None:
    forkwood("new", "--title", "你好 ‹›")
    shown = forkwood("ls", PYTHONIOENCODING=encoding)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert "你好 ‹›".encode(encoding, "backslashreplace") in shown.stdout


def test_a_reader_that_left_is_no_error() -> None:
    forkwood("new")
    process = subprocess.Popen(
        [sys.executable, "-m", "forkwood", "log"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy()
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), complaint) == (0, b"")


@pytest.mark.parametrize(("closed", "code"), (("<&-", 2), (">&-", 2), ("2>&-", 2)))
def test_closed_streams_are_streams_of_nothing(closed: str, code: int) -> None:
    forkwood("new")
    command = f'"{sys.executable}" -m forkwood send - {closed}'
    assert subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, timeout=60, check=False).returncode == code


@pytest.mark.parametrize(("given", "code"), (("--version >/dev/full", 1), ("--version >&-", 0), ("ls >/dev/full", 1)))
def test_the_exit_code_holds_where_nothing_can_be_written(given: str, code: int) -> None:
    ran = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m forkwood {given}'], capture_output=True, timeout=60, check=False
    )
    assert ran.returncode == code
    assert ran.stderr.count(b"cannot be written: No space left") == code
    assert b"Traceback" not in ran.stderr


@pytest.mark.parametrize("as_json", ("", "--json"))
def test_a_reply_that_cannot_be_written_is_kept_whole(tmp_path: Path, as_json: str) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"text": "one two three four", "chunk": 4}]}')
    ran = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m forkwood send hi --model "scripted:{script}" {as_json} >/dev/full'],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr.count(b"cannot be written"), b"Traceback" in ran.stderr) == (1, 1, False)
    kept = forkwood("path", "--json")
    assert b'"text":"one two three four"' in kept.stdout and b'"partial":true' not in kept.stdout


def test_ctrl_c_outside_of_all_work_is_130() -> None:
    program = (
        "import sys, unittest.mock as mock\nsys.argv = ['forkwood', 'ls']\nimport forkwood.__main__ as main\n"
        "with mock.patch.object(main, 'run', side_effect=KeyboardInterrupt): main.main()"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (130, b"")


@pytest.mark.parametrize(("text", "told"), (("hi", True), ("-", False)))
def test_text_beside_a_pipe_that_holds_words_is_said_to_be_all_that_is_sent(text: str, told: bool) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"words")
    os.close(writing)
    with os.fdopen(reading) as pipe:
        ran = subprocess.run(
            [sys.executable, "-m", "forkwood", "send", text, "--no-run"],
            stdin=pipe,
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert (ran.returncode, b"was not read: TEXT was given" in ran.stderr) == (0, told)
