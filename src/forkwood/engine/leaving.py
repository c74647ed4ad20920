"""Leaving an asynchronous generator: it is closed, also where the loop that is being torn down closes it as well."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Generic, TypeVar

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
