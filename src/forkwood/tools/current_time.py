"""current_time: what day and time it is for the person, with the distance to UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from forkwood.domain.message import ToolCall
from forkwood.domain.tool import Occasion, ToolOutcome, ToolSealed
from forkwood.tools.shapes import spec, told

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DESCRIPTION = (
    "The current date and time where the person is, with weekday and distance to UTC. Use it whenever an answer "
    "depends on today or now: you do not know the date otherwise."
)


class CurrentTime:
    """CLOCK gives Unix milliseconds; ZONE is the person's, by default that of this machine."""

    sealed = ToolSealed(spec=spec("current_time", _DESCRIPTION, {}), effect="read", after_crash="again")

    def __init__(self, clock: Callable[[], int], zone: tzinfo | None = None) -> None:
        self._clock = clock
        self._zone = zone

    async def use(self, call: ToolCall, at: Occasion) -> ToolOutcome:  # noqa: ARG002 - the protocol's
        """Now, to the second: in the person's zone, and in UTC."""
        there = datetime.fromtimestamp(self._clock() // 1000, UTC)
        here = there.astimezone(self._zone)
        return told(f"{_DAYS[here.weekday()]}, {here.isoformat(' ')} ({there:%Y-%m-%d %H:%M:%S} UTC)")

    async def inspect(self, call: ToolCall, at: Occasion) -> ToolOutcome | None:  # noqa: ARG002 - the protocol's
        """Looking at a clock leaves nothing."""
        return None
