"""What can go wrong, for the caller. Each error phrases itself, carries its facts, and names the way that works.

ForkwoodError
├── NotFound            a name that names nothing            (exit 3)
├── Conflict            the world is not as the command says (exit 4)
├── Refused             a rule of the house says no          (exit 4)
├── Misused             the words of the command are off     (exit 2)
├── LimitExceeded       something is larger than its bound   (exit 6)
├── ProviderFailed      a model could not be asked or failed (exit 1)
├── StoreUnusable       the store cannot be used             (exit 7)
└── Defect              the program itself made a mistake    (exit 1)
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from forkwood.domain import limits
from forkwood.domain.cutting import shortened


class ForkwoodError(Exception):
    """An error a caller can act on: MESSAGE says what happened, HINT what works instead, FACTS the values involved.

    None of them is longer than error_characters_max: what they repeat may be of any length.
    """

    kind: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "", **facts: Any) -> None:
        self.message, self.hint = _within(message), _within(hint)
        super().__init__(self.message)
        self.facts: dict[str, Any] = {
            name: _within(value) if isinstance(value, str) else value for name, value in facts.items()
        }


def _within(text: str) -> str:
    most = limits.error_characters_max
    return text if len(text) <= most else shortened(text, most - len(" … "))


class NotFound(ForkwoodError):
    """A name that names nothing, or more than one thing (its candidates are in the facts)."""

    kind = "not_found"


class Conflict(ForkwoodError):
    """The world is not as the command assumes: answered already, moved on, a key used with another body."""

    kind = "conflict"


class Refused(ForkwoodError):
    """A rule of the house says no."""

    kind = "refused"


class Misused(ForkwoodError):
    """The words of the command are off: an empty text, an unknown setting, a value of the wrong form."""

    kind = "usage"


class LimitExceeded(ForkwoodError):
    """Something is larger than its bound. Facts: `limit` (its name in limits), `bound`, `got`, and what else tells."""

    kind = "limit"

    def __init__(self, what: str, *, limit: str, bound: int, got: int, hint: str = "", **facts: Any) -> None:
        super().__init__(
            f"{what}: {got:,} is over the limit of {bound:,}", hint=hint, limit=limit, bound=bound, got=got, **facts
        )


FailureKind: TypeAlias = Literal[
    "auth",
    "rate_limit",
    "overloaded",
    "unavailable",
    "timeout",
    "transport",
    "context_overflow",
    "quota",
    "refused",
    "not_found",
    "invalid_request",
    "protocol",
    "capability",
    "unreachable",
]
"""How a provider failed. The first try may be repeated for: rate_limit, overloaded, unavailable, timeout, transport."""


class ProviderFailed(ForkwoodError):
    """A model could not be asked, or failed before its reply began. `retry_after`: seconds, as the provider said."""

    kind = "provider"

    def __init__(
        self, reason: FailureKind, message: str, *, hint: str = "", retry_after: float | None = None, **facts: Any
    ) -> None:
        super().__init__(message, hint=hint, reason=reason, **facts)
        self.reason: FailureKind = reason
        self.retry_after = retry_after


class StoreUnusable(ForkwoodError):
    """The store cannot be used: newer, foreign, empty, corrupt, on a network file system, read-only, full."""

    kind = "store"


class Defect(ForkwoodError):
    """The program itself made a mistake: WHAT it was, and WHERE it came up, for whoever mends it."""

    kind = "defect"

    def __init__(self, what: str, *, where: str) -> None:
        super().__init__(
            f"Forkwood made a mistake ({what})",
            hint="this is a defect of the program: please report it with these words; nothing that was kept is lost",
            where=where,
        )
