"""The providers Forkwood knows, as data: address, dialect, where their keys are usually found, what is particular.

Settings extend and override them: a provider is one entry here, or one `[providers.NAME]` of `config.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from forkwood.domain.model import Dialect
from forkwood.domain.settings import Provider
from forkwood.models import keys, names
from forkwood.models.quirks import Quirks

Kind: TypeAlias = Literal["openai", "anthropic", "google", "ollama", "llamacpp", "lmstudio", "vllm"]
"""How a server is asked for its models; `openai` is what every compatible server answers."""

SCRIPTED = "scripted"
COMPATIBLE = "/v1"
"""Where a local server's compatible routes begin, beside its own."""


class Some(Struct, frozen=True, kw_only=True):
    """The QUIRKS of some models, by PATTERNS of their bare names in lower case."""

    patterns: tuple[str, ...]
    quirks: Quirks


class Known(Struct, frozen=True, kw_only=True):
    """A provider. `url` is where its dialect's paths begin; `keys` are references, tried in their order.

    `preferred` are patterns of names: with nothing set, the newest model its list offers under the first that fits.
    `quirks` are those of its models, but for the first of `some` that fits one; what a person set comes over both.
    """

    name: str
    url: str
    dialect: Dialect
    kind: Kind
    keys: tuple[str, ...] = ()
    quirks: Quirks = Quirks()
    some: tuple[Some, ...] = ()
    by_person: dict[str, Any] = {}
    local: bool = False
    preferred: tuple[str, ...] = ()


# Which form a model wants follows from its name alone. The lists are of old models: they are closed, and what comes
# out next year is spoken to in the form that the newest have now.
_OPENAI = Quirks(output_limit_field="max_completion_tokens", system_role="developer")
_OPENAI_WITHOUT_REASONING = ("gpt-3*", "gpt-4*", "chatgpt-*", "ft:gpt-[34]*", "gpt-*-chat*")
_CLAUDE_BY_BUDGET = (
    "claude-[0-3]*",
    "claude-instant*",
    *(
        f"claude-{family}-4{rest}"
        for family in ("opus", "sonnet", "haiku")
        for rest in ("", "-[0-5]", "-[0-5]-*", "-2*")
    ),
)
_GEMINI_BY_BUDGET = ("gemini-[12].*", "gemini-robotics-er-1.*")
_GROK_WITHOUT_EFFORT = (
    "grok-[23]",
    "grok-[23]-[!m]*",
    "grok-4-[01f]*",
    "grok-4.20-[0-9]*",
    "grok-code*",
    "grok-build*",
)

CLOUD: tuple[Known, ...] = (
    Known(
        name="openai",
        url="https://api.openai.com/v1",
        # Responses here, for it alone gives reasoning back to be replayed across tool calls; chat for every other
        # server, for that is the route they copy. The fields of chat are for who sets `dialect = "chat"`.
        dialect="responses",
        kind="openai",
        keys=("env:OPENAI_API_KEY",),
        quirks=_OPENAI,
        some=(
            Some(
                patterns=_OPENAI_WITHOUT_REASONING, quirks=msgspec.structs.replace(_OPENAI, encrypted_reasoning=False)
            ),
        ),
        preferred=("gpt-[0-9].[0-9]-terra", "gpt-[0-9].[0-9]", "gpt-[0-9]", "gpt-[0-9]*"),
    ),
    Known(
        name="anthropic",
        url="https://api.anthropic.com/v1",
        dialect="anthropic",
        kind="anthropic",
        keys=("env:ANTHROPIC_API_KEY",),
        some=(
            Some(patterns=_CLAUDE_BY_BUDGET, quirks=Quirks()),
            Some(patterns=("claude-*",), quirks=Quirks(effort_style="level")),
        ),
        preferred=("claude-sonnet-*", "claude-*"),
    ),
    Known(
        name="google",
        url="https://generativelanguage.googleapis.com/v1beta",
        dialect="google",
        kind="google",
        keys=("env:GEMINI_API_KEY", "env:GOOGLE_API_KEY"),
        some=(
            Some(patterns=_GEMINI_BY_BUDGET, quirks=Quirks()),
            Some(patterns=("gemini-*",), quirks=Quirks(effort_style="level", signed_calls=True)),
        ),
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
        quirks=Quirks(stream_usage=False, call_ids="nine", seed_field="random_seed", effort_field=None),
        preferred=("mistral-medium-latest", "mistral-large-latest", "mistral-*"),
    ),
    Known(
        name="deepseek",
        url="https://api.deepseek.com/v1",
        dialect="chat",
        kind="openai",
        keys=("env:DEEPSEEK_API_KEY",),
        # It thinks by default, and refuses a reply that called tools without the thinking before it.
        quirks=Quirks(seed_field=None, thinking_field="reasoning_content"),
        preferred=("deepseek-chat", "deepseek-*"),
    ),
    Known(
        name="xai",
        url="https://api.x.ai/v1",
        dialect="chat",
        kind="openai",
        keys=("env:XAI_API_KEY",),
        some=(Some(patterns=_GROK_WITHOUT_EFFORT, quirks=Quirks(effort_field=None)),),
        preferred=("grok-[0-9].[0-9]", "grok-[0-9]*"),
    ),
)

