"""What a person may set: for the whole program (`config.toml` and the environment) and for one model call."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from forkwood.domain import limits

Effort: TypeAlias = Literal["minimal", "low", "medium", "high"]
Approvals: TypeAlias = Literal["ask", "allow-edits", "allow-all"]


class Parameters(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a model is to answer; what is None is never sent. `max_output` and `context` are in tokens."""

    temperature: float | None = None
    top_p: float | None = None
    max_output: int | None = None
    seed: int | None = None
    effort: Effort | None = None
    context: int | None = None


class Profile(Struct, frozen=True, kw_only=True):
    """A named choice of model, system prompt, parameters and tool switches, from `[profiles.NAME]` of `config.toml`."""

    model: str | None = None
    system: str | None = None
    params: Parameters = Parameters()
    tools_off: tuple[str, ...] = ()


class Provider(Struct, frozen=True, kw_only=True):
    """A provider from `[providers.NAME]`: its URL and dialect where it is no known one, and where its keys are found.

    `keys` are references: `env:NAME`, `keyring:NAME`, `file:PATH` (mode 600). Values never stand here. The others say
    what is particular about its server, over what is known of it: see `models/quirks.py`.
    """

    url: str | None = None
    dialect: Literal["chat", "responses", "anthropic", "google", "ollama"] | None = None
    keys: tuple[str, ...] = ()
    think_tags: Literal["leading", "opened", "none"] | None = None
    thoughts: bool | None = None
    extra_body: dict[str, Any] = {}
    extra_headers: dict[str, str] = {}


class Timeouts(Struct, frozen=True, kw_only=True):
    """Seconds. A local server may take longer to its first byte: it loads the model then."""

    connect: float = limits.connect_seconds
    first_byte: float = limits.first_byte_seconds
    first_byte_local: float = limits.first_byte_local_seconds
    stall: float = limits.stall_seconds


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that is set outside the store. `home` is an absolute path; `environment` names what was present."""

    home: str
    client: str = "cli"
    model: str | None = None
    system: str | None = None
    title_by_model: bool = False
    rounds: Annotated[int, Meta(ge=1, lt=limits.turns_max)] = limits.rounds_max
    """Turns of a run that may call tools; after them one more is asked for in words alone."""
    deny: tuple[str, ...] = ()
    """Tools that never run, whatever a conversation allows or a person has granted."""
    approval_expiry_seconds: Annotated[float, Meta(gt=0, le=limits.approval_expiry_seconds_max)] | None = None
    """An approval that nobody answers for so long counts as denied; None: it waits for ever."""
    profiles: dict[str, Profile] = {}
    providers: dict[str, Provider] = {}
    timeouts: Timeouts = Timeouts()
