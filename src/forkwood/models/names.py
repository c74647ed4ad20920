"""Model names as people write them, taken apart: `PROVIDER:NAME`, `http://host:port/v1#NAME`, `scripted:FILE`."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import LimitExceeded, Misused

FORMS = "PROVIDER:NAME (ollama:qwen3:8b, openai:…, embedded:smollm2), http://host:port/v1#NAME, or scripted:FILE"

_PROVIDER = re.compile(r"[a-z0-9][a-z0-9_.-]*\Z")
_LOOPBACK = re.compile(r"(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)\Z")


class Named(Struct, frozen=True, kw_only=True):
    """A model of a provider; `provider` is None where only a bare name was given, which nobody can be asked for."""

    provider: str | None
    model: str


class AtUrl(Struct, frozen=True, kw_only=True):
    """A model of the OpenAI-compatible server at `url` (no trailing slash)."""

    url: str
    model: str


class Scripted(Struct, frozen=True, kw_only=True):
    """Replies played from a JSON file."""

    path: str


ModelName: TypeAlias = Named | AtUrl | Scripted


def parse(name: str) -> ModelName:
    """What NAME names. Raises Misused for what has none of the forms, LimitExceeded for more than a name may hold."""
    name = _within(name.strip())
    if name[:7].lower() == "http://" or name[:8].lower() == "https://":
        return _at_url(name)
    provider, colon, model = name.partition(":")
    if not colon:
        return Named(provider=None, model=name)
    if not model:
        raise Misused(f"{name!r} names no model after the colon", hint=f"write {FORMS}", name=name)
    if provider.lower() == "scripted":
        return Scripted(path=model)
    return Named(provider=provider_name(provider), model=model)


def spell(name: ModelName) -> str:
    """The text that `parse` reads as NAME."""
    match name:
        case Named(provider=None):
            return name.model
        case Named():
            return f"{name.provider}:{name.model}"
        case AtUrl():
            return f"{name.url}#{name.model}"
        case Scripted():
            return f"scripted:{name.path}"


def settled(name: str, directory: str) -> str:
    """NAME so that it means the same from anywhere: a script's path is made absolute from DIRECTORY."""
    match parse(name):
        case Scripted() as script:
            return spell(Scripted(path=str(PurePath(directory) / script.path)))
        case found:
            return spell(found)


def provider_name(text: str) -> str:
    """TEXT in lower case as the name of a provider. Raises Misused where it cannot be one."""
    name = text.lower()
    if not _PROVIDER.match(name):
        raise Misused(f"{text!r} cannot name a provider", hint=f"write {FORMS}", name=text)
    return name


def url_of(text: str) -> str:
    """TEXT as the address of a server, without trailing slash. Raises Misused for what is none, or carries secrets."""
    try:
        parts = urlsplit(text)
        port_wrong = parts.port == 0
    except ValueError:
        raise Misused(f"{text!r} is no address of a server", hint="write http://host:port/v1", url=text) from None
    if parts.username is not None or parts.password is not None:
        raise Misused(
            f"The address of {parts.hostname} holds a user or password",
            hint='keys are named, not written into addresses: `[providers.NAME] keys = ["env:NAME"]` in config.toml',
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname or port_wrong or parts.query or parts.fragment:
        raise Misused(f"{text!r} is no address of a server", hint="write http://host:port/v1", url=text)
    return _joined(parts)


def is_loopback(url: str) -> bool:
    """Whether URL points to this machine: no proxy is asked for it, and it may take its time to load a model."""
    return bool(_LOOPBACK.match(urlsplit(url).hostname or ""))


def _within(name: str) -> str:
    if not name:
        raise Misused("The name of the model is empty", hint=f"write {FORMS}")
    if len(name) > limits.model_name_characters_max:
        raise LimitExceeded(
            "The name of a model, in characters",
            limit="model_name_characters_max",
            bound=limits.model_name_characters_max,
            got=len(name),
            hint=f"write {FORMS}",
        )
    if not name.isprintable():
        raise Misused(f"{name!r} holds characters that no model's name has", hint=f"write {FORMS}", name=name)
    return name


def _at_url(name: str) -> AtUrl:
    address, _, model = name.partition("#")
    url = url_of(address)
    if not model:
        raise Misused(
            f"{url} names a server and no model", hint=f"put the model's name behind a #: '{url}#NAME'", url=url
        )
    return AtUrl(url=url, model=model)


def _joined(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
