"""The sender against a real server: what is sent, what fails and how, and that closing closes."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from forkwood.domain import limits
from forkwood.domain.errors import FailureKind, ProviderFailed
from forkwood.domain.settings import Timeouts
from forkwood.models.failures import Peer
from forkwood.models.http import Credential, Outgoing, get_json, opened, origin_of
from tests.replay import Hold, Played, Replay, replaying

PEER = Peer(provider="acme", secrets=("top-secret-key",))
PLAIN = Timeouts()
NOW = 1_800_000_000.0
PATIENT = 60.0
"""Seconds in which any machine gets there; what never comes fails its test."""
JSON = (("Content-Type", "application/json"),)


@pytest.fixture
async def replay() -> AsyncIterator[Replay]:
    async with replaying() as server:
        yield server


async def post(
    replay: Replay, body: bytes = b"{}", *, timeouts: Timeouts = PLAIN, credential: Credential | None = None
) -> bytes:
    """All bytes of the response."""
    outgoing = Outgoing(
        url=f"{replay.origin}/v1/x", body=body, headers={"accept": "text/event-stream"}, credential=credential
    )
    came = b""
    async with opened(outgoing, timeouts, PEER, lambda: NOW) as incoming:
        while chunk := await incoming.read():
            came += chunk
    return came


async def failing(replay: Replay, *, timeouts: Timeouts = PLAIN) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as caught:
        await post(replay, timeouts=timeouts)
    return caught.value


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
async def test_bytes_go_out_and_come_back_as_they_are(replay: Replay, framing: Any) -> None:
    replay.play(Played(body=(b"data: a\r", b"\n\xff\n"), framing=framing))
    assert await post(replay, b'{"a":"\xc3\xa9"}') == b"data: a\r\n\xff\n"
    (request,) = replay.requests
    assert request.head.startswith(b"POST /v1/x HTTP/1.1\r\n")
    assert request.body == b'{"a":"\xc3\xa9"}'
    sent = {name: request.header(name) for name in ("accept", "accept-encoding", "content-type", "user-agent")}
    assert sent == {
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": "forkwood",
    }
    assert request.header("authorization") is None
    assert request.header("cookie") is None


async def test_a_credential_goes_to_its_own_origin_alone(replay: Replay) -> None:
    replay.play(Played(body=(b"x",)))
    headers = {"authorization": "Bearer top-secret-key"}
    await post(replay, credential=Credential(origin=origin_of(replay.origin), headers=headers))
    assert replay.requests[0].header("authorization") == "Bearer top-secret-key"
    with pytest.raises(ProviderFailed) as caught:
        await post(replay, credential=Credential(origin="https://api.acme.com:443", headers=headers))
    assert caught.value.reason == "auth"
    assert len(replay.requests) == 1
    assert "top-secret" not in repr(Credential(origin="o", headers=headers))


async def test_a_key_that_no_header_can_carry_is_told_without_it(replay: Replay) -> None:
    bad = Credential(origin=origin_of(replay.origin), headers={"x-api-key": "top-secret-key\r\nx: y"})
    with pytest.raises(ProviderFailed) as caught:
        await post(replay, credential=bad)
    assert caught.value.reason == "auth"
    assert "top-secret" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.acme.com/v1/x?y", "https://api.acme.com:443"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://[::1]/v1", "http://::1:80"),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_an_error_and_is_not_followed(replay: Replay, status: int) -> None:
    where = ("Location", f"{replay.origin}/elsewhere?token=abc")
    replay.play(Played(status=status, headers=(where,), framing="length"))
    failed = await failing(replay)
    assert (failed.reason, failed.facts["status"]) == ("protocol", status)
    assert "/elsewhere, which is not followed" in failed.message and "abc" not in failed.message
    assert len(replay.requests) == 1


async def test_an_error_status_is_told_in_the_providers_words(replay: Replay) -> None:
    body = b'{"error":{"message":"slow down, top-secret-key","type":"rate_limit_error"}}'
    replay.play(Played(status=429, headers=(*JSON, ("Retry-After", "3")), body=(body[:9], body[9:])))
    failed = await failing(replay)
    assert (failed.reason, failed.retry_after) == ("rate_limit", 3.0)
    assert failed.message == "acme answered 429: slow down, [secret] (rate_limit_error)"


async def test_an_error_body_is_read_up_to_a_bound_and_survives_a_reset(replay: Replay) -> None:
    replay.play(Played(status=500, body=(b"<p>oops</p>" + b" " * limits.error_body_bytes_max, Hold(asyncio.Event()))))
    assert (await failing(replay)).facts["words"] == "oops"
    replay.play(Played(status=500, body=(b"oo", "reset")))
    assert (await failing(replay)).reason == "unavailable"


async def test_nobody_there_is_unreachable() -> None:
    async with replaying() as server:
        gone = server
    failed = await failing(gone)
    assert failed.reason == "unreachable"
    assert "acme cannot be reached" in failed.message and "acme runs" in failed.hint


@pytest.mark.parametrize("step", ["reset", "eof"])
async def test_a_connection_lost_in_mid_stream_is_a_transport_failure(replay: Replay, step: Any) -> None:
    replay.play(Played(body=(b"data: a\n\n", step)))
    assert (await failing(replay)).reason == "transport"


async def test_no_first_byte_in_time(replay: Replay) -> None:
    never = Hold(asyncio.Event())
    short = Timeouts(connect=2.0, first_byte=PATIENT, first_byte_local=0.05, stall=PATIENT)
    replay.play(Played(before=never), Played(body=(never,)))
    for _ in range(2):
        async with asyncio.timeout(PATIENT):
            failed = await failing(replay, timeouts=short)
        assert (failed.reason, "no first byte" in failed.message) == ("timeout", True)


async def test_a_stall_between_bytes(replay: Replay) -> None:
    replay.play(Played(body=(b"a", Hold(asyncio.Event()))))
    failed = await failing(replay, timeouts=Timeouts(stall=0.05))
    assert (failed.reason, "stopped sending" in failed.message) == ("timeout", True)


async def test_more_bytes_than_a_response_may_have(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "response_bytes_max", 4)
    replay.play(Played(body=(b"1234",)), Played(body=(b"1234", b"5")))
    assert await post(replay) == b"1234"
    assert (await failing(replay)).reason == "protocol"


async def test_a_body_packed_though_nobody_asked_is_unpacked_and_nonsense_told(replay: Replay) -> None:
    packed = (("Content-Encoding", "gzip"),)
    replay.play(
        Played(headers=packed, body=(gzip.compress(b"data: a\n\n"),)), Played(headers=packed, body=(b"nonsense",))
    )
    assert await post(replay) == b"data: a\n\n"
    assert (await failing(replay)).reason == "protocol"


async def test_leaving_closes_the_socket_at_once(replay: Replay) -> None:
    replay.play(Played(body=(b"data: a\n\n", Hold(asyncio.Event()))))
    outgoing = Outgoing(url=replay.origin, body=b"{}")
    async with opened(outgoing, Timeouts(), PEER, lambda: NOW) as incoming:
        await incoming.read()
    await asyncio.wait_for(replay.requests[0].gone.wait(), PATIENT)


async def test_a_cancelled_task_closes_the_socket_at_once(replay: Replay) -> None:
    arrived = asyncio.Event()
    replay.play(Played(body=(b"data: a\n\n", Hold(asyncio.Event()))))

    async def follow() -> None:
        async with opened(Outgoing(url=replay.origin, body=b"{}"), Timeouts(), PEER, lambda: NOW) as incoming:
            await incoming.read()
            arrived.set()
            await incoming.read()

    task = asyncio.create_task(follow())
    await arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(replay.requests[0].gone.wait(), PATIENT)


async def test_no_proxy_of_the_environment_stands_between_us_and_this_machine(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    replay.play(Played(body=(b"x",)))
    assert await post(replay) == b"x"


@pytest.fixture
def named(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> str:
    """The origin of the replay server under a name that is not this machine's."""
    real = socket.getaddrinfo

    def found(host: Any, *more: Any, **named: Any) -> Any:
        return real("127.0.0.1" if host in ("models.example", b"models.example") else host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", found)
    return f"http://models.example:{replay.origin.rpartition(':')[2]}"


@pytest.fixture
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Replay]:
    """A proxy that the environment names for everything."""
    async with replaying() as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, server.origin)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        yield server


