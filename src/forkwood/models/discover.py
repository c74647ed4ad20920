"""Which servers answer and what they offer: all asked at once, within one bound of time, each failure its own note."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from forkwood import wire
from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, ProviderFailed
from forkwood.domain.masking import echoable, masked_text
from forkwood.domain.settings import Settings
from forkwood.models import catalog, http, listing, names
from forkwood.models.catalog import Kind, Known
from forkwood.models.failures import Peer
from forkwood.models.keys import Keys
from forkwood.models.listing import Offer
from forkwood.models.remote import DIALECTS

LOCAL_SERVERS = "FORKWOOD_LOCAL_SERVERS"
"""A list of addresses with commas, in place of the usual ports; empty: none."""
SPARE_SECONDS = 0.1
"""What is kept of the time to tell what came, where details come late."""
SILENT = frozenset({"unreachable", "transport", "protocol", "not_found", "timeout"})
"""How a usual port fails where some other program listens there, or none."""


class Asked(Struct, frozen=True, kw_only=True):
    """A server to ask. `named` is False for a usual port: it is called by what answers there, and may be silent."""

    provider: Known
    named: bool = True
    usual: bool = False
    model: str | None = None
    """The only model whose details matter."""


class Found(Struct, frozen=True, kw_only=True):
    """What a server said: its offers, or in `failure` why there are none."""

    provider: Known
    offers: tuple[Offer, ...] = ()
    failure: ProviderFailed | None = None
    silent: bool = False
    """Nobody had said that a model server is there, so that none is nothing to tell."""


def servers(settings: Settings, environ: Mapping[str, str]) -> tuple[Asked, ...]:
    """The servers that need no key: those SETTINGS name, also as the address of the model that is set, and the usual
    ports or what stands in their place in ENVIRON.

    Raises Misused for an address in ENVIRON that is none.
    """
    known = catalog.providers(settings.providers)
    mine = [
        Asked(provider=provider)
        for name, provider in known.items()
        if name in settings.providers and settings.providers[name].url is not None and _is_open(provider)
    ]
    taken = {asked.provider.name for asked in mine}
    mine += _of_the_model_set(settings)
    if LOCAL_SERVERS in environ:
        addresses = (address.strip() for address in environ[LOCAL_SERVERS].split(","))
        return (*mine, *(_unnamed(names.url_of(address)) for address in addresses if address))
    usual = (known[entry.name] for entry in catalog.LOCAL if entry.name not in taken)
    return (*mine, *(Asked(provider=provider, named=False, usual=True) for provider in usual))


def _of_the_model_set(settings: Settings) -> list[Asked]:
    """The server that a person named by its address, as the model that is set."""
    match names.parse(settings.model) if settings.model else None:
        case names.AtUrl(url=url):
            return [Asked(provider=catalog.at_url(url, settings.providers))]
        case _:
            return []


async def ask_all(asked: Sequence[Asked], keys: Keys, seconds: float) -> tuple[Found, ...]:
    """What each of ASKED offers, within SECONDS in all; a failure of one is told in its place and holds up no other."""
    until = asyncio.get_running_loop().time() + seconds
    found = await asyncio.gather(*(_isolated(server, keys, until) for server in asked))
    return _called_by_kind(asked, found)


async def _isolated(asked: Asked, keys: Keys, until: float) -> Found:
    provider = asked.provider
    ask = _ask_local if provider.local or not provider.keys or provider.dialect == "ollama" else _ask_cloud
    try:
        return await _with_keys(provider, keys, lambda key: _masked(ask, _Asking(asked, key, until, keys.others())))
    except ProviderFailed as failed:
        silent = asked.usual and failed.reason in SILENT
        return Found(provider=asked.provider, failure=failed, silent=silent)
    except ForkwoodError as error:
        return Found(provider=asked.provider, failure=ProviderFailed("protocol", error.message, hint=error.hint))


async def _with_keys(provider: Known, keys: Keys, ask: Callable[[str | None], Coroutine[Any, Any, Found]]) -> Found:
    """What ASK gives with the first key that is accepted; without any key where there is none."""
    references = [reference for reference in provider.keys if keys.present(reference)]
    for reference in references[:-1]:
        try:
            return await ask(keys(reference))
        except ProviderFailed as failed:
            if failed.reason != "auth":
                raise
    return await ask(keys(references[-1]) if references else None)


async def _masked(ask: Callable[[_Asking], Coroutine[Any, Any, Found]], asking: _Asking) -> Found:
    """What ASK finds, each model by a name without secrets: a server may list what it was sent."""
    found = await ask(asking)
    offers = (replace(offer, model=masked_text(offer.model, asking.secrets)) for offer in found.offers)
    return replace(found, offers=tuple({offer.model: offer for offer in offers}.values()))


class _Asking:
    """Asks one server within its time. OTHERS are further secrets that nothing it says may hold."""

    def __init__(self, asked: Asked, key: str | None, until: float, others: tuple[str, ...]) -> None:
        self.provider = provider = asked.provider
        self.model = asked.model
        self.own_routes = provider.dialect == "ollama" or not asked.named or _is_bare(provider)
        """Whether an Ollama here is spoken to on its own routes: not where a person named the compatible ones."""
        self.until = until
        secrets = (*((key,) if key else ()), *others)
        self.secrets = echoable(secrets)
        self._peer = Peer(provider=provider.name, secrets=secrets)
        headers = DIALECTS[provider.dialect].headers(key)
        self._credential = http.Credential(origin=http.origin_of(provider.url), headers=headers)

    @property
    def root(self) -> str:
        """Where a local server's own routes begin, beside the compatible ones."""
        return self.provider.url.removesuffix(catalog.COMPATIBLE)

    async def get(self, url: str, body: Any = None, *, spare: float = 0.0) -> Any:
        """The JSON at URL. Raises ProviderFailed."""
        within = self.until - spare - asyncio.get_running_loop().time()
        return await http.get_json(
            url,
            peer=self._peer,
            within=max(0.001, within),
            now=time.time,
            credential=self._credential,
            body=None if body is None else wire.encode(body),
        )

    async def detail(self, path: str, body: Any = None) -> Any:
        """The JSON at PATH of this server's own routes, or None where it has no such or is late."""
        try:
            return await self.get(f"{self.root}{path}", body, spare=SPARE_SECONDS)
        except ProviderFailed:
            return None


