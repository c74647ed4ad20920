"""What becomes of a try that failed before its reply began: the same again after a wait, another key, or neither."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from forkwood.domain.errors import ProviderFailed
from forkwood.domain.model import NEXT_KEY_STATUS, Model, wait_before
from forkwood.engine.grip import Grip


class FailedTry(Struct, frozen=True, kw_only=True):
    """WAIT in seconds before the next try; None: none follows, it is to be told instead. With NEXT_KEY another key is
    used from now on. KEPT: its reason, message, hint and facts, without secrets."""

    wait: float | None
    next_key: bool
    kept: dict[str, Any]


def judged(grip: Grip, model: Model, failure: ProviderFailed, *, number: int, hint: str) -> FailedTry:
    """What FAILURE means for the run: NUMBER tries have been waited for by then, HINT says what works instead.

    Where a key is refused and there is another, MODEL takes that one.
    """
    refused = failure.facts.get("status") in NEXT_KEY_STATUS
    next_key = refused and model.keys_left > 0 and model.next_key()
    wait = 0.0 if next_key else wait_before(failure, number, grip.supplies.chance())
    facts = {key: value for key, value in failure.facts.items() if key != "reason"}
    kept = grip.mask.facts({"message": failure.message, "hint": hint, "facts": facts})
    return FailedTry(wait=wait, next_key=next_key, kept={"reason": failure.reason, **kept})
