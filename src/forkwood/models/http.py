"""The one sender: a request to a model server and its bytes back, with time-outs, bounds, and keys kept at home."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import ProviderFailed
from forkwood.domain.settings import Timeouts
from forkwood.models import failures
from forkwood.models.failures import Peer
from forkwood.models.names import is_loopback

if TYPE_CHECKING:
    import httpx2

_PLAIN = {"accept-encoding": "identity", "user-agent": "forkwood"}
_PORTS = {"http": 80, "https": 443}
_QUOTED = re.compile(r"""\b(?:bytearray\()?b(?:'.*'|".*")\)?""", re.DOTALL)
"""Bytes of the other side in the words of a library: they may be any piece of what the server echoes."""


class Credential(Struct, frozen=True, kw_only=True):
    """Headers with a secret, and the one origin they may be sent to."""

    origin: str
    headers: dict[str, str]

    def __repr__(self) -> str:
        return f"Credential(origin={self.origin!r})"


class Outgoing(Struct, frozen=True, kw_only=True):
    """What is sent: a POST of BODY, or a GET where there is none."""

    url: str
    body: bytes | None = None
    headers: dict[str, str] = {}
    credential: Credential | None = None


class Incoming:
    """A response that began well. `read` gives its bytes as they come."""

    def __init__(self, response: httpx2.Response, peer: Peer, first: float, stall: float) -> None:
        encoded = response.headers.get("content-encoding", "identity") != "identity"
        self.status = response.status_code
        self.content_type: str = response.headers.get("content-type", "")
        self._bytes = response.aiter_bytes() if encoded else response.aiter_raw()
        self._peer = peer
        self._deadline: float | None = first
        self._stall = stall
        self._left = limits.response_bytes_max

    async def read(self, within: float | None = None) -> bytes:
        """The next bytes, none at the end; WITHIN seconds, or else as settings say.

        Raises ProviderFailed: `timeout`, `transport`, or `protocol` for more bytes than a response may have.
        """
        clock = asyncio.get_running_loop().time
        until = self._deadline if self._deadline is not None else clock() + (within or self._stall)
        try:
            with _told(self._peer):
                async with asyncio.timeout_at(until):
                    chunk = await anext(self._bytes, b"")
        except TimeoutError:
            what = "sent no first byte" if self._deadline is not None else "stopped sending"
            raise failures.failure(self._peer, "timeout", f"{self._peer.provider} {what} in time") from None
        self._deadline = None
        self._left -= len(chunk)
        if self._left < 0:
            raise failures.failure(
                self._peer,
                "protocol",
                f"{self._peer.provider} sent more than {limits.response_bytes_max:,} bytes for one reply",
            )
        return chunk


@asynccontextmanager
async def opened(
    outgoing: Outgoing, timeouts: Timeouts, peer: Peer, now: Callable[[], float]
) -> AsyncIterator[Incoming]:
    """The response to OUTGOING once it began well; leaving closes the socket at once. NOW gives Unix seconds.

    Raises ProviderFailed by kind for whatever else comes: no connection, a time-out, an error status, a redirect.
    """
    import httpx2

    local, secure = is_loopback(outgoing.url), outgoing.url.startswith("https:")
    first = timeouts.first_byte_local if local else timeouts.first_byte
    waits = httpx2.Timeout(connect=timeouts.connect, read=first, write=first, pool=None)
    headers = _headers(outgoing, peer)
    # A proxy named in the environment sees a mere tunnel where the connection is TLS, and the key where it is not.
    client = httpx2.AsyncClient(timeout=waits, trust_env=secure and not local, verify=_trust(secure=secure))
    async with client:
        began = asyncio.get_running_loop().time()
        until = began + timeouts.connect + first
        with _told(peer):
            request = client.build_request(
                "GET" if outgoing.body is None else "POST", outgoing.url, content=outgoing.body, headers=headers
            )
            response = await _headed(client, request, peer, until)
        try:
            incoming = Incoming(response, peer, until, timeouts.stall)
            if response.status_code >= 300:
                raise await _refusal(response, incoming, peer, now())
            yield incoming
        finally:
            await response.aclose()


async def _headed(client: httpx2.AsyncClient, request: httpx2.Request, peer: Peer, until: float) -> httpx2.Response:
    """The response to REQUEST with its headers, UNTIL then: the client's own time-outs begin anew with each byte."""
    try:
        async with asyncio.timeout_at(until):
            return await client.send(request, stream=True)
    except TimeoutError:
        raise failures.failure(peer, "timeout", f"{peer.provider} sent no whole headers in time") from None


