"""The providers Forkwood knows, as data: address, dialect, where their keys are usually found, what is particular.

Settings extend and override them: a provider is one entry here, or one `[providers.NAME]` of `config.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from forkwood.domain.model import Dialect
from forkwood.domain.settings import Provider
from forkwood.models import names
from forkwood.models.quirks import Quirks

Kind: TypeAlias = Literal["openai", "anthropic", "google", "ollama", "llamacpp", "lmstudio", "vllm"]
"""How a server is asked for its models; `openai` is what every compatible server answers."""

SCRIPTED = "scripted"


class Known(Struct, frozen=True, kw_only=True):
    """A provider. `url` is where its dialect's paths begin; `keys` are references, tried in their order.

    `preferred` are patterns of names: with nothing set, the newest model its list offers under the first that fits.
    """

    name: str
    url: str
    dialect: Dialect
    kind: Kind
    keys: tuple[str, ...] = ()
    quirks: Quirks = Quirks()
    local: bool = False
    preferred: tuple[str, ...] = ()


CLOUD: tuple[Known, ...] = (
    Known(
        name="openai",
        url="https://api.openai.com/v1",
        # Responses here, for it alone gives reasoning back to be replayed across tool calls; chat for every other
        # server, for that is the route they copy. The quirks are for who sets `dialect = "chat"`.
        dialect="responses",
        kind="openai",
        keys=("env:OPENAI_API_KEY",),
        quirks=Quirks(output_limit_field="max_completion_tokens", system_role="developer"),
        preferred=("gpt-[0-9].[0-9]-terra", "gpt-[0-9].[0-9]", "gpt-[0-9]", "gpt-[0-9]*"),
    ),
    Known(
        name="anthropic",
        url="https://api.anthropic.com/v1",
        dialect="anthropic",
        kind="anthropic",
        keys=("env:ANTHROPIC_API_KEY",),
        preferred=("claude-sonnet-*", "claude-*"),
    ),
    Known(
        name="google",
        url="https://generativelanguage.googleapis.com/v1beta",
        dialect="google",
        kind="google",
        keys=("env:GEMINI_API_KEY", "env:GOOGLE_API_KEY"),
        preferred=("gemini-[0-9].[0-9]-flash", "gemini-*-flash", "gemini-*"),
    ),
    Known(
        name="openrouter",
        url="https://openrouter.ai/api/v1",
        dialect="chat",
        kind="openai",
        keys=("env:OPENROUTER_API_KEY",),
        quirks=Quirks(effort_field="reasoning.effort"),
        preferred=("openrouter/auto",),
    ),
    Known(
        name="groq",
        url="https://api.groq.com/openai/v1",
        dialect="chat",
        kind="openai",
        keys=("env:GROQ_API_KEY",),
        quirks=Quirks(output_limit_field="max_completion_tokens"),
        preferred=("openai/gpt-oss-120b", "llama-*-versatile", "qwen/*", "llama*"),
    ),
    Known(
        name="mistral",
        url="https://api.mistral.ai/v1",
        dialect="chat",
        kind="openai",
        keys=("env:MISTRAL_API_KEY",),
        # It refuses fields it does not know, sends usage unasked, and takes no other ids of calls.
        quirks=Quirks(stream_usage=False, call_ids="nine", effort_field=None),
        preferred=("mistral-medium-latest", "mistral-large-latest", "mistral-*"),
    ),
    Known(
        name="deepseek",
        url="https://api.deepseek.com/v1",
        dialect="chat",
        kind="openai",
        keys=("env:DEEPSEEK_API_KEY",),
        preferred=("deepseek-chat", "deepseek-*"),
    ),
    Known(
        name="xai",
        url="https://api.x.ai/v1",
        dialect="chat",
        kind="openai",
        keys=("env:XAI_API_KEY",),
        preferred=("grok-[0-9].[0-9]", "grok-[0-9]*"),
    ),
)

LOCAL: tuple[Known, ...] = (
    Known(name="ollama", url="http://127.0.0.1:11434/v1", dialect="chat", kind="ollama", local=True),
    Known(
        name="llamacpp",
        url="http://127.0.0.1:8080/v1",
        dialect="chat",
        kind="llamacpp",
        local=True,
        quirks=Quirks(effort_field=None),
    ),
    Known(
        name="lmstudio",
        url="http://127.0.0.1:1234/v1",
        dialect="chat",
        kind="lmstudio",
        local=True,
    ),
    Known(name="vllm", url="http://127.0.0.1:8000/v1", dialect="chat", kind="vllm", local=True),
)
"""Servers of this machine, in the order in which a default is looked for."""

_BY_KIND = {known.kind: known for known in LOCAL}


def providers(settings: Mapping[str, Provider]) -> dict[str, Known]:
    """Every provider by its name: the known ones as SETTINGS change them, then those SETTINGS add.

    One that SETTINGS add without an address is left out: `without_address` names it.
    """
    known = {entry.name: _overridden(entry, settings.get(entry.name)) for entry in (*CLOUD, *LOCAL)}
    added = {
        name: _added(name, provider.url, provider)
        for name, provider in settings.items()
        if name not in known and provider.url is not None
    }
    return {**known, **added}


def without_address(settings: Mapping[str, Provider]) -> tuple[str, ...]:
    """The names SETTINGS add that nothing can be sent to, for their address is missing."""
    known = {entry.name for entry in (*CLOUD, *LOCAL)}
    return tuple(name for name, provider in settings.items() if name not in known and provider.url is None)


def at_url(url: str, settings: Mapping[str, Provider]) -> Known:
    """The compatible server at URL, with the keys and quirks of the provider that is known at that very address."""
    url = names.url_of(url)
    plain = Known(name=url, url=url, dialect="chat", kind="openai", local=names.is_loopback(url))
    like = next((known for known in providers(settings).values() if known.url == url), plain)
    return msgspec.structs.replace(plain, keys=like.keys, quirks=like.quirks)


def nobody(name: str) -> Known:
    """Stands for the provider of a model that is set and that nothing leads to."""
    return Known(name=name.partition(":")[0], url="", dialect="chat", kind="openai", local=True)


def of_kind(known: Known, kind: Kind) -> Known:
    """KNOWN, now that its server has shown of which KIND it is: that kind's quirks come with it."""
    like = _BY_KIND.get(kind)
    quirks = like.quirks if like and known.quirks == Quirks() else known.quirks
    return msgspec.structs.replace(known, kind=kind, quirks=quirks)


def _overridden(known: Known, provider: Provider | None) -> Known:
    if provider is None:
        return known
    url = known.url if provider.url is None else names.url_of(provider.url)
    return msgspec.structs.replace(
        known,
        url=url,
        dialect=provider.dialect or known.dialect,
        # What the environment holds was given for the usual address: another one gets the keys that are named for it.
        keys=_unique(provider.keys, known.keys if url == known.url else ()),
        local=names.is_loopback(url),
    )


def _added(name: str, url: str, provider: Provider) -> Known:
    dialect = provider.dialect or "chat"
    kinds: dict[Dialect, Kind] = {"anthropic": "anthropic", "google": "google"}
    return Known(
        name=name,
        url=names.url_of(url),
        dialect=dialect,
        kind=kinds.get(dialect, "openai"),
        keys=provider.keys,
        local=names.is_loopback(url),
    )


def _unique(first: tuple[str, ...], then: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *then)))
