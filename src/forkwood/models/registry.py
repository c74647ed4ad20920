"""What can be reached now, which model is meant where none is named, and a Model for a name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import ForkwoodError, Misused, NotFound, ProviderFailed
from forkwood.domain.model import Binding, Model, ModelListed
from forkwood.domain.settings import Settings
from forkwood.models import catalog, choosing, discover, embedded, embedded_server, names
from forkwood.models.catalog import Known
from forkwood.models.discover import Asked, Found
from forkwood.models.embedded import EmbeddedModel
from forkwood.models.keys import Keys, credential_values
from forkwood.models.listing import Offer
from forkwood.models.names import AtUrl, Named, Scripted
from forkwood.models.remote import RemoteModel
from forkwood.models.scripted import ScriptedModel, check_there

CANDIDATES_SHOWN_MAX = 12
EMBEDDED_ROW = ModelListed(
    name=embedded.NAME,
    provider=embedded.PROVIDER,
    dialect="chat",
    origin=embedded.BINDING.origin,
    note="runs here, needs no server and no key; very small",
    **msgspec.structs.asdict(embedded.TRAITS),
)


class Reached(Struct, frozen=True, kw_only=True):
    """What can be reached now, and in NOTES what could not, in words for people."""

    models: tuple[ModelListed, ...]
    notes: tuple[str, ...]


class Chosen(Struct, frozen=True, kw_only=True):
    """The model that is meant where none is named; WHY says what it was found by, NOTES what was passed over."""

    name: str
    why: str
    notes: tuple[str, ...] = ()


async def survey(settings: Settings, environ: Mapping[str, str], *, remote: bool = False) -> Reached:
    """Everything that can be reached now: local servers, providers with keys, the embedded model.

    With REMOTE the providers with keys are asked for their lists, within limits.remote_listing_seconds; without it each
    has one row that stands for all of its models. Local servers have limits.discovery_seconds in all.
    """
    keys, now = Keys(environ), datetime.now(UTC)
    servers, notes = _servers(settings, environ)
    keyed = _keyed(settings, keys)
    local, cloud = await asyncio.gather(
        discover.ask_all(servers, keys, limits.discovery_seconds),
        discover.ask_all(keyed if remote else (), keys, limits.remote_listing_seconds),
    )
    if not remote:
        cloud = tuple(Found(provider=server.provider) for server in keyed)
    rows = [row for found in (*local, *cloud) for row in choosing.rows(found, now)]
    if embedded_server.missing(Path(settings.home)) is None:
        rows.append(EMBEDDED_ROW)
    name = choosing.first(local, cloud, now) or choosing.standing_for_all(cloud) or embedded.NAME
    if settings.model:
        name = names.spell(names.parse(settings.model))
        rows = rows if name in {row.name for row in rows} else [_set_row(name, settings), *rows]
    marked = (msgspec.structs.replace(row, default=row.name == name) for row in rows)
    return Reached(models=tuple(marked), notes=(*notes, *choosing.notes((*local, *cloud))))


async def reachable(settings: Settings, environ: Mapping[str, str], *, remote: bool = False) -> list[ModelListed]:
    """The models of `survey`: local ones first, then by provider and name; the default is marked."""
    return list((await survey(settings, environ, remote=remote)).models)


async def default_model(settings: Settings, environ: Mapping[str, str]) -> Chosen:
    """The model meant where none is named: the one that is set, a local server that answers, a key, the embedded one.

    A provider with a key is asked for its list, for names are not guessed. Raises ProviderFailed("unreachable") where
    there is nothing at all.
    """
    if settings.model:
        return Chosen(name=settings.model, why="it is set")
    keys, now = Keys(environ), datetime.now(UTC)
    servers, notes = _servers(settings, environ)
    local = await discover.ask_all(servers, keys, limits.discovery_seconds)
    told = [*notes, *choosing.notes(local)]
    if name := choosing.first(local, (), now):
        return Chosen(name=name, why="its server answers", notes=tuple(told))
    for server in _keyed(settings, keys):  # one after the other: nobody is asked who need not be
        cloud = await discover.ask_all((server,), keys, limits.remote_listing_seconds)
        if name := choosing.first((), cloud, now):
            return Chosen(name=name, why="there is a key for it", notes=tuple(told))
        told += choosing.notes(cloud)
    missing = embedded_server.missing(Path(settings.home))
    if missing is None:
        return Chosen(name=embedded.NAME, why="it needs no server and no key", notes=tuple(told))
    raise ProviderFailed(
        "unreachable",
        f"No model can be reached: no local server answers, no key was found. {missing.message}",
        hint=f"{missing.hint}; or start a local server; or `forkwood models key PROVIDER`",
        notes=told,
    )


def is_known(name: str, settings: Settings) -> bool:
    """Whether NAME can be a model of a provider this program knows; nobody is asked. Raises Misused."""
    match names.parse(name):
        case Named(provider=embedded.PROVIDER, model=model):
            return model == embedded_server.MODEL
        case Named(provider=str(provider)):
            return provider in catalog.providers(settings.providers) or provider in settings.providers
        case Named():
            return False
        case _:
            return True


def check_script(name: str) -> None:
    """Raises NotFound where NAME is a script's whose file is not there; as `names.parse` for what is no name."""
    match names.parse(name):
        case Scripted(path=path):
            check_there(Path(path))
        case _:
            pass