async def said_by(url: str) -> bytes:
    """The first bytes of the response to a question that carries a key."""
    credential = Credential(origin=origin_of(url), headers={"authorization": "Bearer top-secret-key"})
    async with opened(Outgoing(url=url, body=b"{}", credential=credential), PLAIN, PEER, lambda: NOW) as incoming:
        return await incoming.read()


async def test_a_key_over_plain_http_is_shown_to_no_proxy(replay: Replay, named: str, proxy: Replay) -> None:
    replay.play(Played(body=(b"x",)))
    assert await said_by(f"{named}/v1") == b"x"
    assert replay.requests[0].header("authorization") == "Bearer top-secret-key"
    assert proxy.requests == []


async def test_over_tls_a_proxy_is_asked_for_a_tunnel_and_sees_no_key(proxy: Replay) -> None:
    with pytest.raises(ProviderFailed):
        await said_by("https://models.example/v1")
    (request,) = proxy.requests
    assert request.head.startswith(b"CONNECT models.example:443 ")
    assert b"top-secret" not in request.head + request.body


async def asked(replay: Replay, within: float = PATIENT) -> Any:
    return await get_json(f"{replay.origin}/v1/models", peer=PEER, within=within, now=lambda: NOW)


async def test_json_is_asked_for(replay: Replay) -> None:
    replay.play(Played(headers=JSON, body=(b'{"data":', b"[1]}")))
    assert await asked(replay) == {"data": [1]}
    assert replay.requests[0].head.startswith(b"GET /v1/models HTTP/1.1\r\n")
    assert replay.requests[0].header("content-type") is None


