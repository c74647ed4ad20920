"""A model as the floors above see it: what it can do, what it is sent and gives back, when a try is repeated."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from forkwood.domain import limits
from forkwood.domain.errors import FailureKind, ProviderFailed
from forkwood.domain.message import Part, PartialReason
from forkwood.domain.prompt import Prompt
from forkwood.domain.settings import Parameters

Dialect: TypeAlias = Literal["chat", "responses", "anthropic", "google", "ollama", "scripted"]


class Price(Struct, frozen=True, kw_only=True):
    """US dollars per million tokens; None where nobody knows."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


class Traits(Struct, frozen=True, kw_only=True):
    """What is known of a model. `context` is in tokens; None = unknown, never guessed."""

    context: int | None = None
    tools: bool | None = None
    images: bool | None = None
    thinking: bool | None = None
    price: Price | None = None


class Binding(Struct, frozen=True, kw_only=True):
    """Where a model is reached: no secret values, only the names under which they are found."""

    provider: str
    dialect: Dialect
    origin: str
    model: str
    credentials: tuple[str, ...] = ()


class ModelListed(Struct, frozen=True, kw_only=True):
    """One model that can be reached now: `name` is what `--model` takes."""

    name: str
    provider: str
    dialect: Dialect
    origin: str
    context: int | None = None
    tools: bool | None = None
    images: bool | None = None
    thinking: bool | None = None
    price: Price | None = None
    loaded: bool | None = None
    default: bool = False
    note: str | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of one reply or the sum of several. `input` includes what was read from and written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            reasoning=self.reasoning + other.reasoning,
        )


DeltaKind: TypeAlias = Literal["text", "thinking", "tool_call"]


class Delta(Struct, frozen=True, kw_only=True):
    """A scrap of a reply in flight: TEXT goes to the end of the reply's part number INDEX."""

    index: int
    kind: DeltaKind
    text: str


class Reply(Struct, frozen=True, kw_only=True):
    """What a model gave back. Whole when `partial` is None; otherwise why it is not, with the provider's words."""

    parts: tuple[Part, ...]
    usage: Usage | None = None
    finish: str | None = None
    partial: PartialReason | None = None
    error: str | None = None
    notices: tuple[str, ...] = ()
    """What a person should know: thinking without an answer, characters that had to be made storable."""


class Try(Struct, frozen=True, kw_only=True):
    """Which model call of a run this is: TURN counts the run's finished turns, NUMBER the tries of this one from 1."""

    turn: int
    number: int


class Model(Protocol):
    """One reachable model. Implementations live in `models/`; the engine is handed one as a value."""

    @property
    def name(self) -> str: ...

    @property
    def binding(self) -> Binding: ...

    @property
    def traits(self) -> Traits: ...

    @property
    def keys_left(self) -> int:
        """How many further credentials a refused call could be tried with."""
        ...

    def encode(self, prompt: Prompt, images: Mapping[str, bytes]) -> bytes:
        """The exact request body: a pure function of PROMPT and the bytes of its images by their SHA-256.

        Raises ProviderFailed("capability") for what this model cannot be sent.
        """
        ...

    def unsent(self, wanted: Parameters) -> tuple[str, ...]:
        """What a person should know of WANTED parameters that `encode` leaves out for this model, in words."""
        ...

    def stream(self, request: bytes, attempt: Try) -> AsyncIterator[Delta | Reply]:
        """Send REQUEST; yield deltas as they come and one Reply as the last item.

        Raises ProviderFailed only before the first delta; later failures end in a partial Reply. Closing the iterator
        closes the connection at once.
        """
        ...

    def next_key(self) -> bool:
        """Go over to the next credential; False when there is none."""
        ...


REPEATABLE: frozenset[FailureKind] = frozenset({"rate_limit", "overloaded", "unavailable", "timeout", "transport"})
NEXT_KEY_STATUS = frozenset({401, 403, 429})
FIRST_WAIT_SECONDS = 0.5


def wait_before(failure: ProviderFailed, number: int, chance: float) -> float | None:
    """Seconds to wait before try NUMBER + 1, or None when the failure is to be told instead.

    The provider's own Retry-After counts where it is within bounds; else half a second doubled with each try and
    jittered by CHANCE (0 to 1) to between half and whole.
    """
    if failure.reason not in REPEATABLE or number >= limits.tries_max:
        return None
    if failure.retry_after is not None:
        return failure.retry_after if failure.retry_after <= limits.retry_after_seconds_max else None
    return FIRST_WAIT_SECONDS * 2.0 ** (number - 1) * (0.5 + chance / 2)


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """US dollars for USAGE at PRICE; None where the price is unknown."""
    if price is None:
        return None
    plain = max(0, usage.input - usage.cache_read - usage.cache_write)
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    total = plain * price.input + usage.cache_read * read + usage.cache_write * write + usage.output * price.output
    return total / 1_000_000