async def get_json(
    url: str,
    *,
    peer: Peer,
    within: float,
    now: Callable[[], float],
    credential: Credential | None = None,
    body: bytes | None = None,
) -> Any:
    """The JSON value at URL (with BODY: the answer to a POST of it), asked for once and had WITHIN seconds in all.

    Raises ProviderFailed by kind: also `timeout`, and `protocol` for what is no JSON or more than listing_bytes_max.
    """
    timeouts = Timeouts(connect=within, first_byte=within, first_byte_local=within, stall=within)
    outgoing = Outgoing(url=url, body=body, headers={"accept": "application/json"}, credential=credential)
    try:
        async with asyncio.timeout(within), opened(outgoing, timeouts, peer, now) as incoming:
            body, whole = await _body(incoming, limits.listing_bytes_max)
    except TimeoutError:
        raise failures.failure(
            peer, "timeout", f"{peer.provider} did not answer within {within:g} s", url=url
        ) from None
    if not whole:
        bound = limits.listing_bytes_max
        raise failures.failure(peer, "protocol", f"{peer.provider} sent more than {bound:,} bytes of listing", url=url)
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise failures.unexpected(peer, incoming.status, incoming.content_type, body) from None


def origin_of(url: str) -> str:
    """Scheme, host and port of URL: what a credential belongs to."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{parts.port or _PORTS.get(parts.scheme, 0)}"


def _headers(outgoing: Outgoing, peer: Peer) -> dict[str, str]:
    headers = {**_PLAIN, **outgoing.headers}
    if outgoing.body is not None:
        headers["content-type"] = "application/json"
    credential = outgoing.credential
    if credential is None:
        return headers
    origin = origin_of(outgoing.url)
    if credential.origin != origin:
        raise failures.failure(peer, "auth", f"The key for {credential.origin} is not sent to {origin}", origin=origin)
    if not all(value.isascii() and value.isprintable() for value in credential.headers.values()):
        raise failures.failure(peer, "auth", f"The key for {peer.provider} holds characters that no header can carry")
    return headers | credential.headers


@cache
def _trust(*, secure: bool) -> ssl.SSLContext:
    """What certificates are believed; where there will be none, a context that costs nothing to make."""
    if not secure:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    import httpx2

    return httpx2.create_ssl_context()


@contextmanager
def _told(peer: Peer) -> Iterator[None]:
    """Tell failures of the connection as ProviderFailed, by kind."""
    import httpx2

    try:
        yield
    except httpx2.ConnectTimeout:
        raise failures.failure(peer, "timeout", f"{peer.provider} did not take the connection in time") from None
    except httpx2.TimeoutException:
        raise failures.failure(peer, "timeout", f"{peer.provider} sent no first byte in time") from None
    except (httpx2.ConnectError, httpx2.ProxyError, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
        raise failures.failure(peer, "unreachable", _worded(peer, "cannot be reached", error)) from None
    except httpx2.DecodingError as error:
        raise failures.failure(peer, "protocol", _worded(peer, "sent what cannot be unpacked", error)) from None
    except httpx2.TransportError as error:
        raise failures.failure(peer, "transport", _worded(peer, "lost the connection", error)) from None


def _worded(peer: Peer, what: str, error: Exception) -> str:
    words = failures.clean(_QUOTED.sub("…", str(error)), peer) or type(error).__name__
    return f"{peer.provider} {what}: {words}"


async def _refusal(response: httpx2.Response, incoming: Incoming, peer: Peer, now: float) -> ProviderFailed:
    """What a response with another status than success says. A redirect is told, and never followed."""
    status = response.status_code
    if status < 400:
        where = response.headers.get("location", "nowhere").partition("?")[0]
        said = f"{peer.provider} answered {status}, a redirect to {failures.clean(where, peer)}, which is not followed"
        return failures.failure(peer, "protocol", said, status=status)
    try:
        body, _ = await _body(incoming, limits.error_body_bytes_max)
    except ProviderFailed:
        body = b""
    headers: Mapping[str, str] = {key.lower(): value for key, value in response.headers.items()}
    return failures.from_response(peer, status, headers, body, now)


async def _body(incoming: Incoming, bytes_max: int) -> tuple[bytes, bool]:
    """What INCOMING holds up to BYTES_MAX, and whether that is all of it."""
    body = bytearray()
    while len(body) <= bytes_max and (chunk := await incoming.read()):
        body += chunk
    return bytes(body[:bytes_max]), len(body) <= bytes_max