@pytest.mark.parametrize(
    ("played", "kind"),
    [
        (Played(body=(b"<html>hi",)), "protocol"),
        (Played(body=()), "protocol"),
        (Played(status=404, body=(b"no",)), "not_found"),
        (Played(status=401, body=(b"no",)), "auth"),
        (Played(body=(b"{", "reset")), "transport"),
        (Played(body=(b"{", Hold(asyncio.Event()))), "timeout"),
    ],
)
async def test_json_that_does_not_come(replay: Replay, played: Played, kind: FailureKind) -> None:
    replay.play(played)
    with pytest.raises(ProviderFailed) as caught:
        await asked(replay, 0.2 if kind == "timeout" else PATIENT)
    assert caught.value.reason == kind


async def test_a_listing_has_a_bound(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "listing_bytes_max", 4)
    replay.play(Played(body=(b"1234",)), Played(body=(b"12345",)))
    assert await asked(replay) == 1234
    with pytest.raises(ProviderFailed) as caught:
        await asked(replay)
    assert "4 bytes" in caught.value.message


async def test_headers_that_come_byte_by_byte_are_waited_for_no_longer_than_a_first_byte() -> None:
    gone = asyncio.Event()

    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nx: ")
        with suppress(ConnectionError):
            for _step in range(6_000):
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0.01)
        gone.set()
        writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/x"
        timeouts = Timeouts(connect=0.5, first_byte=0.5, first_byte_local=0.5, stall=PATIENT)
        with pytest.raises(ProviderFailed) as caught:
            async with opened(Outgoing(url=url, body=b"{}"), timeouts, PEER, lambda: NOW):
                pass
        await gone.wait()
    assert caught.value.reason == "timeout"