LOCAL: tuple[Known, ...] = (
    # Its own route, for the compatible one takes no context length and cuts long prompts in front, in silence.
    Known(name="ollama", url="http://127.0.0.1:11434", dialect="ollama", kind="ollama", local=True),
    Known(
        name="llamacpp",
        url="http://127.0.0.1:8080/v1",
        dialect="chat",
        kind="llamacpp",
        local=True,
        # The template of the model says what becomes of it; one that knows no effort leaves it.
        quirks=Quirks(effort_field="chat_template_kwargs.reasoning_effort"),
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
_BY_DIALECT: dict[Dialect, Known] = {known.dialect: known for known in (*CLOUD, *LOCAL) if known.dialect != "chat"}
_SETTABLE = ("think_tags", "thoughts", "extra_body")
"""Quirks that `[providers.NAME]` sets as they stand."""


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


def quirks_of(known: Known, model: str) -> Quirks:
    """What is particular about MODEL of KNOWN."""
    bare = model.rpartition("/")[2].lower()
    fitting = (some.quirks for some in known.some if any(fnmatchcase(bare, pattern) for pattern in some.patterns))
    return msgspec.structs.replace(next(fitting, known.quirks), **known.by_person)


def at_url(url: str, settings: Mapping[str, Provider]) -> Known:
    """The compatible server at URL, with the keys and quirks of the provider that is known at that very address."""
    url = names.url_of(url)
    plain = Known(name=url, url=url, dialect="chat", kind="openai", local=names.is_loopback(url))
    like = next((known for known in providers(settings).values() if url in {known.url, compatible(known).url}), plain)
    return msgspec.structs.replace(plain, keys=like.keys, quirks=like.quirks, some=like.some, by_person=like.by_person)


def nobody(name: str) -> Known:
    """Stands for the provider of a model that is set and that nothing leads to."""
    return Known(name=name.partition(":")[0], url="", dialect="chat", kind="openai", local=True)


def native(known: Known) -> Known:
    """KNOWN as Ollama is spoken to on its own routes, which begin at the server's root."""
    return _moved(known, known.url.removesuffix(COMPATIBLE), "ollama")


def compatible(known: Known) -> Known:
    """KNOWN, where it is spoken to on Ollama's own routes, as one more compatible server; any other as it is."""
    return _moved(known, f"{known.url}{COMPATIBLE}", "chat") if known.dialect == "ollama" else known


def of_kind(known: Known, kind: Kind) -> Known:
    """KNOWN, now that its server has shown of which KIND it is: that kind's quirks come with it.

    A server that was taken for Ollama and is none is a compatible one.
    """
    like = _BY_KIND.get(kind)
    known = known if kind == "ollama" else compatible(known)
    quirks = like.quirks if like and known.quirks == Quirks() else known.quirks
    return msgspec.structs.replace(known, kind=kind, quirks=quirks)


def _overridden(known: Known, provider: Provider | None) -> Known:
    if provider is None:
        return known
    known = compatible(known) if provider.dialect == "chat" else known
    dialect = provider.dialect or known.dialect
    url = known.url if provider.url is None else _address(provider.url, dialect)
    return msgspec.structs.replace(
        known,
        url=url,
        dialect=dialect,
        # What the environment holds was given for the usual address: another one gets the keys that are named for it.
        keys=_unique(provider.keys, known.keys if url == known.url else ()),
        by_person=_by_person(provider),
        local=names.is_loopback(url),
    )


def _added(name: str, url: str, provider: Provider) -> Known:
    dialect = provider.dialect or "chat"
    like = _BY_DIALECT.get(dialect)
    return Known(
        name=name,
        url=_address(url, dialect),
        dialect=dialect,
        kind=like.kind if like else "openai",
        keys=provider.keys,
        quirks=like.quirks if like else Quirks(),
        some=like.some if like else (),
        by_person=_by_person(provider),
        local=names.is_loopback(url),
    )


def _by_person(provider: Provider) -> dict[str, Any]:
    """The quirks that PROVIDER, as a person wrote it, sets. Raises Misused for a header that cannot be sent."""
    found = {name: getattr(provider, name) for name in _SETTABLE}
    found["extra_headers"] = dict(keys.header(name, value) for name, value in provider.extra_headers.items())
    return {name: value for name, value in found.items() if value is not None and value != {}}


def _address(text: str, dialect: Dialect) -> str:
    """The address TEXT names; Ollama's is often written with the compatible routes behind it."""
    url = names.url_of(text)
    return url.removesuffix(COMPATIBLE) if dialect == "ollama" else url


def _moved(known: Known, url: str, dialect: Dialect) -> Known:
    name = url if known.name == known.url else known.name
    return msgspec.structs.replace(known, name=name, url=url, dialect=dialect)


def _unique(first: tuple[str, ...], then: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *then)))