async def open_model(name: str, settings: Settings, environ: Mapping[str, str]) -> Model:
    """The model NAME names, with what is known of it.

    Raises NotFound where nobody knows it (facts: `candidates`, what can be reached), ProviderFailed("unreachable")
    where its server is down, ProviderFailed("auth") where its key is missing, and as `names.parse` and `scripted.read`.
    """
    match names.parse(name):
        case Scripted() as script:
            return ScriptedModel.open(script.path)
        case AtUrl() as there:
            return await _open_asked(catalog.at_url(there.url, settings.providers), there.model, settings, environ)
        case Named(provider=embedded.PROVIDER, model=embedded_server.MODEL):
            return EmbeddedModel.open(Path(settings.home), settings.timeouts)
        case Named(provider=str(provider)) as named:
            return await _open_named(provider, named.model, settings, environ)
        case _:
            raise await nobody_knows(name, settings, environ)


async def _open_named(provider: str, model: str, settings: Settings, environ: Mapping[str, str]) -> Model:
    if provider in catalog.without_address(settings.providers):
        raise Misused(
            f"The provider {provider} has no address",
            hint=f"`forkwood config set providers.{provider}.url https://…/v1`",
            provider=provider,
        )
    known = catalog.providers(settings.providers).get(provider)
    if known is None:
        raise await nobody_knows(f"{provider}:{model}", settings, environ)
    if provider in {entry.name for entry in catalog.LOCAL}:
        return await _open_local(known, model, settings, environ)
    if known.dialect in {"chat", "ollama"} and (known.local or not known.keys):
        return await _open_asked(known, model, settings, environ)
    return _remote(known, Offer(model=model), settings, environ)


async def _open_local(known: Known, model: str, settings: Settings, environ: Mapping[str, str]) -> Model:
    """The model of a server that goes by its kind, wherever such a one answers."""
    asked = [msgspec.structs.replace(server, model=model) for server in discover.servers(settings, environ)]
    found = await discover.ask_all(asked, Keys(environ), limits.discovery_seconds)
    server = next((said for said in found if said.provider.name == known.name), None)
    if server is None:
        raise _down(known, f"No server here answers as {known.name}")
    return await _of(server, model, settings, environ)


async def _open_asked(known: Known, model: str, settings: Settings, environ: Mapping[str, str]) -> Model:
    """The model of one server, which is asked what it knows of it."""
    seconds = limits.discovery_seconds if known.local else limits.remote_listing_seconds
    (found,) = await discover.ask_all([Asked(provider=known, model=model)], Keys(environ), seconds)
    return await _of(found, model, settings, environ)


async def _of(found: Found, model: str, settings: Settings, environ: Mapping[str, str]) -> Model:
    """MODEL of a server that was asked. One that is late or lists nothing is believed to know it: it will say."""
    match found.failure and found.failure.reason:
        case "unreachable" | "transport":
            raise _down(found.provider, found.failure.message if found.failure else "")
        case "auth" if found.failure:
            raise found.failure
    offer = next((offer for offer in found.offers if offer.model in {model, f"{model}:latest"}), None)
    if offer is None and found.failure is None and found.provider.kind != "openai":
        raise await nobody_knows(f"{found.provider.name}:{model}", settings, environ)
    return _remote(found.provider, offer or Offer(model=model), settings, environ)