async def _ask_cloud(asking: _Asking) -> Found:
    provider = asking.provider
    match provider.kind:
        case "anthropic":
            offers = listing.anthropic(await asking.get(f"{provider.url}/models?limit=1000"))
        case "google":
            offers = listing.google(await asking.get(f"{provider.url}/models?pageSize=1000"))
        case _:
            offers = listing.openai(await asking.get(f"{provider.url}/models"))
    return Found(provider=provider, offers=offers)


async def _ask_local(asking: _Asking) -> Found:
    """Every local server answers the compatible list; its own routes then say what it is, and more."""
    provider = asking.provider
    if provider.dialect not in {"chat", "ollama"}:
        return await _ask_cloud(asking)
    try:
        plain = await asking.get(f"{catalog.compatible(provider).url}/models")
    except ProviderFailed as failed:
        if failed.reason == "not_found" and _is_bare(provider) and (found := await _tags(asking)):
            return await _ollama(asking, found)
        raise
    offers = listing.openai(plain)
    if listing.is_vllm(plain):
        return _found(asking, "vllm", offers)
    properties, tags, studio = await asyncio.gather(
        asking.detail("/props"), _tags(asking), asking.detail("/api/v0/models")
    )
    if listing.is_llamacpp(plain, properties):
        return _found(asking, "llamacpp", listing.llamacpp(offers, properties))
    if tags:
        return await _ollama(asking, tags)
    if found := listing.lmstudio(studio):
        return _found(asking, "lmstudio", found)
    if not listing.is_list(plain):
        raise ProviderFailed(
            "protocol", f"{provider.url} lists no models", hint="it may not be a model server: check its address"
        )
    return _found(asking, "openai", offers)


async def _tags(asking: _Asking) -> tuple[Offer, ...]:
    return listing.ollama(await asking.detail("/api/tags"))


async def _ollama(asking: _Asking, offers: tuple[Offer, ...]) -> Found:
    meant = {asking.model, f"{asking.model}:latest"}
    wanted = [offer.model for offer in offers if asking.model is None or offer.model in meant]
    wanted = wanted[: limits.details_asked_max]
    running, *shown = await asyncio.gather(
        asking.detail("/api/ps"), *(asking.detail("/api/show", {"model": model}) for model in wanted)
    )
    details = dict(zip(wanted, shown, strict=True))
    told = tuple(listing.ollama_shown(offer, details.get(offer.model)) for offer in offers)
    told = listing.ollama_loaded(told, running)
    if not asking.own_routes:
        return _found(asking, "ollama", told)
    asked = tuple(listing.ollama_asked(offer, details.get(offer.model)) for offer in told)
    found = _found(asking, "ollama", asked)
    return replace(found, provider=catalog.native(found.provider))


def _found(asking: _Asking, kind: Kind, offers: tuple[Offer, ...]) -> Found:
    return Found(provider=catalog.of_kind(asking.provider, kind), offers=offers)


def _called_by_kind(asked: Sequence[Asked], found: Sequence[Found]) -> tuple[Found, ...]:
    """FOUND with each unnamed server called by its kind; a second one of a kind goes by its address."""
    taken = {server.provider.name for server in asked if server.named}
    named: list[Found] = []
    for server, said in zip(asked, found, strict=True):
        name = said.provider.name
        if not server.named and said.failure is None:
            kind = said.provider.kind
            name = said.provider.url if kind == "openai" or kind in taken else kind
            taken.add(name)
        named.append(replace(said, provider=replace(said.provider, name=name)))
    return tuple(named)


def _is_open(provider: Known) -> bool:
    return provider.local or not provider.keys


def _is_bare(provider: Known) -> bool:
    """Whether its address says nothing of routes."""
    return not urlsplit(provider.url).path


def _unnamed(url: str) -> Asked:
    url = url if url.endswith("/v1") else f"{url}/v1"
    return Asked(provider=Known(name=url, url=url, dialect="chat", kind="openai", local=True), named=False)
