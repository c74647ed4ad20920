"""Leaving an asynchronous generator: it is closed, also where the loop that is being torn down closes it as well.

Whoever wants a model's reply and shows nothing of it while it comes hears it out here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Generic, TypeVar, cast

from forkwood.domain.model import Delta, Reply

T = TypeVar("T")


class Leaving(Generic[T]):
    """`async with Leaving(items) as coming:` hears ITEMS and closes it at the end, however the body is left."""

    def __init__(self, items: AsyncGenerator[T]) -> None:
        self._items = items

    async def __aenter__(self) -> AsyncGenerator[T]:
        return self._items

    async def __aexit__(self, *_: object) -> None:
        try:
            await self._items.aclose()
        except RuntimeError:
            if not self._items.ag_running:  # type: ignore[attr-defined]
                raise
            # A loop at its end closes every generator at once, inner and outer: this one is being closed already.


async def heard(stream: AsyncIterator[Delta | Reply]) -> Reply:
    """The reply that STREAM ends with; leaving it in any way closes its connection. Deltas are shown to nobody."""
    async with Leaving(cast("AsyncGenerator[Delta | Reply]", stream)) as coming:
        async for item in coming:
            if isinstance(item, Reply):
                return item
    return Reply(parts=(), partial="cut", error="the stream ended without its end")