def _remote(known: Known, offer: Offer, settings: Settings, environ: Mapping[str, str]) -> Model:
    keys = Keys(environ)
    present = tuple(reference for reference in known.keys if keys.present(reference))
    if known.keys and not present and not known.local:
        raise _no_key(known)
    return RemoteModel(
        name=choosing.name(known, offer.model),
        binding=Binding(
            provider=known.name, dialect=known.dialect, origin=known.url, model=offer.model, credentials=present
        ),
        traits=choosing.traits(known, offer, datetime.now(UTC)),
        quirks=catalog.quirks_of(known, offer.model),
        timeouts=settings.timeouts,
        resolve=keys,
        masked=credential_values(environ),
    )


def _servers(settings: Settings, environ: Mapping[str, str]) -> tuple[tuple[Asked, ...], list[str]]:
    """The servers that need no key, and notes on settings that lead nowhere."""
    notes = [f"{name} has no address: set providers.{name}.url" for name in catalog.without_address(settings.providers)]
    try:
        return discover.servers(settings, environ), notes
    except ForkwoodError as error:
        return (), [*notes, f"{discover.LOCAL_SERVERS}: {error.message}"]


def _keyed(settings: Settings, keys: Keys) -> tuple[Asked, ...]:
    """The providers that a key was found for."""
    return tuple(
        Asked(provider=known)
        for known in catalog.providers(settings.providers).values()
        if not known.local and any(keys.present(reference) for reference in known.keys)
    )


def _set_row(name: str, settings: Settings) -> ModelListed:
    """The row of the model that is set, where nothing that was asked lists it."""
    note = "it is set, and not among what answered"
    found = names.parse(name)
    match found:
        case Scripted():
            return ModelListed(name=name, provider=catalog.SCRIPTED, dialect="scripted", origin="scripted:")
        case AtUrl():
            known = catalog.at_url(found.url, settings.providers)
        case Named():
            known = catalog.providers(settings.providers).get(found.provider or "") or catalog.nobody(name)
    row = choosing.row(known, Offer(model=found.model), datetime.now(UTC))
    return msgspec.structs.replace(row, name=name, note=note)


def _down(known: Known, said: str) -> ProviderFailed:
    return ProviderFailed(
        "unreachable",
        said,
        hint=f"start it, or set providers.{known.name}.url; `forkwood models` lists what can be reached"
        if known.name != known.url
        else "check that it runs and its address is right; `forkwood models` lists what can be reached",
        provider=known.name,
        origin=known.url,
    )


def _no_key(known: Known) -> ProviderFailed:
    return ProviderFailed(
        "auth",
        f"There is no key for {known.name}",
        hint=f"`forkwood models key {known.name}` puts one away, or set {_variables(known)}",
        provider=known.name,
        keys=list(known.keys),
    )


def _variables(known: Known) -> str:
    return " or ".join(key.removeprefix("env:") for key in known.keys if key.startswith("env:")) or "one of its keys"


async def nobody_knows(name: str, settings: Settings, environ: Mapping[str, str]) -> NotFound:
    """Nobody knows NAME: what can be reached is listed, what sounds like it first."""
    found = [row.name for row in await reachable(msgspec.structs.replace(settings, model=None), environ)]
    bare = name.rpartition(":")[2].lower() if name.count(":") > 1 else name.lower()
    found.sort(key=lambda other: name.lower() not in other.lower() and bare not in other.lower())
    shown = ", ".join(found[:CANDIDATES_SHOWN_MAX]) or "nothing"
    more = f" and {len(found) - CANDIDATES_SHOWN_MAX} more" if len(found) > CANDIDATES_SHOWN_MAX else ""
    return NotFound(
        f"Nobody knows the model {name}",
        hint=f"what can be reached: {shown}{more}; a name is {names.FORMS}",
        name=name,
        candidates=found,
    )
